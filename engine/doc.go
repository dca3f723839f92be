// Package engine is the map of the numerical engine: pure Go, no cgo, ignorant of Python and C. All methods solve one
// problem
//
//	min over W  α/2 |W|² + Σ_labeled w_i ξ(s_i, y_i) + λ' Σ_unlabeled w_j ρ(s_j)      s_i = M Wᵀ x_i
//
// with other pieces. In reading order:
//
//	fit           one fit: its stages in their order; start at fit, in fit.go, then data.go and train.go
//	method        the methods: a table of them, losses, options, a file for each algorithm; start at table, annealing.go
//	path          the one loop of all methods, its schedules and record, settling at hard labels; start at Path.Follow
//	belief        ρ: labels of the unlabeled rows, hard, soft or none, or probabilities; start at Hard
//	objective     the objective of a sample: its loss, map of scores and intercepts as a risk, its value at given scores
//	sample        what a fit learns from, checked and made ready, and only read from then on; start at New
//	weak          labels of weakly labeled rows: sets or probabilities of classes; start at Labels
//	option        options of a kind of problem: names, ranges, decoding; strict JSON; start at Table, Object
//	shares        class shares among the unlabeled rows where they are not given; start at Find
//	crossfit      scores of labeled rows by models that have not seen their labels; start at HeldOut
//	risk          losses of rows plus α/2 |W|² as an objective, with the labeled rows as preconditioner; start at Risk
//	minimize      Newton steps, convex or not; start at Newton.Minimize. L-BFGS: QuasiNewton
//	labeling      labels, hard or soft, that keep the class counts; start at Cheapest and SoftLabels
//	structure     the subspace near which the weights of many auxiliary problems lie; start at Fit, then auxiliary.go
//	scores        the map M: a class tree, or none; two classes as one column; start at Tree
//	loss          ξ: what a row's margin, or its class scores, cost; start at Margin and Classes
//	rows          the caller's rows, products with them, and the packed copy that a fit works on; start at Matrix
//	panel         weights of many columns side by side, 32 at a time, and conjugate gradients on them; start at Shape
//	vector        the dense loops
//	work          workers, sums in a fixed order, machines that share rows, progress and cancel; start at Pool.Run, Job
//	sequence      label sequences, a problem and options of their own; start at Fit, stochastic.go and posterior.go
//	model         linear classifiers and components, files of models of all kinds; start at Linear, then Load
//	files         svmlight files, read and written; a file is written whole or not at all; start at ReadRows, Write
//	memory        what would not fit into memory is refused; start at Need
//	fault         errors by who has to act
//	warning       what a fit warns of: kinds, their numbers and sentences
//
// To add a method: a file in method, and a Spec in its table. A loss: a file in loss, and a LossSpec in
// method/table.go. A schedule: a type with Level and Next, see path/schedule.go. A belief: a type with Enter and
// Relabel.
//
// Arrows go one way: fit -> method, shares -> path, belief, crossfit -> objective -> sample -> weak, risk, labeling,
// minimize -> scores, loss, rows -> panel, work, vector. A loss knows nothing of the minimizer, the minimizer nothing
// of data, labels or storage, the loop nothing of methods, the methods nothing of threads. Beside them: sequence,
// structure -> path, model, option, minimize, rows.
//
// Sums over rows pass work.Job.Sum or a product of rows with the rows transposed: both reduce them where the machines
// of a work.Group share the rows. A matrix knows whether every machine has its rows (rows.Matrix.Gathered): these
// count once. Branches look at what all machines have alike, numbers of rows in sample.Sample.All. Package work says
// why results have the same bits on any number of threads.
package engine
