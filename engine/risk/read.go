package risk

import "github.com/fewlabel/fewlabel/engine/loss"

// Stride is the length of a row of stored scores.
func (r *Risk) Stride() int { return r.shape.Stride() }

// Scores are the stored ones of all rows [n, stride] at the current point, for rows that have a weight.
func (r *Risk) Scores() []float64 { return r.scores }

// Score puts the class scores of row i, which has a weight, into dst [K].
func (r *Risk) Score(dst []float64, i int32) {
	r.Map.ClassScores(dst, r.scores[int(i)*r.shape.Stride():])
}

// Costs puts the loss of row i, which has a weight, into dst [K] for every class; scratch [K] is written.
func (r *Risk) Costs(dst []float64, i int32, scratch []float64) {
	r.Score(scratch, i)
	r.loss.Costs(dst, scratch)
}

// PairCosts is Costs of some rows at once, times a factor, into dst [rows, 2]. It is for one column with a loss of
// margins, and reports whether the risk is of that kind.
func (r *Risk) PairCosts(dst []float64, rows []int32, factor float64) bool {
	pair, ok := r.terms.(pairTerms)
	if !ok {
		return false
	}
	scores := r.scores
	for k, i := range rows {
		sides, costs := [2]float64{-scores[i], scores[i]}, dst[2*k:2*k+2]
		pair.Signed.Costs(costs, sides[:])
		costs[0], costs[1] = factor*costs[0], factor*costs[1]
	}
	return true
}

// Loss is the loss of a row.
func (r *Risk) Loss() loss.Classes { return r.loss }

// Regularizer is α/2 |W|² at the current point.
func (r *Risk) Regularizer() float64 {
	shift := r.frame.shift(r.job.Pool, r.weights)
	return r.alpha / 2 * r.frame.inner(r.job.Pool, r.weights, r.weights, shift, shift)
}

// Linear gives the outputs coef_y . x + intercept_y at the current point; coef [d, outputs], those of a feature side by
// side.
func (r *Risk) Linear() (coef, intercept []float64) {
	coef = make([]float64, r.rows.Cols()*r.Map.Outputs())
	r.eachFeature(func(j int, w []float64) { copy(coef[j*len(w):], w) })
	return coef, r.intercepts()
}

// Read is Linear for the last time, in another order of the features, with the outputs of all rows [n, outputs]:
// feature j stands at number[j] of features.
func (r *Risk) Read(number []int32, features int) (coef, intercept, outputs []float64) {
	k := r.Map.Outputs()
	r.direction, r.slope, r.state, r.changes = nil, nil, nil, nil // the results are as large
	r.score(r.rows.All())
	outputs = compact(r.scores, r.shape.Stride(), k)
	coef = make([]float64, features*k)
	r.eachFeature(func(j int, w []float64) { copy(coef[int(number[j])*k:], w) })
	return coef, r.intercepts(), outputs
}

// eachFeature visits the weights [outputs] of every feature.
func (r *Risk) eachFeature(visit func(feature int, weights []float64)) {
	row := make([]float64, r.shape.Stride())
	for j := range r.rows.Cols() {
		for v := range r.Map.Columns() {
			row[v] = r.weights[r.shape.At(j, v)]
		}
		r.Map.Down(row)
		visit(j, row[:r.Map.Outputs()])
	}
}

// intercepts are those of the outputs.
func (r *Risk) intercepts() []float64 {
	shift := r.frame.shift(r.job.Pool, r.weights)
	r.Map.Down(shift)
	intercept := shift[:r.Map.Outputs()]
	for y, m := range r.frame.Mean {
		intercept[y] += m
	}
	return intercept
}

// compact moves the first entries of every row together.
func compact(rows []float64, stride, width int) []float64 {
	n := len(rows) / stride
	for i := range n {
		copy(rows[i*width:(i+1)*width], rows[i*stride:])
	}
	return rows[: n*width : n*width]
}
