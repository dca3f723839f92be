"""The readers of model files agree on damaged files whose checksum is right.

Mutations of good files go to the library, to `load_model`, to the reader that needs no library and to the safetensors
package: what the library loads must be a sound file for the package, with the same values, and a model that can be
used; the reader without it takes and refuses the same classifiers. FEWLABEL_MUTATIONS is their number (`make stress`:
10,000), FEWLABEL_SEED another sequence of them.
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import hashlib
import itertools
import json
import math
import os
import random
import struct
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from planted import GROUP, many_topics, text_like
from safetensors import SafetensorError
from test_model_file import by_package

import fewlabel
from fewlabel import ASOTransformer, SequenceSVC, TransductiveSVC, _model_file, load_model, save_model
from fewlabel._native import _fit, _library
from fewlabel.methods import Annealing

COUNT = int(os.environ.get("FEWLABEL_MUTATIONS", "400"))
SEED = int(os.environ.get("FEWLABEL_SEED", "1"))

# Values in the place of others, as they would stand in JSON.
WORDS = r"""
null true false 0 1 -1 -0 2 3 1.0 1e0 0.5 -0.0 5e-324 1e999 NaN Infinity nan 2147483647 2147483648 9223372036854775807
9223372036854775808 -9223372036854775809 01 +1 1_000 "" "linear" "chain" "Linear" 'a' "é" "\ud83d\ude00" "\ud83d"
"\uD83D\\ude00" "\u12" "nan" "0.8" "F32" "f64" [0,8] [0,0] [8,0] [-8,8] [0,null] [0,8,8] [null] [1] [1,1] [0] [2,-1]
{} [] [[]] [{}] {"":0} {"a":1,"a":1} {"a":1,"\u0061":2} {"float":"nan"} {"float":1} {"float":"x"} {"dict":[]}
{"dict":[["a",1],["a",2]]} {"dict":[["a","b"],["b","a"]]} {"method":{"method":"annealing"}} {"method":"x"}
{"kind":"a","values":{},"text":""} [{"kind":"a","values":{"x":null},"text":""}]
{"dtype":"int64","values":[0,1]} {"dtype":"int8","values":[0,300]} {"dtype":"int64","values":[1,0]}
{"dtype":"int64","values":[0.5,1]} {"dtype":"U999999999","values":["a","b"]} {"dtype":"object","values":[0,"a"]}
"""
HOSTILE = [*WORDS.split(), "9" * 400, "1" + "0" * 5000, "[" * 100_000]
HOSTILE += ["[" * n + "]" * n for n in (60, 61, 62, 63, 64, 1100, 200_000)]
BYTES = [*b"\xff \xc3 \xed\xa0\x80 \xc0\x80 \xef\xbb\xbf //".split(), *(bytes([b]) for b in b'\0 \n,:"\\{}[]-1e.')]


class Parts:
    """A file in parts that can be changed, and put together with a right checksum."""

    def __init__(self, file: bytes) -> None:
        length = struct.unpack_from("<Q", file)[0]
        self.data = file[8 + length :]
        sum_ = hashlib.sha256(self.data).hexdigest().encode()
        self.header = file[8 : 8 + length].replace(sum_, b"SUM")

    def file(self) -> bytes:
        header = self.header.replace(b"SUM", hashlib.sha256(self.data).hexdigest().encode())
        return struct.pack("<Q", len(header)) + header + self.data


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container inside a JSON value, with each of its keys."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, item in list(items) for place in [(value, key), *places(item)]]


def changed_text(chance: random.Random, text: str) -> str:
    """A JSON text with one place changed, or a place in a text inside it."""
    value = json.loads(text)
    about = value.get("__metadata__")
    if about and chance.random() < 0.6:
        about["description"] = changed_text(chance, about["description"])
        return json.dumps(value)
    (parent, key), change = chance.choice(places(value)), chance.choice(["value", "value", "gone", "name", "more"])
    here, with_what = "@here@", chance.choice(HOSTILE)
    if change == "value":
        parent[key] = here
    elif change == "gone":
        del parent[key]
    elif isinstance(parent, list):
        parent.insert(key, here)
    elif change == "more":
        parent["more"] = here
    else:  # another name, or one twice
        parent[here] = parent[key] if chance.random() < 0.5 else parent.pop(key)
        with_what = json.dumps(chance.choice([key, key.upper(), key + " ", "ſ" + key[1:]]))
    return json.dumps(value, ensure_ascii=chance.random() < 0.5).replace(f'"{here}"', with_what)


def a_place_of_the_header(chance: random.Random, parts: Parts) -> None:
    parts.header = changed_text(chance, parts.header.decode()).encode("utf-8", "surrogatepass")


def bytes_of_the_header(chance: random.Random, parts: Parts) -> None:
    first = chance.choice([0, len(parts.header), chance.randrange(len(parts.header))])
    end = first + chance.choice([0, 0, 1, 1, 2, 9])
    with_what = chance.choice([*BYTES, bytes([chance.randrange(256)]), parts.header[end : end + 7]])
    parts.header = parts.header[:first] + with_what + parts.header[end:]


def values(chance: random.Random, parts: Parts) -> None:
    at = 8 * chance.randrange(len(parts.data) // 8)
    value = chance.choice([math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7976931348623157e308, 1.0, 2.0, 0.5])
    more = chance.choice([*12 * [b""], b"x", bytes(8)])
    parts.data = parts.data[:at] + struct.pack("<d", value) + more + parts.data[at + chance.choice([8, 8, 8, 9, 16]) :]


def order_of_the_values(chance: random.Random, parts: Parts) -> None:
    header, data = json.loads(parts.header), b""
    for name in chance.sample(sorted(header.keys() - {"__metadata__"}), len(header) - 1):
        first, end = header[name]["data_offsets"]
        header[name]["data_offsets"] = [len(data), len(data) + end - first]
        data += parts.data[first:end]
    parts.header, parts.data = json.dumps(header).encode(), data


MUTATIONS = [*4 * [a_place_of_the_header], bytes_of_the_header, values, order_of_the_values]


@pytest.fixture(scope="module")
def good_files(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    path = tmp_path_factory.mktemp("good") / "model"
    data, many = text_like(), many_topics()
    frame = pd.DataFrame(data.X.toarray()[:, :9], columns=[f"é{j}" for j in range(9)])
    warnings.simplefilter("ignore")  # of small data
    models = [
        TransductiveSVC(alpha=2e-3, unlabeled="?", class_weight={"a": 1, "b": 2.5}, method=Annealing()).fit(
            frame, np.array(["a", "b", "?"])[data.y]
        ),
        fewlabel.SemiSupervisedLogisticRegression(hierarchy=GROUP, calibrate=True).fit(many.X[:, :20], many.y),
        SequenceSVC(forbidden_transitions="iob", unlabeled="?").fit(
            frame[:8], ["B", "I", "O", "?", "B", "O", "O", "B"], lengths=[4, 3, 1]
        ),
        ASOTransformer(n_components=2, structure_weight=0.5, feature_groups=np.arange(9) % 2).fit(frame),
    ]
    files = []
    for model in models:
        save_model(model, path)
        files.append(path.read_bytes())
        with _library.released(model._assemble()) as handle:
            _library.call("fewlabel_save", handle, str(path).encode(), b'{"note": ["\\u00e9", 1e3, null]}')
        files.append(path.read_bytes())
    return files


def by_library(path: Path) -> _fit.Fitted:
    handle = ctypes.c_int64()
    _library.call("fewlabel_load", str(path).encode(), handle)
    with _library.released(handle.value) as loaded:
        return _fit.read(loaded)


def by_numpy(path: Path) -> _fit.Fitted | None:
    """As where there is no library; None for other kinds than classifiers."""
    with contextlib.suppress(RuntimeError):
        return _model_file._of_linear(path, RuntimeError())
    return None


def outcome(read: Any, path: Path) -> Any:
    """What a reader gives, or why it refuses."""
    try:
        return read(path)
    except (ValueError, SafetensorError) as refusal:
        return str(refusal)


def difference(path: Path) -> tuple[str, Any]:
    """What became of a file, and how the readers differ on it; None if they agree."""
    library, model, numpy, package = (outcome(read, path) for read in (by_library, load_model, by_numpy, by_package))
    if isinstance(library, str):
        same = library == model and str(path) in library and (numpy is None or isinstance(numpy, str))
        return "refused", None if same else (library, model, numpy)
    if isinstance(package, str):
        return "loaded", package  # it is no safetensors file
    if bits(package[0]) != bits(library.arrays):
        return "loaded", (library.arrays, package)
    if "n_classes" in library.report:
        if isinstance(numpy, str) or bits(numpy.arrays) != bits(library.arrays):
            return "loaded", (library, numpy)
        if any(repr(library.report[name]) != repr(value) for name, value in numpy.report.items()):
            return "loaded", (library.report, numpy.report)
    elif numpy is not None:
        return "loaded", numpy
    if isinstance(model, str):  # the metadata is none of its own
        return "metadata refused", None if "estimator" in library.report["metadata"] and str(path) in model else model
    return "loaded", None if usable(model, path.with_name("again")) else vars(model)


def bits(arrays: dict[str, np.ndarray]) -> dict[str, bytes]:
    return {name: a.tobytes() for name, a in arrays.items()}


def usable(model: Any, path: Path) -> bool:
    """Whether a model can be saved again and works on rows."""
    save_model(model, path)
    rows = np.ones((2, model.n_features_in_))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # rows without names of features; weights that overflow
        if isinstance(model, ASOTransformer):
            return len(model.transform(rows)) == 2
        try:
            return set(model.predict(rows)) <= set(model.classes_)
        except ValueError as refusal:  # as many of the mutations forbid all paths or overflow
            return "has no path" in str(refusal) or "only numbers and -infinity" in str(refusal)


TENSORS = {"class_prior": [2], "coef": [2, 1], "intercept": [1]}
EMPTY = {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]}
LIES: dict[str, tuple[str, str]] = {  # by name: a part of the header of a small model, and what stands in its place
    "overlap": ("[16, 32]", "[8, 24]"), "gap": ("[32, 40]", "[40, 48]"), "behind the end": ("[32, 40]", "[32, 48]"),
    "negative": ("[0, 16]", "[-40, 16]"), "backwards": ("[0, 16]", "[16, 0]"), "minus zero": ("[0, 16]", "[-0, 16]"),
    "fraction": ("[0, 16]", "[0.0, 16]"), "true": ("[2, 1]", "[2, true]"), "text": ("[2, 1]", '["2", 1]'),
    "no offsets": ("[16, 32]", "[]"), "empty offsets": ("[16, 32]", '""'),
    "shape": ("[2, 1]", "[1, 2]"), "huge": ("[2, 1]", "[0, 4611686018427387904]"), "dtype": ("F64", "F32"),
    "null": ("[2, 1]", "null"), "tensor twice": ('"coef"', '"class_prior"'), "more": ('"dtype"', '"x": 1, "dtype"'),
    "twice": ('"dtype"', '"dtype": "F64", "dtype"'), "no metadata": ("__metadata__", "metadata"),
    "metadata more": ('"kind"', '"format": "np", "kind"'), "metadata null": ('"linear"', "null"),
    "kind": ("linear", "Linear"), "other kind": ("linear", "chain"), "blank": ("{", " {"), "list": ("{", "[{"),
    "checksum": ('"sha256": "', '"sha256": "0'), "sizes": ("n_classes", "n_tags"), "float": (": 2,", ": 2.0,"),
    "features": (": 2}", ": 3}"), "none": (": 2}", ": 0}"), "outputs": (": 2}", ': 2, \\"n_outputs\\": 2}'),
    "unknown": (": 2}", ': 2, \\"new\\": 2}'), "NaN": (": 2}", ': 2, \\"metadata\\": NaN}'),
    "levels": (": 2}", ': 2, \\"metadata\\": ' + "[" * 64 + "]" * 64 + "}"), "half": ("linear", "\\ud800"),
    "large": (": 2}", ': 2, \\"metadata\\": ' + "9" * 400 + "}"), "iterations": (": 2}", ': 2, \\"n_iter\\": 1.0}'),
    "warning": (": 2}", ': 2, \\"warnings\\": [null]}'), "objective": (": 2}", ': 2, \\"objective\\": true}'),
}  # fmt: skip


def small(tensors: dict[str, Any], metadata: dict[str, str] | None = None) -> bytes:
    description = json.dumps({"n_classes": 2, "n_features": 2})
    about = {"kind": "linear", "description": description, "sha256": "SUM"} | (metadata or {})
    header = json.dumps({"__metadata__": about, **tensors}).encode()
    return struct.pack("<Q", len(header)) + header + np.arange(5.0).tobytes()


def small_tensors(order: Any = TENSORS) -> dict[str, Any]:
    tensors, end = {}, 0
    for name in order:
        tensors[name] = EMPTY | {
            "shape": TENSORS[name],
            "data_offsets": [end, end := end + 8 * math.prod(TENSORS[name])],
        }
    return tensors


@pytest.mark.parametrize("lie", [None, *LIES])
def test_no_reader_takes_what_another_refuses(lie: str | None, tmp_path: Path) -> None:
    for order in itertools.permutations(TENSORS):
        path, parts = tmp_path / "model", Parts(small(small_tensors(order)))
        if lie is not None:
            old, new = (text.encode() for text in LIES[lie])
            assert old in parts.header or "[" in LIES[lie][0]  # where they lie depends on the order
            parts.header = parts.header.replace(old, new, 1)
        path.write_bytes(parts.file())
        changed = parts.header != Parts(small(small_tensors(order))).header
        assert difference(path) == ("refused" if changed else "loaded", None)


@pytest.mark.parametrize(("read", "n"), [(by_library, 10**5), (by_numpy, 10**4)])
def test_a_refusal_takes_no_longer_than_reading(read: Any, n: int, tmp_path: Path) -> None:
    path, spent = tmp_path / "model", 0.0
    much = {"n_classes": 2, "n_features": 2, "metadata": {str(k): 0 for k in range(n)}}
    for file in (
        small({f"t{k}": EMPTY for k in range(n)}),
        small(small_tensors(), {"description": json.dumps(much)}),
        small(small_tensors() | {"coef": EMPTY | {"shape": [1] * n}}),
    ):
        path.write_bytes(Parts(file).file()[:-1])
        spent -= time.process_time()
        assert isinstance(outcome(read, path), str)
        spent += time.process_time()
    assert spent < 2  # by the library it was 5


def test_the_readers_agree_on_mutations(good_files: list[bytes], tmp_path: Path) -> None:
    path, chance = tmp_path / "mutated", random.Random(SEED)
    seen: collections.Counter[str] = collections.Counter()
    differences = []
    for number in range(COUNT):
        parts, mutate = Parts(chance.choice(good_files)), chance.choice(MUTATIONS)
        mutate(chance, parts)
        path.write_bytes(parts.file())
        try:
            what, found = difference(path)
        except Exception:  # of another type than a refusal
            what, found = "failed", traceback.format_exc(limit=-2)
        seen[what] += 1
        if found is not None:
            differences.append(f"{number} {mutate.__name__}: {parts.header[:3000]!r}\n{found!s:.3000}")
    print(f"{COUNT} mutations: {dict(seen)}, {len(differences)} differences")
    assert not differences, f"{len(differences)} of {COUNT}:\n" + "\n\n".join(differences[:10])
    assert min(seen["refused"], seen["loaded"], seen["metadata refused"]) > COUNT // 50
    assert _library.library().fewlabel_live_handles() == 0
