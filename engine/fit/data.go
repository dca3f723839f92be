package fit

import (
	"math"

	"github.com/fewlabel/fewlabel/engine/fault"
	"github.com/fewlabel/fewlabel/engine/method"
	"github.com/fewlabel/fewlabel/engine/model"
	"github.com/fewlabel/fewlabel/engine/objective"
	"github.com/fewlabel/fewlabel/engine/option"
	"github.com/fewlabel/fewlabel/engine/rows"
	"github.com/fewlabel/fewlabel/engine/sample"
	"github.com/fewlabel/fewlabel/engine/scores"
	"github.com/fewlabel/fewlabel/engine/shares"
	"github.com/fewlabel/fewlabel/engine/warning"
	"github.com/fewlabel/fewlabel/engine/work"
)

// Data is what the models of a fit may see. Nothing changes it: a part of the rows, or all with other labels, is other
// Data, see of.
type Data struct {
	sample  *sample.Sample
	options method.Options // with values for those that are "auto"
	named   *method.Spec   // by the options
	scores  *scores.Tree
	prior   *shares.Prior

	asked    method.Options    // the caller's
	start    *model.Linear     // of the caller; nil: none
	warnings []warning.Warning // of the shares and of the scales
	labels   float64           // mean number of labels of a class; copies of weakly labeled rows are no labels
	carries  float64           // part of the class shares that the unlabeled rows carry
	tells    float64           // what unlabeled rows count beside labels for: a mixture, predicted shares, thresholds
	whole    int               // unlabeled rows of the data that this is a part of; 0: of none
	near     *model.Linear     // the supervised classifier of these labels, or more, and the packed rows; nil: unknown
	mixture  *fitted           // M of these rows, where the shares are those that it predicts; nil: not made yet
	before   int               // steps of the first fit of weakly labeled rows

	job     *work.Job // of the fit: it counts the work of all models, but for those with a name of their own
	name    string    // of the models in the record; "": that of their method
	trained *record
}

// open checks a problem. Class shares come later.
func open(p sample.Problem, options method.Options, job *work.Job) (*Data, error) {
	s, err := sample.New(p, options.OfSample(), job)
	if err != nil {
		return nil, err
	}
	if p.Start != nil && !s.Constant() {
		if err := objective.CheckStart(s, p.Start); err != nil {
			return nil, err
		}
	}
	if s.Classes() > s.All.Rows && !s.Paired() {
		return nil, fault.Argument("class_prior has %d classes, more than the %d rows", s.Classes(), s.All.Rows)
	}
	if options.Alpha == option.AutoWeight {
		options.Alpha = usualAlpha(float64(s.All.LabeledUnits + s.All.UnlabeledUnits))
	}
	labels := float64(s.All.DrawnUnits)
	d := &Data{asked: options, start: p.Start, labels: labels / float64(s.Classes()), job: job, trained: &record{}}
	d.carries, d.tells = carried(s, labels), carried(s, tellRows*labels)
	return d, d.see(s, options)
}

// see sets the sample and the options, as resolved for it.
func (d *Data) see(s *sample.Sample, options method.Options) (err error) {
	options.Options, options.Loss = s.Options, options.UsualLoss(s)
	d.sample, d.options, d.named = s, options, method.Find(options.Method)
	d.scores, err = objective.Map(s)
	return err
}

// of is the data of selected rows, with these options and the shares if they are known. Machines with the same rows fit
// them alike.
func (d *Data) of(rows sample.Selection, options method.Options, job *work.Job) (*Data, error) {
	if d.prior != nil {
		options.ClassPrior = sample.ClassPrior{Shares: d.prior.Shares, Rule: "auto"}
	}
	s, err := d.sample.Select(rows, options.OfSample(), job)
	if err != nil {
		return nil, err
	}
	part := *d
	part.start, part.warnings, part.mixture = nil, nil, nil
	if d.prior != nil {
		if part.prior, err = d.prior.Allowed(s); err != nil {
			return nil, err
		}
	}
	if d.near != nil {
		part.near = s.Packed(d.near)
	}
	return &part, part.see(s, options)
}

// usualAlpha is α where none is given. It falls with the root of the number of rows, as the error of a mean over them
// does: more rows determine more weights, also of rare features (docs/notes/alpha.md).
func usualAlpha(rows float64) float64 { return maxAlpha * min(1, math.Sqrt(manyRows/rows)) }

const (
	maxAlpha = 1e-3
	manyRows = 1 << 14
)

// atOnce reports whether hard labels settle at once about as well as in steps, and a part of the rows is a good start:
// λ' is at most MaxOverAlpha times the α of fewer rows. A part is one only then.
func (d *Data) atOnce() bool {
	all := float64(d.sample.All.LabeledUnits + d.sample.All.UnlabeledUnits)
	return d.whole > 0 || d.options.UnlabeledWeight <= method.MaxOverAlpha*d.options.Alpha*(maxAlpha/usualAlpha(all))
}

// decisions are class scores [rows, K] by a classifier.
type decisions struct {
	values  []float64
	classes int
}

// decisions are those of a classifier of the packed rows.
func (d *Data) decisions(m *model.Linear) decisions {
	values, _ := d.scoresOf(m, d.sample.Rows)
	return decisions{values, d.sample.Classes()}
}

// scoresOf are the class scores [rows, K] of rows like the packed ones.
func (d *Data) scoresOf(m *model.Linear, x *rows.Matrix) ([]float64, error) {
	values := make([]float64, x.Rows()*m.Outputs)
	err := m.Decisions(d.sample.Job.Pool, x, values)
	d.sample.Job.CountAndCheck(int64(x.NonZeros()))
	if m.Outputs == 1 {
		values = objective.BothSides(values)
	}
	return values, err
}

// scores are the class scores of a row.
func (d decisions) scores(row int32) []float64 {
	return d.values[int(row)*d.classes : (int(row)+1)*d.classes]
}

// of are the class scores [list, K] of rows.
func (d decisions) of(list []int32) (scores []float64) {
	for _, i := range list {
		scores = append(scores, d.scores(i)...)
	}
	return scores
}
