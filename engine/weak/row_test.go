package weak

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/fewlabel/fewlabel/engine/memory"
)

func TestInformationRunsFromNothingToALabel(t *testing.T) {
	for _, c := range []struct {
		class []int32
		p     []float64
		want  float64
	}{
		{nil, nil, 0},
		{[]int32{0, 1, 2, 3}, []float64{1, 1, 1, 1}, 0},
		{[]int32{1, 0}, nil, 0.5},
		{[]int32{0, 1, 3}, []float64{2, 2, 2}, 1 - math.Log(3)/math.Log(4)},
		{[]int32{2, 1, 0, 3}, []float64{1e-9, 0.9, 0.1, 1e-9}, 0.8 * 0.8 * 0.8},
		{[]int32{0, 1, 2}, []float64{0.25, 0.5, 0.25}, 1 - math.Log(3)/math.Log(4)},
		{[]int32{3, 1, 0, 2}, []float64{1e-9, 1, 1e-9, 1e-9}, 1},
	} {
		l, err := New(4, []int64{0, int64(len(c.class))}, c.class, c.p, []int32{-1})
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Of(0).Information(4); math.Abs(got-c.want) > 1e-7 {
			t.Errorf("%v: %v, want %v", c.class, got, c.want)
		}
	}
}

func TestLabelsOfAnotherFormAreRefused(t *testing.T) {
	for _, c := range []struct {
		want   string
		start  []int64
		class  []int32
		p      []float64
		labels []int32
	}{
		{"row 0 has the label 1 and weak labels: it can have one or the other", []int64{0, 1}, []int32{0}, nil, []int32{1}},
		{"row 0 has the label -2 and weak labels", []int64{0, 1}, []int32{0}, nil, []int32{-2}},
		{"classes of row 0 has 3: it must be 0 to 2", []int64{0, 2}, []int32{0, 3}, nil, []int32{-1}},
		{"classes of row 0 has class 1 twice", []int64{0, 3}, []int32{1, 0, 1}, nil, []int32{-1}},
		{"probabilities of row 0 has 0 for class 0: it must be above 0", []int64{0, 2}, []int32{0, 1}, []float64{0, 1}, []int32{-1}},
		{"probabilities of row 0 has NaN for class 1: it must be above 0", []int64{0, 2}, []int32{0, 1},
			[]float64{1, math.NaN()}, []int32{-1}},
	} {
		if _, err := New(3, c.start, c.class, c.p, c.labels); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, not %q", err, c.want)
		}
	}
}

func TestCostsAreAddedWhereARowCanHaveAClass(t *testing.T) {
	l, err := New(4, []int64{0, 2, 2}, []int32{3, 1}, []float64{0.25, 0.5}, []int32{-1, -1})
	if err != nil {
		t.Fatal(err)
	}
	costs := []float64{1, 2, 3, 4}
	l.Of(0).AddTo(costs, 2)
	if !math.IsInf(costs[0], 1) || costs[1] != 2 || !math.IsInf(costs[2], 1) || math.Abs(costs[3]-4-2*math.Log(2)) > 1e-12 {
		t.Errorf("costs %v", costs)
	}
	same := []float64{1, 2, 3, 4}
	if l.Of(1).AddTo(same, 2); !slices.Equal(same, []float64{1, 2, 3, 4}) || l.Of(1).Known() {
		t.Errorf("costs %v of a row of which nothing is known", same)
	}
}

func TestMemoryIsAskedForBeforeLabelsAreCopied(t *testing.T) {
	old, asked := memory.Need, 0.0
	defer func() { memory.Need = old }()
	memory.Need = func(bytes float64, purpose, advice string) error {
		asked = bytes
		return old(1e18, purpose, advice)
	}
	class, start := slices.Repeat([]int32{0, 1, 2}, 1000), make([]int64, 1001)
	for i := range start {
		start[i] = int64(3 * i)
	}
	l, err := New(4, start, class, nil, slices.Repeat([]int32{-1}, 1000))
	if l != nil || err == nil || !strings.HasPrefix(err.Error(), "a copy of 1000 sets or probabilities of classes needs") {
		t.Errorf("%v, %v", l, err)
	}
	memory.Need = func(float64, string, string) error { return nil }
	if l, err = New(4, start, class, nil, slices.Repeat([]int32{-1}, 1000)); err != nil {
		t.Fatal(err)
	}
	taken := int(unsafe.Sizeof(Row{})) * cap(l)
	for _, row := range l {
		taken += 4*cap(row.Class) + 8*cap(row.Cost)
	}
	if float64(taken) != asked {
		t.Errorf("%v bytes asked for, %v taken", asked, taken)
	}
}
