"""KernelTransductiveSVC: TransductiveSVC on the features of a kernel."""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.kernel_approximation import Nystroem
from sklearn.utils import _safe_indexing, check_array, check_consistent_length

from fewlabel import _advice, _kernel_choice
from fewlabel._docstrings import described_as
from fewlabel._gram_features import GramFeatures
from fewlabel._graph_features import GraphKernelFeatures
from fewlabel._inputs import _data, _hierarchy, _labels, _memory, _numbers, _weights
from fewlabel._interrupts import interruptible
from fewlabel._native import _fit
from fewlabel._transductive_svc import TransductiveSVC

_KERNELS = ("auto", "graph", "rbf", "linear", "precomputed")
_CANDIDATES = ("graph", "rbf")  # of "auto"
_GRAPH_COMPONENTS, _COMPONENTS = 50, 500  # of the graph, of other kernels


_OF_SCALES = ("row_lengths", "dominant_features", "column_scales")  # warnings


class _Made(NamedTuple):
    """A kernel and its features."""

    settings: dict[str, Any]  # the parameters that they depend on
    kernel: Any
    transformer: Any  # None: the kernel needs none
    scores: dict[str, _kernel_choice.Score] | None = None


@described_as(TransductiveSVC)
@dataclass(kw_only=True, eq=False, repr=False)
class KernelTransductiveSVC(TransductiveSVC):
    """Kernel support vector machine that also learns from unlabeled rows.

    It maps rows to features whose inner products are the kernel and fits `TransductiveSVC` on them. Use it for images,
    sensor readings and curves, where classes are not separated by a linear boundary.

    Parameters
    ----------
    method : see `TransductiveSVC`
    alpha : float or "auto", default="auto"
        Regularization strength, above 0; "auto" as in `TransductiveSVC`. The kernel features are scaled by their root
        mean square norm.
    unlabeled_weight, class_prior, loss, hierarchy, fit_intercept, class_weight : see `TransductiveSVC`
    calibrate, unlabeled, max_iter, tol : see `TransductiveSVC`
    n_jobs : int or None, default=None
        Number of threads. The neighbor search interprets it as scikit-learn does.
    warm_start : bool, default=False
        Whether `fit` continues from the fitted model and keeps its `features_`. The kernel and its parameters must be
        the same.
    verbose : see `TransductiveSVC`
    random_state : int, RandomState instance or None, default=None
        Seed for drawing the basis rows of the kernels "rbf" and callable. None means a fixed seed.
    kernel : {"auto", "graph", "rbf", "linear", "precomputed"} or callable, default="auto"
        "auto": "graph" or "rbf", whichever predicts held-out labels better and depends less on single labels; see
        Notes. "graph": `GraphKernelFeatures`, in which rows are similar if many short paths in a neighbor graph connect
        them. "rbf": exp(-gamma ‖x - y‖²), by scikit-learn's `Nystroem`. "linear": `TransductiveSVC` itself.
        "precomputed": X is the kernel matrix of all rows; in `predict`, the kernel between new rows and those of `fit`,
        shape (n_new, n_rows). A callable takes two arrays of rows, sparse if X is, and returns their kernel matrix (n,
        m).
    gamma : "scale" or float, default="scale"
        Parameter of "rbf", above 0. "scale": 1 / (n_features * X.var()), as in scikit-learn's `SVC`.
    n_neighbors : int, default=5
        For "graph": number of neighbors of each row, or all other rows if there are fewer.
    n_components : int or None, default=None
        Number of features, at most the number of rows. None: 50 for "graph", 500 for other kernels. The kernel is exact
        if it equals the number of rows.

    Attributes
    ----------
    kernel_ : str or callable
        The kernel that is used: `kernel`, or the choice of "auto".
    kernel_scores_ : dict of str to (float, float), or None
        With "auto": for each kernel, the accuracy on held-out labels, and the agreement of the fits without them with
        the fit of all labels on the unlabeled rows. Empty if no class has two labels. None: nothing was compared.
    features_ : transformer or None
        Transformer that computes the features: `GraphKernelFeatures`, `Nystroem`, or an internal class for other
        kernels. None for the linear kernel.
    coef_ : ndarray of shape (1, n_components) or (n_classes, n_components), float64
        Weights of the kernel features (not of the features of X).
    classes_, intercept_, alpha_, unlabeled_weight_, class_prior_, hierarchy_ : see `TransductiveSVC`
    transduction_, label_distributions_ : see `TransductiveSVC`
    method_, objective_, n_iter_, termination_condition_, history_, supervised_agreement_ : see `TransductiveSVC`
    calibration_temperature_, calibration_smoothing_ : see `TransductiveSVC`
    n_features_in_ : int
        Number of features of X. With "precomputed": number of rows of `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had names in `fit`.

    Warns
    -----
    DataWarning
        If the graph is not connected: labels do not spread between its components. For other warnings see
        `TransductiveSVC`.
    FewlabelWarning
        If "auto" cannot compare kernels because no class has two labels. It then uses "graph".

    See Also
    --------
    GraphKernelFeatures : The features alone, with more options.
    TransductiveSVC : For text and other rows with many features.
    sklearn.semi_supervised.LabelSpreading : Spreads labels along the graph, without a margin.

    Notes
    -----
    "auto" compares kernels by up to twelve fits of the labeled and at most 2,000 unlabeled rows: for each kernel, one
    fit of all labels, and up to five without a fifth of them. The larger sum of the two numbers of `kernel_scores_`
    decides.

    Features are computed, and kernels compared, with equal weight of all rows whose `sample_weight` is above 0. Its
    values have an effect on the final classifier only. With "precomputed" all rows have equal weight.

    Kernels other than "graph" use `n_components` rows as a basis (Williams and Seeger, NIPS 2000): rows drawn at
    random, or, for "precomputed", the pivots of a Cholesky factor.

    With "graph", `predict` uses the Nyström extension for rows that were not in `fit`, see `GraphKernelFeatures`. With
    other kernels it is exact. Save models with pickle or joblib; `save_model` supports linear models only.

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
    >>> model.kernel_, bool(np.mean(model.transduction_ == moon) > 0.98)
    ('graph', True)
    """

    random_state: Any = None
    kernel: Any = "auto"
    gamma: Any = "scale"
    n_neighbors: int = 5
    n_components: int | None = None

    _takes_columns: ClassVar = False

    def _training_features(self, X: Any, y: Any, sample_weight: Any, warm: bool) -> Any:
        if warm:
            self._check_unchanged()
            self._made = _Made(self._settings(), self.kernel_, self.features_, self.kernel_scores_)
            if self.features_ is not None:
                return self._features(X)
            return super()._training_features(X, y, sample_weight, warm)
        self._check_kernel()
        maker = None if self.kernel == "auto" else self._maker(self.kernel)
        self._made = _Made(self._settings(), self.kernel, maker)
        if maker is None and self.kernel != "auto":
            return super()._training_features(X, y, sample_weight, warm)
        X = self._rows(X, y, reset=True)
        if (self.n_components or 0) > X.shape[0]:
            raise ValueError(f"n_components is {self.n_components}, but X has {X.shape[0]} rows: use at most as many")
        kept = self._kept(sample_weight, X.shape[0])
        return self._chosen_features(X, y, kept) if maker is None else self._fitted_features(maker, X, kept)

    def _kept(self, sample_weight: Any, n: int) -> np.ndarray | None:
        """The rows of a weight above 0, which make features; None: all rows."""
        weights = _weights.check_sample_weight(sample_weight, n)
        if weights is None or weights.all() or self.kernel == "precomputed":
            return None
        return np.flatnonzero(weights)

    def _chosen_features(self, X: Any, y: Any, kept: np.ndarray | None) -> np.ndarray:
        """The features of the kernel with the best score."""
        given = _labels.read(y, self.unlabeled, weak=True)
        check_consistent_length(X, given.labeled)
        if kept is not None:
            given = _labels.read(_safe_indexing(y, kept), self.unlabeled, weak=True)
        _labels.encode(given)  # refuses labels before features take time
        makers = {name: self._maker(name) for name in _CANDIDATES}
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            features = {name: self._fitted_features(maker, X, kept) for name, maker in makers.items()}
        compared = features if kept is None else {name: rows[kept] for name, rows in features.items()}
        scores = _kernel_choice.scores(self._linear(), compared, given)
        best = max(_CANDIDATES, key=lambda name: sum(scores[name])) if scores else _CANDIDATES[0]
        self._made = _Made(self._settings(), best, makers[best], scores)
        if not scores:
            _advice.warn(
                'kernel="auto" needs two labels of a class to compare kernels, and uses "graph": label more rows, or '
                "choose a kernel."
            )
        for warning in warned if best == "graph" else ():
            _advice.warn(str(warning.message), warning.category)
        return features[best]

    def _fitted_features(self, maker: Any, X: Any, kept: np.ndarray | None) -> np.ndarray:
        """Fit a transformer to the kept rows; the features (n, m) of all rows."""
        self._check_memory(maker, X)
        fitted = X if kept is None else X[kept]
        if isinstance(maker, Nystroem):
            maker.set_params(gamma=self._resolved_gamma(fitted), n_components=min(fitted.shape[0], maker.n_components))
        features = interruptible(lambda: maker.fit_transform(fitted))
        return np.ascontiguousarray(features if kept is None else interruptible(lambda: maker.transform(X)))

    def _features(self, X: Any) -> Any:
        if self.features_ is None:
            return super()._features(X)
        rows = self._columns(X) if _is_precomputed(self.features_) else self._rows(X)
        return interruptible(lambda: self.features_.transform(rows))

    def _keep(self, classes: np.ndarray, tree: _hierarchy.Tree | None, fitted: _fit.Fitted) -> None:
        super()._keep(classes, tree, fitted)
        self._made_with, self.kernel_, self.features_, self.kernel_scores_ = self.__dict__.pop("_made")
        if self.features_ is not None:  # these warnings are about the features, which have such scales by design
            warned = fitted.report["warnings"]
            warned[:] = [warning for warning in warned if warning["kind"] not in _OF_SCALES]

    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("kernel", "gamma", "n_neighbors", "n_components")}

    def _check_unchanged(self) -> None:
        """Refuse a warm start with other features than those of the fitted model."""
        changed = [name for name, value in self._settings().items() if value != self._made_with[name]]
        if changed:
            raise ValueError(
                f"warm_start=True keeps the features of the fitted model, but {', '.join(changed)} changed: set "
                "warm_start=False to fit others"
            )

    def _check_kernel(self) -> None:
        if not (callable(self.kernel) or (isinstance(self.kernel, str) and self.kernel in _KERNELS)):
            names = ", ".join(f'"{name}"' for name in _KERNELS)
            raise ValueError(f"kernel must be one of {names} or a callable, got {self.kernel!r}")
        if self.n_components is not None:
            _numbers.check_count("n_components", self.n_components)

    def _maker(self, kernel: Any) -> Any:
        """The unfitted transformer, or None if the kernel needs none."""
        m = self.n_components or (_GRAPH_COMPONENTS if kernel == "graph" else _COMPONENTS)
        seed = 0 if self.random_state is None else self.random_state
        if callable(kernel):
            return GramFeatures(kernel, m, seed)
        return {
            "graph": GraphKernelFeatures(n_neighbors=self.n_neighbors, n_components=m, n_jobs=self.n_jobs),
            "rbf": Nystroem(n_components=m, random_state=seed),
            "linear": None,
            "precomputed": GramFeatures(None, m),
        }[kernel]

    def _resolved_gamma(self, X: Any) -> float:
        if isinstance(self.gamma, str) and self.gamma == "scale":
            mean = X.mean()
            squares = X.multiply(X).mean() if sp.issparse(X) else np.mean(np.square(X, dtype=np.float64))
            variance = float(squares - mean * mean)
            return 1 / (X.shape[1] * variance) if variance > 0 else 1.0
        return _numbers.check_positive("gamma", self.gamma, otherwise='"scale" or ')

    def _rows(self, X: Any, y: Any = "no_validation", reset: bool = False) -> Any:
        X = _data.rows_of(self, X, reset=reset, y=y)
        _data.check_finite(X, below=_data.HUGE)
        return _dense(X) if reset and self.kernel == "precomputed" else X

    def _columns(self, X: Any) -> np.ndarray:
        """Check the kernel of new rows with those of fit."""
        X = _data.admitted(X)
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False)
        _data.check_finite(X, below=_data.HUGE)
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                'as input: with kernel="precomputed" a row has its kernel with each row of fit'
            )
        return _dense(X)

    def _check_memory(self, maker: Any, X: Any) -> None:
        """Refuse features that do not fit into memory, for transformers that do not check it."""
        if isinstance(maker, GraphKernelFeatures):
            return
        n, m = X.shape[0], min(X.shape[0], maker.n_components)
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
