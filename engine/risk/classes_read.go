package risk

// Regularizer is α/2 |W|² at the current point.
func (r *Classes) Regularizer() float64 {
	if r.sums != nil {
		return r.alpha / 2 * r.sums.square
	}
	shift := make([]float64, r.shape.Stride())
	r.frame.shift(r.job.Pool, shift, r.weights)
	return r.alpha / 2 * r.frame.inner(r.job.Pool, r.weights, r.weights, shift, shift)
}

// Linear gives the class scores s_y(x) = coef_y . x + intercept_y at the current point; coef [d, K], the classes of a
// feature side by side.
func (r *Classes) Linear() (coef, intercept []float64) {
	weights, shift := r.linear()
	coef = make([]float64, r.rows.Cols()*r.tree.Classes())
	r.eachFeature(weights, func(j int, w []float64) { copy(coef[j*len(w):], w) })
	return coef, r.intercepts(shift)
}

// Read is Linear for the last time, in another order of the features, with the scores of all rows: feature j stands at
// number[j] of features.
func (r *Classes) Read(number []int32, features int) (coef, intercept, scores []float64) {
	classes := r.tree.Classes()
	weights, shift := r.linear()
	r.times(r.rows.All(), r.scores, weights, shift, r.Means)
	scores = compact(r.scores, r.shape.Stride(), classes)
	coef = make([]float64, features*classes)
	r.eachFeature(weights, func(j int, w []float64) { copy(coef[int(number[j])*classes:], w) })
	return coef, r.intercepts(shift), scores
}

// eachFeature visits the weights [K] of every feature.
func (r *Classes) eachFeature(weights []float64, visit func(feature int, weights []float64)) {
	nodes := make([]float64, r.shape.Stride())
	for j := range r.rows.Cols() {
		for v := range r.tree.Nodes() {
			nodes[v] = weights[r.shape.At(j, v)]
		}
		r.tree.Down(nodes)
		visit(j, nodes[:r.tree.Classes()])
	}
}

// intercepts are those of the classes; shift [stride] is changed.
func (r *Classes) intercepts(shift []float64) []float64 {
	r.tree.Down(shift)
	intercept := shift[:r.tree.Classes()]
	for y, m := range r.Means {
		intercept[y] += m
	}
	return intercept
}

// compact copies the first entries of every row.
func compact(rows []float64, stride, width int) []float64 {
	dst := make([]float64, len(rows)/stride*width)
	for i := range len(rows) / stride {
		copy(dst[i*width:(i+1)*width], rows[i*stride:])
	}
	return dst
}
