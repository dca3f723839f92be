package rows

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/panel"
	"github.com/fewlabel/fewlabel/engine/work"
	"github.com/fewlabel/fewlabel/engine/work/worktest"
)

// Sums by columns are those by rows, of all rows and of a subset whose scores alone count, with the same bits on any
// number of threads.
func TestSumsByColumns(t *testing.T) {
	worktest.Processors(t, 8)
	rows := zipfRows(3000, 9000, 60)
	var most []int32
	for i := range int32(3000) {
		if i%3 > 0 {
			most = append(most, i)
		}
	}
	for _, name := range []string{"float64", "float32", "float64packed", "float32packed"} {
		plain, err := rows.matrix(name)
		if err != nil {
			t.Fatal(err)
		}
		m := plain.Scaled(0.7)
		for _, classes := range []int{20, 33, 70} {
			shape := panel.Shape{Features: m.Cols(), Classes: classes}
			q := make([]float64, m.Rows()*shape.Stride())
			for k := range q {
				q[k] = math.Sin(float64(k))
			}
			for _, on := range []*Subset{m.All(), m.Subset(most)} {
				if !m.byColumns(on, shape) {
					t.Fatalf("%s, %d classes: not by columns", name, classes)
				}
				want := slices.Repeat([]float64{0.5}, shape.Len())
				got, again := slices.Clone(want), slices.Clone(want)
				m.addPieces(work.NewPool(1), on, want, q, shape)
				m.AddTransposedPanels(work.NewJob(1, nil), on, got, q, shape)
				m.AddTransposedPanels(work.NewJob(3, nil), on, again, q, shape)
				near(t, fmt.Sprintf("%s, %d classes", name, classes), got, want)
				if !slices.Equal(got, again) {
					t.Errorf("%s, %d classes: other bits on three threads", name, classes)
				}
			}
		}
	}
}
