package path

// Reason is why an outer loop has ended, as reports and model files name it.
type Reason string

const (
	None         Reason = ""              // the loop goes on
	Converged    Reason = "converged"     // the solve is within its tolerance
	Stationary   Reason = "stationary"    // the gradient is as short as the tolerance asks
	Entropy      Reason = "entropy"       // the labels are hard
	Temperature  Reason = "temperature"   // the temperature is at its end
	NoSwitch     Reason = "no_switch"     // no label changes
	OneClass     Reason = "one_class"     // there is nothing to learn
	MaxIter      Reason = "max_iter"      // no steps are left
	Epochs       Reason = "epochs"        // all epochs have been
	Stopped      Reason = "stopped"       // by the caller, with what has been learned so far
	Unsettled    Reason = "unsettled"     // labels still change
	Constraint   Reason = "constraint"    // the class prior is not met
	NotConverged Reason = "not_converged" // the last solve cannot go on
	NotFinite    Reason = "not_finite"    // a solve has left the range of numbers
	GivenUp      Reason = "given_up"      // the objective would not fall below its bound
)

// Early reports whether the loop ended before the method did.
func (r Reason) Early() bool { return r == MaxIter || r == Stopped }

// Natural reports whether the method ended by itself, however exact the last solve.
func (r Reason) Natural() bool {
	return r == Entropy || r == Temperature || r == NoSwitch || r == NotConverged
}
