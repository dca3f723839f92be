package transduction

import (
	"math"
	"strings"
	"testing"

	"github.com/fewlabel/fewlabel/engine/planted"
)

// looseCases are the methods and losses in which labels leave the prior.
func looseCases() map[string]func(prior []float64) (planted.Data, Options) {
	out := map[string]func(prior []float64) (planted.Data, Options){}
	for _, method := range []string{"annealing", "switching"} {
		for _, l := range []string{"squared_hinge", "maxent"} {
			for _, many := range []bool{false, true} {
				name := method + " " + l + map[bool]string{false: " two", true: " five"}[many]
				out[name] = func(prior []float64) (planted.Data, Options) {
					o := Defaults()
					o.Method, o.Loss, o.Balance, o.ClassPrior = method, l, "share", prior
					if many {
						return fiveClasses(900, 3), o
					}
					return planted.Topics(700, 150, 12, 0.3, 4), o
				}
			}
		}
	}
	return out
}

// A prior that is wrong is left the further the weaker it is, towards the truth; a strong one is kept.
func TestALoosePriorGivesWay(t *testing.T) {
	for name, make := range looseCases() {
		truth, wrong := []float64{0.7, 0.3}, []float64{0.5, 0.5}
		if strings.HasSuffix(name, "five") {
			truth, wrong = fiveShares, []float64{0.2, 0.2, 0.2, 0.2, 0.2}
		}
		data, o := make(wrong)
		errorWith := func(strength float64) (fromWrong, fromTruth float64) {
			if o.PriorStrength = &strength; strength == 0 {
				o.PriorStrength = nil
			}
			result := fit(t, data, nil, o)
			shares, n := classSharesOf(result, data)
			for y := range shares {
				fromWrong = max(fromWrong, math.Abs(shares[y]/n-wrong[y]))
				fromTruth = max(fromTruth, math.Abs(shares[y]/n-truth[y]))
			}
			return fromWrong, fromTruth
		}
		_, exact := errorWith(0)
		kept, _ := errorWith(1e4)
		_, loose := errorWith(0.3)
		if kept > 0.01 {
			t.Errorf("%s: a strong prior is left by %v", name, kept)
		}
		if !(loose < 0.9*exact) {
			t.Errorf("%s: %v from the truth, exactly held %v", name, loose, exact)
		}
	}
}

// classSharesOf counts the classes of the unlabeled rows.
func classSharesOf(result *Result, data planted.Data) (counts []float64, n float64) {
	counts = make([]float64, result.Model.Classes)
	for i, y := range result.Transduction {
		if data.Labels[i] < 0 {
			counts[y]++
			n++
		}
	}
	return counts, n
}

func TestALoosePriorDoesNotGoWithWhatHoldsItExactly(t *testing.T) {
	data := planted.Topics(60, 30, 6, 0.5, 1)
	for want, change := range map[string]func(o *Options){
		"pair_switching": func(o *Options) { o.Method = "pair_switching" },
		"max_switches":   func(o *Options) { o.Method, o.MaxSwitches = "switching", 3 },
		"balance":        func(o *Options) { o.Balance = "mean" },
		"constraint":     func(o *Options) { o.Method, o.Loss, o.Constraint = "entropy", "maxent", "equality" },
	} {
		o, strength := Defaults(), 1.0
		o.PriorStrength = &strength
		change(&o)
		_, err := Fit(Problem{Rows: data.Rows, Labels: data.Labels}, o, nil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "prior_strength") {
			t.Errorf("%s: %v", want, err)
		}
	}
}
