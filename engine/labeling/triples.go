package labeling

import "math"

// switchTriples visits all cycles of three classes once, and exchanges labels around them while that helps.
//
//	Problem  find a, b, c with L_ab + L_bc + L_ca < 0
//	Symbols  L_ab length of the arc from a to b in the class graph; v potentials with L_ab + v_a - v_b >= -ε for the
//	         smallest ε; reduced lengths L_ab + v_a - v_b, which have the same sum around a cycle
//	Source   ours: around a helpful cycle the reduced length of one arc is below minus the least ones that leave its end
//	         and enter its start, so that few pairs of classes have to be seen with all others
//	Cost     that of epsilonOptimal, m² for the pairs, m for each of those that are left, and m an exchange. To look at
//	         all cycles, m³, took seven tenths of a fit of 1,000 classes
func (f *frontier) switchTriples() (switched int) {
	t := &triples{classGraph: newClassGraph(f, countsOf(f.labels, f.classes))}
	var epsilon float64
	if t.v, epsilon = t.epsilonOptimal(); epsilon == 0 {
		return 0
	}
	t.leaving, t.entering = make([]float64, f.classes), make([]float64, f.classes)
	for _, a := range t.live {
		t.entering[a] = math.Inf(1)
	}
	for _, a := range t.live {
		t.least(a)
	}
	for k, a := range t.live {
		for j, b := range t.live[k+1:] {
			if t.mayHelp(a, b) || t.mayHelp(b, a) {
				switched += t.visit(a, b, t.live[k+j+2:])
			}
		}
	}
	return switched
}

// triples are the reduced lengths of the arcs that every class has at least.
type triples struct {
	*classGraph
	v                 []float64
	leaving, entering []float64 // [classes] bounds from below
}

// least renews the bounds after the lengths of the arcs that leave a class.
func (t *triples) least(a int) {
	t.leaving[a] = math.Inf(1)
	for _, b := range t.live {
		if b != a {
			reduced := t.reduced(a, b)
			t.leaving[a], t.entering[b] = min(t.leaving[a], reduced), min(t.entering[b], reduced)
		}
	}
}

func (t *triples) reduced(a, b int) float64 { return t.length[a*t.classes+b] + t.v[a] - t.v[b] }

// mayHelp reports whether a cycle through the arc from a to b can be one that helps.
func (t *triples) mayHelp(a, b int) bool { return t.reduced(a, b)+t.leaving[b]+t.entering[a] < 0 }

// visit exchanges labels around the cycles of a, b and one of the others, either way.
func (t *triples) visit(a, b int, others []int) (switched int) {
	for _, c := range others {
		for t.exchange(a, b, c) || t.exchange(a, c, b) {
			switched++
		}
	}
	return switched
}

func (t *triples) exchange(a, b, c int) bool {
	sum := t.length[a*t.classes+b] + t.length[b*t.classes+c] + t.length[c*t.classes+a]
	if !(sum < 0) || !t.exchangeCycle(a, b, c) {
		return false
	}
	for _, y := range []int{a, b, c} {
		t.updateLengths(y)
		t.least(y)
	}
	return true
}
