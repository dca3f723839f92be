"""KernelTransductiveSVC: TransductiveSVC on the features of a kernel."""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.kernel_approximation import Nystroem
from sklearn.utils import check_array

from fewlabel import _progress
from fewlabel._inputs import _data, _hierarchy, _memory
from fewlabel._kernels import GramFeatures, GraphKernelFeatures, check_count
from fewlabel._native import _fit
from fewlabel._transductive_svc import TransductiveSVC

_KERNELS = ("graph", "rbf", "linear", "precomputed")
_GRAPH_COMPONENTS, _COMPONENTS = 50, 500  # of the graph, of other kernels


@dataclass(kw_only=True, eq=False, repr=False)
class KernelTransductiveSVC(TransductiveSVC):
    """Support vector machine for data that is not linear, which also learns from unlabeled rows.

    It turns rows into features whose inner products are the kernel, and is `TransductiveSVC` on these: for images,
    sensor readings and curves, where no straight boundary runs through the gap between classes.

    Parameters
    ----------
    method : {"annealing", "switching", "pair_switching", "gradient"} or object, default="annealing"
        How labels of unlabeled rows are found; this and the following ones up to `verbose` as in `TransductiveSVC`.
    alpha : float, default=1e-3
        Strength of the regularization, above 0; the features are measured in units of their root mean square length.
    unlabeled_weight : float or "auto", default="auto"
        Weight of the averaged loss of unlabeled rows. 0 gives the supervised solution, on the same features.
    class_prior : "auto", "labels", array-like of shape (n_classes,) or dict, default="auto"
        Share of each class among the unlabeled rows.
    loss : {"squared_hinge", "hinge", "crammer_singer"}, default="squared_hinge"
        Loss of a row.
    hierarchy : dict, str or None, default=None
        Tree whose leaves are the classes.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the labeled rows by class.
    calibrate : bool, default=False
        Whether to calibrate probabilities; `predict_proba` exists only with True.
    unlabeled : "auto", None or a label, default="auto"
        Marker of unlabeled rows in `y`.
    max_iter : int, default=10000
        Largest number of outer steps.
    tol : float, default=1e-5
        The last solve ends when its objective is within this relative distance of the optimum.
    n_jobs : int or None, default=None
        Number of threads. The search for neighbors reads it as scikit-learn does.
    random_state : int, RandomState instance or None, default=None
        Seed of the rows that are drawn for the kernels "rbf" and callable. None is a fixed seed.
    warm_start : bool, default=False
        Whether `fit` continues from the fitted model, with its `features_` as they are.
    verbose : int, default=0
        Above 0: show the steps of a fit, in a progress bar if tqdm is installed.
    kernel : {"graph", "rbf", "linear", "precomputed"} or callable, default="graph"
        "graph": `GraphKernelFeatures`, rows that many short paths from neighbor to neighbor join. "rbf":
        exp(-gamma ‖x - y‖²), by scikit-learn's `Nystroem`. "linear": `TransductiveSVC` itself. "precomputed": X is the
        kernel of all rows with each other, in `predict` that of new rows with those of `fit`, shape (n_new, n_rows). A
        callable gets two arrays of rows, sparse where X is, and returns the kernel (n, m) of each with each.
    gamma : "scale" or float, default="scale"
        Of "rbf", above 0. "scale": 1 / (n_features variance of the values of X), as in scikit-learn's `SVC`.
    n_neighbors : int, default=5
        Of "graph": neighbors that each row is joined with, fewer than rows.
    n_components : int or None, default=None
        Number of features, at most as many as rows. None: 50 of "graph", 500 of others. With all rows the kernel is
        exact.

    Attributes
    ----------
    features_ : transformer or None
        Makes the features from rows: `GraphKernelFeatures`, `Nystroem` or one of its own kind. None: linear.
    coef_ : ndarray of shape (1, n_components) or (n_classes, n_components), float64
        Weights of these features, and not of those of X.
    transduction_ : ndarray of shape (n_rows,)
        Label of every training row: the given one, or the predicted one of an unlabeled row.
    classes_, intercept_, class_prior_, hierarchy_, label_distributions_ : see `TransductiveSVC`
        As there, and so are the attributes that tell how the fit went.
    n_features_in_ : int
        Number of features of X; with "precomputed" the number of rows of `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had them in `fit`.

    Warns
    -----
    DataWarning
        If the graph is in pieces: labels reach only the rows of their own. For others see `TransductiveSVC`.

    See Also
    --------
    GraphKernelFeatures : The features alone, with more options.
    TransductiveSVC : For text and other rows of many features.
    sklearn.semi_supervised.LabelSpreading : Hands labels on along the graph, without a margin.

    Notes
    -----
    Features are made from all rows alike: `sample_weight` weighs rows in the classifier only.

    Kernels other than "graph" take `n_components` rows as a basis (Williams and Seeger, NIPS 2000): rows drawn at
    random, or the pivots of a Cholesky factor of a "precomputed" one.

    `predict` is exact for the kernel's features of any row; with "graph" rows that were not there in `fit` get the
    Nyström extension, see `GraphKernelFeatures`. A model is kept by pickle or joblib: `save_model` has linear ones.

    References
    ----------
    Zien, Brefeld and Scheffer (ICML 2007): kernels as features. Fine and Scheinberg (JMLR 2001): the factor.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from fewlabel import KernelTransductiveSVC
    >>> X, moon = make_moons(200, noise=0.1, random_state=0)
    >>> y = np.where(np.arange(200) < 4, moon, -1)
    >>> model = KernelTransductiveSVC().fit(X, y)
    >>> bool(np.mean(model.transduction_ == moon) > 0.98)
    True
    """

    kernel: Any = "graph"
    gamma: Any = "scale"
    n_neighbors: int = 5
    n_components: int | None = None

    def _training_features(self, X: Any, y: Any, warm: bool) -> Any:
        self._made = self.features_ if warm else self._maker()
        if self._made is None:
            return super()._training_features(X, y, warm)
        X = self._rows(X, y, reset=not warm)
        if warm:
            return self._made.transform(X)
        self._check_memory(X)
        with _progress.stage(type(self).__name__, "features", self.verbose):
            return np.ascontiguousarray(self._with_gamma(X).fit_transform(X))

    def _features(self, X: Any) -> Any:
        if self.features_ is None:
            return super()._features(X)
        return self.features_.transform(self._columns(X) if _is_precomputed(self.features_) else self._rows(X))

    def _keep(self, classes: np.ndarray, tree: _hierarchy.Tree | None, fitted: _fit.Fitted) -> None:
        super()._keep(classes, tree, fitted)
        self.features_ = self.__dict__.pop("_made")
        if self.features_ is not None:  # the rows warned of are features, which have these scales by design
            told = fitted.report["warnings"]
            told[:] = [warning for warning in told if warning["kind"] not in ("row_lengths", "column_scales")]

    def _maker(self) -> Any:
        """The transformer, not fitted; None without one."""
        if not (callable(self.kernel) or (isinstance(self.kernel, str) and self.kernel in _KERNELS)):
            names = ", ".join(f'"{name}"' for name in _KERNELS)
            raise ValueError(f"kernel must be one of {names} or a callable, got {self.kernel!r}")
        if self.n_components is not None:
            check_count("n_components", self.n_components)
        m = self.n_components or (_GRAPH_COMPONENTS if self.kernel == "graph" else _COMPONENTS)
        seed = 0 if self.random_state is None else self.random_state
        if callable(self.kernel):
            return GramFeatures(self.kernel, m, seed)
        return {
            "graph": GraphKernelFeatures(n_neighbors=self.n_neighbors, n_components=m, n_jobs=self.n_jobs),
            "rbf": Nystroem(n_components=m, random_state=seed),
            "linear": None,
            "precomputed": GramFeatures(None, m),
        }[self.kernel]

    def _with_gamma(self, X: Any) -> Any:
        """The transformer for these rows."""
        if isinstance(self._made, Nystroem):
            most = min(X.shape[0], self._made.n_components)
            self._made.set_params(gamma=self._resolved_gamma(X), n_components=most)
        return self._made

    def _resolved_gamma(self, X: Any) -> float:
        if isinstance(self.gamma, str) and self.gamma == "scale":
            mean = X.mean()
            squares = X.multiply(X).mean() if sp.issparse(X) else np.mean(np.square(X, dtype=np.float64))
            variance = float(squares - mean * mean)
            return 1 / (X.shape[1] * variance) if variance > 0 else 1.0
        if isinstance(self.gamma, Real) and not isinstance(self.gamma, bool) and 0 < float(self.gamma) < np.inf:
            return float(self.gamma)
        raise ValueError(f'gamma must be "scale" or a number above 0 and finite, got {self.gamma!r}')

    def _rows(self, X: Any, y: Any = "no_validation", reset: bool = False) -> Any:
        X = _data.rows_of(self, X, reset=reset, y=y)
        _data.check_finite(X)
        return _dense(X) if _is_precomputed(self._made if reset else self.features_) else X

    def _columns(self, X: Any) -> np.ndarray:
        """The kernel of new rows with those of fit."""
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False)
        _data.check_finite(X)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                'as input: with kernel="precomputed" a row has its kernel with each row of fit'
            )
        return _dense(X)

    def _check_memory(self, X: Any) -> None:
        """Features, and what makes them, of kernels whose transformer does not look itself."""
        if isinstance(self._made, GraphKernelFeatures):
            return
        n, m = X.shape[0], min(X.shape[0], self._made.n_components)
        _memory.need(24.0 * n * m, f"{m} features of {n} rows", "set n_components to fewer")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def _dense(kernel: Any) -> np.ndarray:
    if not sp.issparse(kernel):
        return kernel
    _memory.need(8.0 * kernel.shape[0] * kernel.shape[1], "a sparse kernel as an array", "give fewer rows")
    return kernel.toarray()


def _is_precomputed(features: Any) -> bool:
    return isinstance(features, GramFeatures) and features.kernel is None
