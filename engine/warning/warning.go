// Package warning has the warnings of a fit: a kind and numbers for programs, a sentence for people.
package warning

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/option"
)

// Warning is a warning of a fit, in reports and model files.
type Warning struct {
	Kind   string             `json:"kind"`
	Values map[string]float64 `json:"values"` // by the names of the kind, if finite; shares are 0 to 1
	Text   string             `json:"text"`   // cause and remedy, with class names if there are any

	kind    *Kind
	printed []float64
	more    string
}

// UnmarshalJSON reads an object that has exactly these three fields.
func (w *Warning) UnmarshalJSON(text []byte) error {
	var values map[string]*float64 // a null is no number
	err := option.Decode(text, []option.Field{
		{Name: "kind", Value: &w.Kind}, {Name: "values", Value: &values}, {Name: "text", Value: &w.Text},
	})
	w.Values = make(map[string]float64, len(values))
	for name, value := range values {
		if value == nil {
			return fmt.Errorf("the value %s of a warning is null", name)
		}
		w.Values[name] = *value
	}
	return err
}

type List []Warning

// MarshalJSON writes an array, an empty one for nil.
func (l List) MarshalJSON() ([]byte, error) { return json.Marshal(append([]Warning{}, l...)) }

// Kind is a kind of warnings: its name, the names of its values and a sentence with a verb for each of them.
type Kind struct{ name, values, text string }

// The kinds; docs/c.md lists them. Of the data:
var (
	NoUnlabeled  = Kind{"no_unlabeled", "", "no row is unlabeled: the model is fitted on labeled rows only"}
	OneUnlabeled = Kind{"one_unlabeled", "", "only one row is unlabeled: the model is fitted on labeled rows only"}
	OneClass     = Kind{"one_class", "class", "all labeled rows have class %v, so the model predicts it for every row. " +
		"Label at least one row of another class, or name the class of the others by class_prior"}
	DominantFeatures = Kind{"dominant_features", "feature share", "feature %v and few others carry %.0f%% of the " +
		"variance of the rows, so the fit may separate the rows by these features instead of the classes. Scale a block of " +
		"columns beside text to a tenth of its length (fewlabel.preprocessing.BlockScaler), and make unit rows of tf-idf " +
		"from counts (fewlabel.preprocessing.text_vectorizer)"}
	LongFeatures = Kind{"long_features", "share feature", "few columns carry %.0f%% of the squared length of the rows, " +
		"so the fit hardly uses the others. Scale the columns (sklearn.preprocessing.StandardScaler), above all feature %v"}
	FrequentFeatures = Kind{"frequent_features", "feature share", "features that more than a fifth of the rows have, " +
		"feature %v above all, carry %.0f%% of the squared length of the rows. Leave them out, as stop words: fits are " +
		"mostly more accurate without them. Use fewlabel.preprocessing.text_vectorizer(), or max_df=0.2 or " +
		"stop_words=\"english\" of TfidfVectorizer"}

	EmptyDescriptions = Kind{"empty_descriptions", "n", "descriptions without a feature of the rows, such as a word " +
		"of the texts, are left out: %v. Use words that occur in the texts"}

	// Of the class shares:
	NoLabel = Kind{"no_label", "class", "class %v has a share in class_prior but no labeled row, so it is assigned " +
		"the rows that fit the other classes least. Label some rows of this class"}
	GuessedShares = Kind{"guessed_shares", "smallest largest", "the class shares are a guess, %.2g%% to %.2g%%: the " +
		"classes look uneven, but descriptions, and few labels picked class by class, say little of their shares. Label 20 " +
		"or more rows that are drawn at random, of two classes at least, or give class_prior"}
	SmallShare = Kind{"small_share", "class prior rows", "class %v has a share of %.2g%% in the class prior, which is " +
		"less than one of the %v unlabeled rows: it may be predicted for none of them"}
	Collapse = Kind{"collapse", "class share prior", "class %v is predicted for %.1f%% of the unlabeled rows, but its " +
		"share in the class prior is %.1f%%: the fit may have collapsed. Label more rows, or check class_prior and the " +
		"preprocessing (remove stop words, use idf, scale rows to unit length)"}
	Balance = Kind{"balance", "", "the class prior is enforced only by the label counts, as balance needs an intercept " +
		"to adjust thresholds: set fit_intercept to true"}

	// Of the end:
	MaxIter = Kind{"max_iter", "max_iter", "max_iter = %v was reached before the fit converged: raise max_iter"}

	MaxIterDistance = Kind{"max_iter_distance", "max_iter distance tol", "max_iter = %v Newton steps ended at a " +
		"relative distance of %.2g from the optimum, above tol = %.2g: raise max_iter or tol"}
	MaxIterResidual = Kind{"max_iter_residual", "max_iter residual", "max_iter = %v was reached with the mean " +
		"probabilities of the unlabeled rows %.2g away from class_prior: raise max_iter"}
	Unsettled = Kind{"unsettled", "rounds", "labels still changed after %v rounds at the full weight: raise " +
		"max_switches (0: no limit) or alpha"}
	NotConverged = Kind{"not_converged", "distance tol", "the last solve ended at a relative distance of %.2g from an " +
		"optimum, above tol = %.2g, and more steps would not help: raise tol or alpha"}
	NotStationary = Kind{"not_stationary", "length tol", "the last solve ended where the squared gradient is %.2g " +
		"times 2 alpha times the objective, above tol = %.2g, and more steps would not help: raise tol or alpha"}
	Constraint = Kind{"constraint", "residual allowed", "the mean probabilities of the unlabeled rows stay %.2g away " +
		"from class_prior (the tolerance is %.2g): these rows may not allow it. Set fit_intercept to true, " +
		"or check class_prior"}

	// Of probabilities:
	Calibration = Kind{"calibration", "labeled points", "the probabilities are rough: the %v labeled rows they " +
		"are calibrated with leave their mean open by %.0f points up or down. Label more rows"}
	CalibrationFailed = Kind{"calibration_failed", "", "the probabilities are not calibrated"} // And why
)

func (k Kind) Of(values ...float64) Warning {
	w := Warning{Kind: k.name, Values: map[string]float64{}, kind: &k, printed: values}
	for i, name := range strings.Fields(k.values) {
		if !math.IsNaN(values[i]) && !math.IsInf(values[i], 0) { // JSON has neither
			w.Values[name] = values[i]
		}
	}
	return w.Named(nil)
}

// Named is the warning of a kind with the names of the classes in its text.
func (w Warning) Named(names fault.Names) Warning {
	printed := make([]any, len(w.printed))
	for i, name := range strings.Fields(w.kind.values) {
		switch printed[i] = w.printed[i]; name {
		case "class":
			printed[i] = names.Of(int(w.printed[i]))
		case "share", "prior", "smallest", "largest":
			printed[i] = 100 * w.printed[i]
		}
	}
	w.Text = fmt.Sprintf(w.kind.text, printed...) + w.more
	return w
}

// And is the warning with more text at its end.
func (w Warning) And(more string) Warning {
	w.more = more
	return w.Named(nil)
}
