"""Model files and files of sessions of every kind, and what they give: `python python/tests/kept_files.py`, once for a
release, writes those of its version to python/tests/kept. Later versions read them, see test_kept_files.py."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from planted import GROUP, many_topics, text_like
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from fewlabel import (
    ASOTransformer,
    SemiSupervisedLogisticRegression,
    SequenceSVC,
    TransductiveSVC,
    __version__,
    load_model,
    save_model,
)
from fewlabel._native import _library
from fewlabel.labeling import Session
from fewlabel.methods import Annealing

KEPT = Path(__file__).parent / "kept"
EXPECTED = "expected.json"
ROWS = 20  # of the predictions, for a chain in sequences of five
TEXTS = [f"{a} {b}" for a in ("red", "old", "fast", "cold", "new") for b in ("wine", "car", "beer", "bus")]
CALLS = ("predict", "decision_function", "predict_marginals", "transform", "predict_proba")


def models() -> Iterator[tuple[str, Any]]:
    """Fitted estimators by the names of their files."""
    X, y, _ = text_like(n=120, d=14)
    many, labels, _ = many_topics(n=120, d=14)
    frame = pd.DataFrame(X.toarray(), columns=[f"word {j} é" for j in range(14)])
    options = {"class_prior": {"ham": 0.6, "späm": 0.4}, "unlabeled": "?", "calibrate": True}
    yield "texts", TransductiveSVC(**options).fit(frame, np.array(["ham", "späm", "?"])[y])
    yield "tree", TransductiveSVC(hierarchy=GROUP, method=Annealing(balance="share"), max_iter=90).fit(many, labels)
    floats = np.where(y < 0, np.nan, y)
    yield "floats", SemiSupervisedLogisticRegression(unlabeled=np.nan, method="posterior").fit(X, floats)
    bools = np.array([False, True, None], dtype=object)[y]
    yield "bools", SemiSupervisedLogisticRegression(calibrate=False, n_jobs=2).fit(X, bools)
    yield "one_class", TransductiveSVC().fit(X, np.where(y == 1, -1, y))
    tags = np.array(["B", "I", "O", "B", "O"] * 24)
    tags[::7] = "?"
    yield "chain", SequenceSVC(unlabeled="?", forbidden_transitions=[("O", "I"), (None, "I")]).fit(X, tags, [5] * 24)
    yield "structure", ASOTransformer(n_components=2, structure_weight=2.5).fit(X)
    yield "groups", ASOTransformer(n_components=1, feature_groups=[*"ab"] * 7, output="structure").fit(X)


def session(path: Path, expected: dict[str, Any], **settings: Any) -> Session:
    """The session of a file: of texts, of vectors with descriptions, or of a data frame with names of rows."""
    rows, model = np.array(expected["rows"]), TransductiveSVC()
    if path.stem == "texts":
        return Session(expected["texts"], make_pipeline(CountVectorizer(), model), path=path, **settings)
    if path.stem == "vectors":
        return Session(rows, model, descriptions={1: rows[0], 2: rows[1]}, path=path)
    return Session(pd.DataFrame(rows, index=[f"é{k}" for k in range(len(rows))]), model, path=path)


def answer(folder: Path, expected: dict[str, Any]) -> None:
    """Write the files of sessions, with every form of event."""
    one = session(folder / "frame.jsonl", expected)
    for k in range(4):
        one.label(f"é{k}", k % 2 == 0)
    one = session(folder / "vectors.jsonl", expected)
    one.label(one.next(1)[0], 2)
    one.fit()
    given = {"drink": "wine, beer", "ride": "car, bus"}
    one = session(folder / "texts.jsonl", expected, descriptions=given)
    for _ in range(2):
        for row in one.next(5):
            one.label(row, "drink" if TEXTS[row].endswith(("wine", "beer")) else "ride")
    one.label(0, "Drink")
    one.rename("Drink", "drink")
    one.describe("ride", "a car or a bus")
    one.rule_out(19, "drink")
    one.skip(18)
    one.label(17, "ride")
    one.undo()
    one.fit()


def outcome(path: Path, expected: dict[str, Any]) -> dict[str, Any]:
    """What a file gives, as it stands in JSON."""
    if path.suffix == ".jsonl":
        one = session(path, expected)
        read, status = one._read(), one.status()
        held_out = [status.n_held_out, status.accuracy, status.lower, status.upper, status.changed]
        table = json.loads(one.to_frame().to_json(orient="split"))
        found = {"classes": one.classes, "drawn": [*read.drawn], "held_out": held_out, "table": table}
        described = {str(name): text for name, text in read.descriptions.items()}
        return json.loads(json.dumps(found | {"descriptions": described}))
    model, X = load_model(path), sp.csr_matrix(expected["rows"])
    about = {"estimator": type(model).__name__, "classes": str(getattr(model, "classes_", None))}
    for name in ("n_iter_", "termination_condition_", "hierarchy_", "feature_names_in_"):
        about[name] = str(getattr(model, name, None))
    if about["feature_names_in_"] != "None":
        X = pd.DataFrame.sparse.from_spmatrix(X, columns=model.feature_names_in_)
    more = ([5] * (ROWS // 5),) if isinstance(model, SequenceSVC) else ()
    found = {name: getattr(model, name)(X, *more) for name in CALLS if hasattr(model, name)}
    return about | {name: (a.toarray() if sp.issparse(a) else a).tolist() for name, a in found.items()}


def write(folder: Path) -> None:
    """Write the files of this version and what they give."""
    folder.mkdir(parents=True)
    expected: dict[str, Any] = {"texts": TEXTS, "rows": text_like(n=120, d=14).X[:ROWS].toarray().tolist()}
    for name, model in models():
        save_model(model, folder / f"{name}.safetensors")
        if name in ("tree", "chain", "groups"):  # as a program in C writes them
            with _library.released(model._assemble()) as handle:
                _library.call("fewlabel_save", handle, str(folder / f"c_{name}.safetensors").encode(), None)
    answer(folder, expected)
    files = {path.name: outcome(path, expected) for path in sorted(folder.iterdir())}
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in (expected | files).items()]
    (folder / EXPECTED).write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of few labels
    with tempfile.TemporaryDirectory(dir=KEPT.parent) as place:
        write(Path(place) / __version__)
        KEPT.mkdir(exist_ok=True)
        (Path(place) / __version__).rename(KEPT / __version__)
