// Package ending names the reasons why a fit ends.
package ending

// Reason is why an outer loop has ended.
type Reason uint8

const (
	None         Reason = iota // the loop goes on
	Converged                  // the solve is within its tolerance
	Stationary                 // the gradient is as short as the tolerance asks
	Entropy                    // the labels are hard
	Temperature                // the temperature is at its end
	NoSwitch                   // no label changes
	OneClass                   // there is nothing to learn
	MaxIter                    // no steps are left
	Epochs                     // all epochs have been
	Stopped                    // by the caller, with what has been learned so far
	Unsettled                  // labels still change
	Constraint                 // the class prior is not met
	NotConverged               // the last solve cannot go on
	NotFinite                  // a solve has left the range of numbers
	GivenUp                    // the objective would not fall below its bound
)

var names = [...]string{None: "", Converged: "converged", Stationary: "stationary",
	Entropy: "entropy", Temperature: "temperature", NoSwitch: "no_switch", OneClass: "one_class", MaxIter: "max_iter",
	Epochs: "epochs", Stopped: "stopped", Unsettled: "unsettled",
	Constraint: "constraint", NotConverged: "not_converged", NotFinite: "not_finite", GivenUp: "given_up"}

// String is the name of the reason in reports and model files.
func (r Reason) String() string { return names[r] }

// Early reports whether the loop ended before the method did.
func (r Reason) Early() bool { return r == MaxIter || r == Stopped }

// Natural reports whether the method ended by itself, however exact the last solve.
func (r Reason) Natural() bool {
	return r == Entropy || r == Temperature || r == NoSwitch || r == NotConverged
}
