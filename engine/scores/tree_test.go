package scores

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// two classes under one group, a third beside it: nodes 0, 1, 2 (classes), 3 (group), 4 (top)
var example = []int{3, 3, 4, 4, -1}

func TestDownAddsAlongThePath(t *testing.T) {
	tree, err := NewTree(3, example)
	if err != nil {
		t.Fatal(err)
	}
	scores := []float64{1, 2, 3, 10}
	tree.Down(scores)
	if tree.Columns() != 4 || tree.Flat() || !slices.Equal(scores, []float64{11, 12, 3, 10}) {
		t.Errorf("%d nodes, scores %v", tree.Columns(), scores)
	}
}

func TestUpIsTheTransposeOfDown(t *testing.T) {
	parents := []int{5, 5, 6, 6, 7, 7, 8, 8, -1} // deeper: 5 and 7 ... under 8
	parents[6] = 7
	tree, err := NewTree(5, parents)
	if err != nil {
		t.Fatal(err)
	}
	n := tree.Columns()
	for v := range n {
		down := make([]float64, n)
		down[v] = 1
		tree.Down(down)
		for y := range 5 {
			up := make([]float64, n)
			up[y] = 1
			tree.Up(up)
			if up[v] != down[y] {
				t.Errorf("node %d, class %d: down %v, up %v", v, y, down[y], up[v])
			}
		}
	}
}

func TestAFlatTreeHasNoInnerNodes(t *testing.T) {
	for _, parents := range [][]int{{-1, -1, -1}, {3, 3, 3, -1}} {
		tree, err := NewTree(3, parents)
		if err != nil || !tree.Flat() {
			t.Errorf("%v: %v, %v", parents, tree, err)
		}
	}
}

func TestBrokenTreesAreRefused(t *testing.T) {
	for _, c := range []struct {
		parents []int
		says    string
	}{
		{[]int{-1}, "1 nodes"},
		{[]int{7, -1}, "not a node"},
		{[]int{-2, -1}, "not a node"},
		{[]int{1, -1, -1}, "must be a leaf"},
		{[]int{2, 2, 3, 2, -1}, "its own ancestor"},
		{[]int{-1, -1, -1}, "no class below"},
	} {
		if _, err := NewTree(2, c.parents); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v", c.parents, err)
		}
	}
}

// The nodes that Split finds have the class scores and the smallest norm: they are a combination of the paths, which is
// what stands at right angles to every change that leaves the class scores alone.
func TestSplitHasTheSmallestNorm(t *testing.T) {
	for name, parents := range map[string][]int{
		"flat":   {-1, -1, -1},
		"groups": {5, 5, 6, 6, -1, -1, -1},
		"uneven": {4, 5, 5, -1, -1, 4},
		"chain":  {2, -1, 3, -1},
	} {
		classes := map[string]int{"flat": 3, "groups": 5, "uneven": 4, "chain": 2}[name]
		tree, err := NewTree(classes, parents)
		if err != nil {
			t.Fatal(err)
		}
		scores, nodes := make([]float64, classes), make([]float64, tree.Columns())
		for y := range scores {
			scores[y] = math.Sin(float64(3*y + 1))
		}
		tree.Split(nodes, scores)
		down := slices.Clone(nodes)
		tree.Down(down)
		combined := make([]float64, tree.Columns()) // the classes' own scores, summed up the paths
		copy(combined, nodes[:classes])
		tree.Up(combined)
		for v := range nodes {
			if v < classes && math.Abs(down[v]-scores[v]) > 1e-14 {
				t.Errorf("%s: class %d gets %v instead of %v", name, v, down[v], scores[v])
			}
			if math.Abs(combined[v]-nodes[v]) > 1e-14 {
				t.Errorf("%s: node %d has %v, the classes below it %v", name, v, nodes[v], combined[v])
			}
		}
	}
}
