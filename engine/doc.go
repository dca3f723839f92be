// Package engine is the map of the numerical engine: pure Go, no cgo, ignorant of Python and C. In reading order:
//
//	transduction  the methods, each an outer loop that reads like its paper's algorithm box; start at Fit. Two classes
//	              (task) go a way of their own, with half the work; any number goes the other (classTask)
//	prior         class shares among the unlabeled rows where nobody gives them; start at Gather
//	calibration   a temperature that turns scores into probabilities; start at Temperature
//	expectation   what the probabilities of unlabeled rows cost: their entropy, and their means, which the class prior
//	              tells; start at Regularize, then Means
//	risk          averaged losses of rows plus α/2 |w|² as an objective: scores, gradient, Hessian product, and the
//	              labeled rows as preconditioner; start at Risk, then Classes
//	minimize      Newton with conjugate gradients for such objectives; start at Newton.Minimize
//	dual          the hinge, solved one dual coordinate at a time; start at Descent.Solve
//	labeling      labels, hard or soft, that keep the class counts; start at Soft and Top for two classes, Transport
//	              and SoftClasses for more
//	scores      a class tree as a linear map from node scores to class scores; start at Tree
//	loss          what a row's margin, or its class scores, cost; start at Margin and Classes
//	csr           the caller's rows, products with them, and the packed copy that a fit works on; start at Matrix,
//	              then Wide for all classes at once
//	vector        the dense loops
//	work          workers, sums in a fixed order, progress and cancel; start at Pool.Run and Job
//	model         the linear classifier: decisions and its file; start at Linear
//	svmlight      svmlight files, read in parallel, and written; start at Read
//	wholefile     a file is written whole or not at all
//	memory        what would not fit into memory is refused; start at Need
//	fault         errors by who has to act
//	warning       what a fit warns of: kinds, their numbers and sentences
//	planted       small data with known answers, for tests; work/worktest: threads, for tests
//
// Arrows go one way: transduction -> prior, calibration, expectation -> risk, dual, labeling, minimize -> scores,
// loss, csr -> work, vector. A loss knows nothing of the minimizer, the minimizer nothing of data or labels, the
// methods nothing of threads.
//
// Every sum over rows passes work.Job.Sum or csr's block sums: the way rows are cut depends on the data only, and parts
// are added in order, so that results have the same bits on any number of threads. Both hand their sums to the job's
// Reducer, which adds those of other machines.
package engine
