// Package engine is the map of the numerical engine: pure Go, no cgo, ignorant of Python and C. All methods solve one
// problem
//
//	min over W  α/2 |W|² + Σ_labeled w_i ξ(s_i, y_i) + λ' Σ_unlabeled w_j ρ(s_j)      s_i = M Wᵀ x_i
//
// with other pieces. In reading order:
//
//	fit           the methods, each a belief ρ about the unlabeled rows and a schedule for the one loop (follow in
//	              path.go); start at Fit, then annealing.go. Pair switching alone has a loop of its own. A fit of two
//	              classes with at least 8,192 unlabeled rows begins with an eighth of them (few.go)
//	method        the options of a fit, and the table of what the engine has to know of each method (table.go)
//	sample        what a fit learns from, checked and made ready, and read only from then on; start at New
//	trace         what a run tells of itself: history, progress, warnings
//	option        options of a kind of problem: names, ranges, decoding; start at Table
//	ending        why a fit ends
//	shares        class shares among the unlabeled rows where they are not given; start at Gather
//	probability   a temperature that turns scores into probabilities; start at Temperature
//	expectation   terms of the probabilities of unlabeled rows: their entropy, and the distance of their means from the
//	              class prior; start at Regularize, then Means
//	risk          losses of rows plus α/2 |W|² as an objective, for any M: scores, gradient, Hessian product, the active
//	              rows, and the labeled ones as preconditioner; start at Risk
//	minimize      Newton with conjugate gradients for such objectives, convex or not; start at Newton.Minimize. L-BFGS
//	              for any smooth function: QuasiNewton; many linear systems over the same rows: SolveColumns
//	dual          the hinge, solved one dual coordinate at a time; start at Descent.Solve
//	labeling      labels, hard or soft, that keep the class counts; start at Cheapest and Soft
//	structure     the subspace near which the weights of many auxiliary problems over the rows lie, for further features;
//	              start at Fit, then solve in auxiliary.go and iterate in subspace.go
//	scores        the maps M: a class tree, or none; two classes as one column; start at Map
//	loss          ξ: what a row's margin, or its class scores, cost; start at Margin and Classes
//	rows          the caller's rows, products with them, and the packed copy that a fit works on; start at Matrix,
//	              then Span for neighbouring rows, as the tokens of a sentence
//	panel         weights of many columns side by side, 32 at a time; start at Shape
//	vector        the dense loops
//	work          workers, sums in a fixed order, machines that share rows, progress and cancel; start at Pool.Run,
//	              then Job
//	sequence      label sequences, which have a problem and options of their own: chains, their losses, two solvers,
//	              beliefs about sequences without labels; start at Fit, then stochastic.go and unlabeled.go
//	model         linear classifiers and components, files of models of all kinds; start at Linear, then Load
//	svmlight      svmlight files, read in parallel, and written; start at Read
//	strictjson    JSON that means the same to every reader: options, headers, metadata; start at Object
//	wholefile     a file is written whole or not at all
//	memory        what would not fit into memory is refused; start at Need
//	fault         errors by who has to act
//	warning       what a fit warns of: kinds, their numbers and sentences
//	planted       small data with known answers, for tests; work/worktest: threads, for tests
//
// To add a method: a row in method/table.go, and a file in fit with its function, which solvers in fit.go
// names. A loss of class scores: a file in loss, and its name in method/options.go and task.loss. A schedule: a type
// with level and next beside its method. A belief: a type with enter and relabel beside its method. A map of scores: a
// file in scores.
//
// Arrows go one way: fit -> method, expectation -> sample -> trace, shares, probability, risk, dual, labeling, minimize
// -> scores, loss, rows -> panel, work, vector. A loss knows nothing of the minimizer, the minimizer nothing of data or
// labels, the methods nothing of threads. Beside them: sequence, structure -> minimize, option, rows.
//
// Sums over rows pass work.Job.Sum or a product of rows with the rows transposed: both reduce them where the machines
// of a work.Group share the rows. A matrix knows whether every machine has its rows (rows.Matrix.Everywhere): these
// count once. Branches look at what all machines have alike, numbers of rows in sample.Sample.All. Pair switching,
// limits on switches, weights held as sums of rows, and calibration are not supported on several machines. The way rows
// are cut depends on the data only, and parts are added in order, so that results have the same bits on any number of
// threads.
package engine
