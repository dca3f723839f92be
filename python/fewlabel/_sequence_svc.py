"""SequenceSVC: a linear chain for label sequences."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from fewlabel import _chain, _progress
from fewlabel._compat import ClassifierMixin, Self
from fewlabel._estimator import Estimator
from fewlabel._inputs import _data, _markers, _numbers, _targets, _weights
from fewlabel._native import _fit, _library, _scores, _views
from fewlabel._warnings import DataWarning, warn

_MOST_TAGS = 1000  # the time grows with the square: 20 steps of 800 tokens of 400 tags took 12 s
_OPTIONS = ("alpha", "loss", "rho", "max_iter", "method", "unlabeled_weight", "penalty_weight")


@dataclass(kw_only=True, eq=False, repr=False)
class SequenceSVC(ClassifierMixin, Estimator):
    """Linear-chain model that labels the tokens of sequences, such as the words of sentences.

    Tags y of a sequence have the score Σ_t coef_[y_t] · x_t + Σ_t>1 transitions_[y_t-1, y_t] + start_[y_1] + end_[y_T],
    and the tags with the largest score are predicted (Viterbi's algorithm). Tokens without a label are allowed.

    Parameters
    ----------
    loss : {"softmax_margin", "crf", "soft_hinge"}, default="softmax_margin"
        Loss of a sequence. "softmax_margin": log Σ_y exp(s(y) + Δ(y)) minus the score of the right tags, with the
        number Δ(y) of wrong tags at labeled tokens. "crf": the same without Δ, the negative log-likelihood of a
        conditional random field. "soft_hinge": "softmax_margin" of scores and Δ times `rho`, divided by `rho`.
    alpha : float, default=1e-7
        Strength of the regularization ½‖w‖², above 0, beside the mean loss of the labeled tokens.
    rho : float, default=10
        Sharpness of "soft_hinge", above 0 and at most 100; large values approach the hinge.
    forbidden_transitions : "iob" or iterable of (tag or None, tag or None), default=()
        Pairs of tags in which the second must not follow the first; None means the start or the end of a sequence.
        "iob": the pairs that IOB2, BIOES and BILOU tags forbid, such as "I-PER" after "O".
    unlabeled : as in `TransductiveSVC`
    method : {"supervised", "gradient", "posterior"}, default="supervised"
        How sequences without any label are used. "supervised": not at all. "gradient": through the margin between their
        best and second-best tags. "posterior": through tag distributions that match `class_prior`. They get as many
        epochs as the labeled sequences, afterwards.
    unlabeled_weight : float or "auto", default="auto"
        Weight of the averaged loss of sequences without any label, 0 to 1e6. "auto": min(1, u/(20 l)) for l labeled
        tokens and u tokens in such sequences. "gradient" increases it from epoch to epoch.
    class_prior : "labels", array-like of shape (n_tags,) or dict, default="labels"
        Share of each tag among the tokens of sequences without any label, for "posterior". "labels": the shares of the
        labeled tokens. Otherwise shares in the order of `classes_`, or a dict from tag to share, which sum to 1.
    penalty_weight : float, default=1e4
        Weight of half the squared distance from the `class_prior`, above 0. Smaller values enforce it less strictly.
    max_iter : int, default=10
        Number of epochs; a `method` for unlabeled sequences takes up to as many more, fewer where these have fewer
        tokens than the labeled ones.
    n_jobs : as in `TransductiveSVC`
    random_state : int, RandomState instance or None, default=None
        Seed. None means a fixed seed.
    warm_start, verbose : as in `TransductiveSVC`

    Attributes
    ----------
    classes_ : ndarray of shape (n_tags,), sorted tags without the marker
    coef_ : ndarray of shape (n_tags, n_features), weights of the features
    transitions_ : ndarray of shape (n_tags, n_tags)
        Score of the tag in the column after that in the row; -inf where forbidden.
    start_, end_ : ndarray of shape (n_tags,), scores of the first and of the last tag
    n_iter_, objective_ : number of epochs; final value, see the page on label sequences
    termination_condition_ : str, always "epochs"
    history_ : dict of str to ndarray of shape (`n_iter_`,)
        "objective": the mean loss of each epoch, measured before the step on each sequence.
    n_features_in_, feature_names_in_ : number and names of the features

    Examples
    --------
    >>> from fewlabel import SequenceSVC
    >>> X = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    >>> model = SequenceSVC().fit(X, ["O", "B", "O", "B", "I"], lengths=[2, 3])
    >>> model.predict(X, lengths=[2, 3])
    array(['O', 'B', 'O', 'B', 'I'], dtype='<U1')
    """

    loss: Literal["softmax_margin", "crf", "soft_hinge"] = "softmax_margin"
    alpha: float = 1e-7
    rho: float = 10.0
    forbidden_transitions: Literal["iob"] | Iterable[tuple[Any, Any]] = ()
    unlabeled: Any = "auto"
    method: Literal["supervised", "gradient", "posterior"] = "supervised"
    unlabeled_weight: float | Literal["auto"] = "auto"
    class_prior: Literal["labels"] | Sequence[float] | np.ndarray | Mapping[Any, float] = "labels"
    penalty_weight: float = 1e4
    max_iter: int = 10
    n_jobs: int | None = None
    random_state: Any = None
    warm_start: bool = False
    verbose: int = 0

    def fit(self, X: Any, y: Any, lengths: Any = None) -> Self:
        """Fit the model to sequences.

        Parameters
        ----------
        X : {array-like, sparse matrix or array} of shape (n_tokens, n_features), or list of such
            Features of the tokens: all sequences concatenated, or one matrix per sequence.
        y : array-like of shape (n_tokens,), or list of such
            Tags, likewise. Tokens without one have the marker `unlabeled`; a set holds the tags that a token may have.
        lengths : array-like of shape (n_sequences,) or None, default=None
            Number of tokens of each sequence, 0 or more. None: X or y is a list of sequences, or there is only one.
        """
        X, y, tokens = _chain.flat(X, y, lengths)
        rows = _data.training_rows(self, X, reset=not self._is_warm())
        rows = rows if sp.issparse(rows) else sp.csr_array(rows)
        targets = _targets.one_a_row(y, self.unlabeled)
        if targets.described.any():
            raise ValueError("y has a Description, which tokens cannot have: give the tokens labels")
        _chain.check_tokens(rows.shape[0], targets.codes)
        tokens = _chain.checked(tokens, rows.shape[0])
        labels = _chain.with_certain_tags(targets)
        if (n_tags := len(labels.classes)) > _MOST_TAGS:
            raise ValueError(f"y has {n_tags} tags, and every pair of tags has a weight: {_MOST_TAGS} at most")
        start = self._start(labels.classes, "tags")
        lengths, allowed = tokens[tokens > 0], _chain.allowed_tags(labels)
        given = _views.rows(rows), lengths, len(lengths), labels.codes, allowed
        forbidden = self._forbidden(labels.classes)
        _check_transitions(labels, tokens, forbidden)
        options = self._options() | {"forbidden_transitions": forbidden, "class_prior": self._class_prior(labels)}
        train = partial(_library.call, "fewlabel_sequence_fit", *given)
        with _progress.shown(type(self).__name__, self.verbose, "sequences") as show:
            fitted = _fit.trained(train, options, (show,), start)[0]
        self._keep_model(labels.classes, fitted)
        self.history_ = fitted.history
        _warn_of_labels(labels, tokens, self.method)
        return self

    def predict(self, X: Any, lengths: Any = None, *, allowed: Any = None) -> Any:
        """Predicted tags of the tokens: an array, or a list with one array per sequence if X is a list.

        Parameters
        ----------
        X : {array-like, sparse matrix or array} of shape (n_tokens, n_features), or list of such
        lengths : array-like of shape (n_sequences,) or None, default=None
        allowed : array-like of bool of shape (n_tokens, n_tags), list of such, or None, default=None
            Which tags a token may have, in the order of `classes_`. None: all.
        """
        _data.check_order(X=X, allowed=allowed)
        scores, tokens = self._scores(X, lengths)
        if allowed is not None:
            scores = np.where(_chain.mask(allowed, scores.shape), scores, -np.inf)
        tags = _chain.best_tags(scores, self._weights(), tokens, _numbers.threads(self.n_jobs))
        return _chain.as_given(X, self.classes_[tags], tokens)

    def decision_function(self, X: Any, lengths: Any = None) -> np.ndarray:
        """Score of the best tags of each sequence, and its margin over the second best, an array (n_sequences, 2).

        The margin is infinite if only one sequence of tags is possible, or if there is no token.

        Parameters
        ----------
        X, lengths : as in `predict`
        """
        return np.column_stack([*self._decoded(X, lengths, "scores", "margins")[0].values()])

    def predict_marginals(self, X: Any, lengths: Any = None) -> Any:
        """Marginal probability of every tag at each token, where tags y have probability exp(s(y)) / Σ_y' exp(s(y')).

        An array (n_tokens, n_tags) in the order of `classes_`, or a list of such if X is a list.

        Parameters
        ----------
        X, lengths : as in `predict`
        """
        found, tokens = self._decoded(X, lengths, "marginals")
        return _chain.as_given(X, found["marginals"], tokens)

    def score(self, X: Any, y: Any, lengths: Any = None) -> float:
        """Share of the labeled tokens whose tag is predicted correctly; a ValueError if there is none.

        Parameters
        ----------
        X, y, lengths : as in `fit`
        """
        check_is_fitted(self)
        X, y, lengths = _chain.flat(X, y, lengths)
        given = _targets.one_a_row(y, _markers.of_model(self.unlabeled, self.classes_), whole=False)
        if not given.labeled.any():
            raise ValueError("no token to score: every label in y is a marker (see the parameter `unlabeled`)")
        _markers.warn_of_names(given.values.tolist(), self.classes_.tolist())
        tags = self.predict(X, lengths)
        _chain.check_tokens(len(tags), given.labeled)
        return float(np.mean(tags[given.labeled] == given.values))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # a row is a token, which has no meaning without its neighbors
        return tags

    def _scores(self, X: Any, lengths: Any) -> tuple[np.ndarray, np.ndarray]:
        """Scores of the tags at each token, and the lengths of the sequences."""
        check_is_fitted(self)
        X, _, tokens = _chain.flat(X, None, lengths)
        X = _data.rows_of(self, X, reset=False) if _chain.n_tokens(X) else np.empty((0, self.n_features_in_))
        tokens = _chain.checked(tokens, X.shape[0])
        return _scores.scores(X, self.coef_, np.zeros(len(self.coef_)), self.n_jobs), tokens

    def _decoded(self, X: Any, lengths: Any, *wanted: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
        scores, tokens = self._scores(X, lengths)
        return _chain.decode(scores, self._weights(), tokens, _numbers.threads(self.n_jobs), wanted), tokens

    def _keep_model(self, classes: np.ndarray, fitted: _fit.Fitted) -> None:
        (report, arrays), self.classes_ = fitted, classes
        self.coef_ = np.ascontiguousarray(arrays["coef"].reshape(-1, len(classes)).T)
        self.transitions_ = arrays["transitions"].reshape(len(classes), -1)
        self.start_, self.end_ = arrays["start"], arrays["end"]
        self._keep_end(report)

    def _assemble(self) -> int:
        return _chain.assemble(self._report(_markers.text(self.loss)), self._weights())

    def _weights(self) -> _chain.Weights:
        return _chain.Weights(self.coef_, self.transitions_, self.start_, self.end_)

    def _options(self) -> dict[str, Any]:
        options = self._library_options(_OPTIONS)
        if (seed := self.random_state) is not None:
            random = _numbers.seeded(seed)
            options["random_state"] = seed if random is not seed else random.randint(np.iinfo(np.int32).max)
        return options

    def _class_prior(self, labels: _targets.Targets) -> Any:
        """Shares of the tags; empty: the shares of the labeled tokens."""
        if isinstance(self.class_prior, str) and self.class_prior != "labels":
            raise ValueError(f"class_prior={self.class_prior!r} must be 'labels', shares, or a dict from tag to share")
        names = self.class_prior if isinstance(self.class_prior, Mapping) else ()
        _markers.check_keys(names, labels.classes, self.unlabeled, labels.minus_one, "class_prior")
        if unknown := {*names} - {*labels.classes.tolist()}:
            found = f"class_prior names {sorted(map(_markers.text, unknown))!r:.200}"
            raise ValueError(f"{found}, but y has {_markers.listed(labels.classes)}")
        shares = _weights.shares(self.class_prior, labels.classes, labels.totals())
        return np.array([]) if isinstance(shares, str) else shares

    def _forbidden(self, classes: np.ndarray) -> np.ndarray:
        """Pairs of tag numbers, flattened; -1 is the start or the end."""
        given = self.forbidden_transitions
        if not _numbers.has_entries(given) and not (isinstance(given, str) and given == "iob"):
            raise ValueError(f"forbidden_transitions must be 'iob' or a list of pairs of tags, got {given!r}")
        pairs = _chain.forbidden_by_iob(classes.tolist()) if isinstance(given, str) else [_pair(pair) for pair in given]
        numbers: dict[Any, int] = {tag: k for k, tag in enumerate(classes.tolist())} | {None: -1}
        known = [numbers[tag] for pair in pairs if all(tag in numbers for tag in pair) for tag in pair]
        return np.array(known, dtype=np.int64)


def _warn_of_labels(labels: _targets.Targets, tokens: np.ndarray, method: str) -> None:
    if len(labels.classes) == 1:
        found = f"all labeled tokens have the tag {labels.classes[0]}, so the model predicts it for every token"
        warn(f"{found}. Label a token of another one.", DataWarning)
    known = np.append(0, np.cumsum((labels.codes != _targets.UNLABELED) | labels.weak))[np.cumsum(np.append(0, tokens))]
    if method != "supervised" and np.diff(known)[tokens > 0].all():
        cure = "Append sequences without labels, their tokens marked by -1 or None in y"
        warn(f"no sequence is without a label, so method={method!r} has nothing to learn from. {cure}.", DataWarning)


def _check_transitions(labels: _targets.Targets, tokens: np.ndarray, forbidden: np.ndarray) -> None:
    n, before, after = len(labels.classes), labels.codes[:-1].astype(np.int64), labels.codes[1:]
    pairs, ends = forbidden.reshape(-1, 2), np.cumsum(tokens)
    used = np.isin(n * before + after, pairs[(pairs >= 0).all(axis=1)] @ [n, 1]) & (before >= 0) & (after >= 0)
    used[ends[(ends > 0) & (ends <= len(used))] - 1] = False
    if used.any():
        row = int(np.argmax(used)) + 1
        first, second = labels.classes[labels.codes[row - 1 : row + 1]].tolist()
        place = f"sequence {np.searchsorted(ends, row, side='right')}, row {row}"
        raise ValueError(f"labels of {place}: tag {second!r} after tag {first!r} is in forbidden_transitions")


def _pair(pair: Any) -> tuple[Any, Any]:
    tags = tuple(pair) if _numbers.has_entries(pair) else ()
    if len(tags) != 2 or not all(isinstance(tag, Hashable) for tag in tags) or tags == (None, None):
        raise ValueError(f"forbidden_transitions must hold pairs of tags, None for start or end; found {pair!r}")
    return tags
