// Package scores has the map M from the columns z = Wᵀ x of a row to its class scores s = M z, a class tree. It works
// in place on the stored scores of a row; models keep a prefix of these, the outputs.
package scores

import (
	"slices"

	"github.com/fewlabel/fewlabel/engine/fault"
)

// Tree is a class tree as a map from node scores to class scores.
//
//	Problem  classes are the leaves of a tree; every node has weights, and the score of a class is the sum of the
//	         scores of the nodes on its path: classes under one node share what is common to them
//	Symbols  N nodes, the K classes first; s_y = Σ_{v on the path of y} z_v
//	Source   Keerthi, Sundararajan & Shevade 2012, section on hierarchical classification (weights of a node for
//	         every class in the tree, scores added along the path)
//	Cost     one addition a node and row
//
// A node above all others is left out, as it adds the same to every class. For a tree of classes only s = z.
type Tree struct {
	classes int
	parent  []int     // [nodes] -1 at the top
	order   []int     // nodes, parents before children
	down    []int     // of these the nodes with a parent
	slope   []float64 // [nodes] of Split: 1, for inner nodes B / (1 + B) with B the sum over the children
}

// NewTree makes a tree from the parent of every node, -1 at the top; the classes are the nodes 0 ... classes-1.
func NewTree(classes int, parents []int) (*Tree, error) {
	if len(parents) < classes {
		return nil, fault.Argument("hierarchy has %d nodes, but there are %d classes", len(parents), classes)
	}
	for v, p := range parents {
		switch {
		case p < -1 || p >= len(parents):
			return nil, fault.Argument("hierarchy: node %d has the parent %d, which is not a node", v, p)
		case p >= 0 && p < classes:
			return nil, fault.Argument("hierarchy: class %d is the parent of node %d, but a class must be a leaf", p, v)
		}
	}
	t := &Tree{classes: classes, parent: withoutTop(classes, parents)}
	placed := make([]bool, len(t.parent))
	for v := range t.parent {
		if err := t.place(v, placed); err != nil {
			return nil, err
		}
	}
	t.down = slices.DeleteFunc(slices.Clone(t.order), func(v int) bool { return t.parent[v] < 0 })
	t.slope = slices.Repeat([]float64{1}, len(t.parent))
	clear(t.slope[classes:])
	t.sumUp(t.slope, func(v int) { t.slope[v] /= 1 + t.slope[v] })
	if v := slices.Index(t.slope, 0); v >= 0 {
		return nil, fault.Argument("hierarchy: node %d has no class below it", v)
	}
	return t, nil
}

// Flat is the tree of classes only.
func Flat(classes int) *Tree {
	return &Tree{classes: classes, parent: slices.Repeat([]int{-1}, classes)}
}

// Pair is two classes with one column z, the decision: their scores are -z and z.
func Pair() *Tree { return &Tree{classes: 2, parent: []int{-1}} }

// withoutTop is the tree without a node that is above all others.
func withoutTop(classes int, parents []int) []int {
	parents = slices.Clone(parents)
	top := slices.Index(parents, -1)
	if top < classes || slices.Contains(parents[top+1:], -1) {
		return parents
	}
	for v, p := range parents {
		switch {
		case p == top:
			parents[v] = -1
		case p > top:
			parents[v] = p - 1
		}
	}
	return slices.Delete(parents, top, top+1)
}

// place puts a node and those above it into the order, each once.
func (t *Tree) place(v int, placed []bool) error {
	var path []int
	for u := v; u >= 0 && !placed[u]; u = t.parent[u] {
		if len(path) > len(t.parent) {
			return fault.Argument("hierarchy: node %d is its own ancestor", v)
		}
		path = append(path, u)
	}
	for _, u := range slices.Backward(path) {
		placed[u] = true
		t.order = append(t.order, u)
	}
	return nil
}

func (t *Tree) Classes() int { return t.classes }

func (t *Tree) Columns() int { return len(t.parent) }

// Outputs is the number of entries of a stored row that determine the class scores, the first ones.
func (t *Tree) Outputs() int { return min(t.classes, len(t.parent)) }

// Flat reports whether the outputs are the columns.
func (t *Tree) Flat() bool { return len(t.parent) <= t.classes }

// Depth is the number of nodes on the path to a class, itself included.
func (t *Tree) Depth(class int) float64 {
	depth := 0.0
	for v := class; v >= 0; v = t.parent[v] {
		depth++
	}
	return depth
}

// Down turns node scores [nodes] into stored scores: those of the paths, classes first, in place.
func (t *Tree) Down(scores []float64) {
	for _, v := range t.down {
		scores[v] += scores[t.parent[v]]
	}
}

// Up turns values of the classes into sums over the classes below each node, in place: the transpose of Down.
func (t *Tree) Up(values []float64) {
	for _, v := range slices.Backward(t.down) {
		values[t.parent[v]] += values[v]
	}
}

// ClassScores puts the class scores [K] of a stored row into dst.
func (t *Tree) ClassScores(dst, stored []float64) {
	if copy(dst, stored[:t.Outputs()]); t.Columns() < t.classes {
		dst[0], dst[1] = -stored[0], stored[0]
	}
}

// Split puts into nodes [nodes] the scores of smallest norm whose paths add up to the class scores [classes]: the nodes
// of a minimum of α/2 |w|² plus losses, if the class scores come from one.
//
// At the smallest norm an inner node has the sum of the scores of its children. With the sum s of the path above it, a
// node's score is therefore sum - slope s: for a class its score and 1, for inner nodes from the children.
func (t *Tree) Split(nodes, scores []float64) {
	clear(nodes)
	copy(nodes, scores)
	t.sumUp(nodes, func(v int) { nodes[v] *= 1 - t.slope[v] })
	for _, v := range t.down { // scores of paths
		nodes[v] += (1 - t.slope[v]) * nodes[t.parent[v]]
	}
	for _, v := range slices.Backward(t.down) {
		nodes[v] -= nodes[t.parent[v]]
	}
}

// sumUp adds to every inner node the values of its children, and then changes it.
func (t *Tree) sumUp(values []float64, change func(node int)) {
	for _, v := range slices.Backward(t.order) {
		if v >= t.classes {
			change(v)
		}
		if p := t.parent[v]; p >= 0 {
			values[p] += values[v]
		}
	}
}
