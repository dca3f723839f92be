"""Code as users write it, for `mypy --strict` (test_types.py): it finds the mistakes, and nothing else."""

import numpy as np
from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]

import fewlabel
import fewlabel.dask
from fewlabel import KernelFeatures, SemiSupervisedLogisticRegression, SequenceSVC, TransductiveSVC
from fewlabel.inspection import check, top_features
from fewlabel.labels import Soft
from fewlabel.methods import Annealing, Posterior, Switching
from fewlabel.model_selection import SemiSupervisedSplit
from fewlabel.preprocessing import BlockScaler, text_vectorizer

X, y = np.eye(4), [0, 1, -1, -1]


class Mine(TransductiveSVC):
    def labels_of(self, rows: np.ndarray) -> list[int]:
        return [int(label) for label in self.fit(rows, y).predict(rows)]


def right_code() -> None:
    TransductiveSVC(alpha=1e-3, class_prior={"a": 0.2, "b": 0.8}, class_weight="balanced", n_jobs=2).fit(X, y)
    TransductiveSVC(method=Switching(balance="labels"), class_prior=[0.5, 0.5], hierarchy={"a": "top"})
    TransductiveSVC(class_prior=np.array([0.5, 0.5]), loss="hinge", unlabeled=None, alpha="auto")
    SemiSupervisedLogisticRegression(method=Posterior(kl_weight=0.2)).fit(X, y, sample_weight=[1, 1, 1, 1])
    model = SemiSupervisedLogisticRegression(method="entropy").set_params(tol=1e-4).fit(X, Soft(X))
    print(model.predict_proba(X).shape, model.coef_.T @ X, model.classes_.tolist(), model.n_features_in_)
    print(model.class_prior_.sum(), model.termination_condition_.upper(), model.get_params()["alpha"])
    print(Mine().fit(X, y).labels_of(X), fewlabel.estimate_class_prior(X, y).as_dict())
    print(make_pipeline(text_vectorizer(), TransductiveSVC().set_fit_request(sample_weight=True)))
    print(check(model, X, y).verdict, top_features(model).features, fewlabel.__version__)
    print(fewlabel.dask.fit(None, Mine(), X, y).labels_of(X), fewlabel.load_model("path").anything)
    for train, test in SemiSupervisedSplit(5).split(X, y):
        print(train.sum() + test.sum(), KernelFeatures(kernel="rbf", gamma=0.1).fit_transform(X))
    print(SequenceSVC(loss="crf").fit(X, y, lengths=[4]).transitions_.shape, BlockScaler().fit(X).scale_)


def mistakes() -> None:
    TransductiveSVC(method="anealing")  # error: arg-type
    TransductiveSVC(method="entropy")  # error: arg-type
    TransductiveSVC(method=Posterior())  # error: arg-type
    TransductiveSVC(loss="maxent")  # error: arg-type
    TransductiveSVC(class_prior="label")  # error: arg-type
    TransductiveSVC(class_prior=["a", 0.5])  # error: list-item
    TransductiveSVC(class_weight="balance")  # error: arg-type
    TransductiveSVC(alpha="1e-3")  # error: arg-type
    TransductiveSVC(n_jobs="all")  # error: arg-type
    TransductiveSVC(aplha=1e-3)  # error: call-arg
    SemiSupervisedLogisticRegression(loss="hinge")  # error: call-arg
    SemiSupervisedLogisticRegression(method=Switching(max_switch=1))  # error: call-arg
    Annealing(balance="means")  # error: arg-type
    SequenceSVC(loss="hinge")  # error: arg-type
    KernelFeatures(kernel="linear")  # error: arg-type
    TransductiveSVC().fit(X)  # error: call-arg
    TransductiveSVC().fit(X, y).predicts(X)  # error: attr-defined
    print(TransductiveSVC().set_params(tol=1).fit(X, y).coeff_)  # error: attr-defined
    Mine().fit(X, y).label_of(X)  # error: attr-defined
    print(SequenceSVC().fit(X, y).transition_)  # error: attr-defined
    print(BlockScaler().fit(X).scale)  # error: attr-defined
    SemiSupervisedSplit().splits(X)  # error: attr-defined
    print(check(TransductiveSVC(), X, y).verdicts)  # error: attr-defined
    fewlabel.TransductiveSVM()  # error: attr-defined
    fewlabel.dask.fit(None, TransductiveSVC(), X, y).predicts(X)  # error: attr-defined
