package fit

import (
	"math"
	"slices"
	"testing"

	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/planted"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/shares"
	"github.com/fewlabel/fewlabel/engine/work"
)

// apart is a fit in which equal rows take part one by one.
func apart(t *testing.T, data planted.Data, o method.Options) *Result {
	t.Helper()
	options := o.OfSample()
	options.RowByRow = true
	p := sample.Problem{Rows: data.Rows, Labels: data.Labels}
	s, err := sample.New(p, options, work.NewJob(1, nil))
	if err != nil {
		t.Fatal(err)
	}
	result, err := fitSample(s, p, o, 0)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// many has each row some fifty times, 16,384 rows or more.
func many(data planted.Data) planted.Data {
	var rows []int
	for i := range data.Labels {
		for range 30 + 7*i%51 {
			rows = append(rows, i)
		}
	}
	return choose(data, rows)
}

// The paths differ by rounding alone.
func TestEqualRowsAreFittedAsOneRow(t *testing.T) {
	two, four := planted.Topics(330, 60, 24, 0.4, 3), planted.Classes(330, 90, 24, []float64{0.4, 0.3, 0.2, 0.1}, 5)
	for name, data := range map[string]planted.Data{"two": many(two), "four": many(four)} {
		for _, by := range []method.Method{"auto", "annealing", "switching", "gradient", "posterior"} {
			o := plainOptions()
			o.Method, o.Tol = by, 1e-8
			switch {
			case by == "gradient" && name == "four":
				o.MaxSwitches, o.Method = 3, "switching"
			case by == "posterior":
				o.Loss = method.Maxent
			}
			merged, each := mustFit(t, data, nil, o), apart(t, data, o)
			a, b := lastOf(merged.History, "objective"), lastOf(each.History, "objective")
			if !(math.Abs(a-b) <= 1e-6*math.Abs(b)) {
				t.Errorf("%s, %s: objective %v of merged rows, %v of all", name, by, a, b)
			}
			if n := differences(merged.Transduction, each.Transduction); n > 0 {
				t.Errorf("%s, %s: %d rows have another class", name, by, n)
			}
			if !slices.EqualFunc(merged.Distributions, each.Distributions, func(a, b float64) bool {
				return math.Abs(a-b) < 1e-3
			}) {
				t.Errorf("%s, %s: other soft labels", name, by)
			}
			if a, b := lastOf(merged.History, "n_passes"), lastOf(each.History, "n_passes"); a > b/10 {
				t.Errorf("%s, %s: %v passes for %v", name, by, a, b)
			}
		}
	}
}

// The rows are in units that differ by rounding.
func TestEqualRowsCountOneByOneForClassShares(t *testing.T) {
	data := many(planted.Topics(330, 60, 24, 0.4, 3))
	p := sample.Problem{Rows: data.Rows, Labels: data.Labels}
	var found [2]sample.Shares
	for k, rowByRow := range []bool{false, true} {
		options := sample.Options{UnlabeledWeight: 1, ClassPrior: sample.ClassPrior{Rule: "auto"}, RowByRow: rowByRow}
		s, err := sample.New(p, options, work.NewJob(1, nil))
		if err != nil {
			t.Fatal(err)
		}
		prior, err := s.Prior(2)
		if err != nil || (s.FirstEqual == nil) != rowByRow {
			t.Fatal(err)
		}
		found[k].Share = prior.Shares
		found[k].Lower, found[k].Upper = prior.Evidence.Interval(s.Job, prior.Shares, shares.Usual)
	}
	merged, each := found[0], found[1]
	for _, pair := range [][2]float64{
		{merged.Share[1], each.Share[1]}, {merged.Lower[1], each.Lower[1]}, {merged.Upper[1], each.Upper[1]},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-4 {
			t.Errorf("%+v of merged rows, %+v of all", merged, each)
			break
		}
	}
}
