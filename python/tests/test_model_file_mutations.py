"""The readers of model files agree on damaged files whose checksum is right.

Thousands of mutations of good files go to the library, to `load_model` and to the reader in docs/model-file.md: each
must load in all or in none, with the same values. FEWLABEL_MUTATIONS is their number (`make stress`: 10,000),
FEWLABEL_SEED another sequence of them.
"""

from __future__ import annotations

import collections
import ctypes
import json
import math
import os
import random
import struct
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from planted import GROUP, many_topics, text_like
from test_model_file import Sealed, reader

from fewlabel import (
    ASOTransformer,
    SemiSupervisedLogisticRegression,
    SequenceSVC,
    TransductiveSVC,
    load_model,
    save_model,
)
from fewlabel._native import _fit, _library
from fewlabel._native import _signatures as c
from fewlabel.methods import Annealing

COUNT = int(os.environ.get("FEWLABEL_MUTATIONS", "400"))
SEED = int(os.environ.get("FEWLABEL_SEED", "1"))

KINDS = reader()["KINDS"]


def sizes_of(kind: str) -> list[str]:
    return sorted({size for shape in KINDS[kind].values() for size in shape})


# Values in the place of others, as they would stand in JSON.
WORDS = r"""
null true false 0 1 -1 -0 2 3 1.0 1e0 0.5 -0.0 5e-324 1e-999 1E5 1e308 1e999 -1e999 NaN Infinity -Infinity nan
2147483647 2147483648 4294967297 9007199254740993 9223372036854775807 9223372036854775808 -9223372036854775808
-9223372036854775809 18446744073709551617 01 +1 .5 1. 1e 0x10 1_000
"" "linear" "chain" "structure" "Linear" "a" 'a' "é" "\u00e9" "\u0000" "\ud83d\ude00" "\ud83d" "\ude00" "\ud83d\u0041"
"\uD83D\\ude00" "\u12" "\x41" "\/\b\f" "nan" "0.8"
{} [] [[]] [null] [{}] {"":0} {"a":1,"a":1} {"a":1,"\u0061":2} {"a":1,"A":2}
{"float":"nan"} {"float":"inf"} {"float":1} {"float":"x"} {"dict":[]} {"dict":[["a",null]]}
{"dict":[["a",1],["a",2]]} {"dict":[["a","b"],["b","a"]]} {"method":{"method":"annealing"}} {"method":"x"}
{"kind":"a","values":{},"text":""} [{"kind":"a","values":{"x":1},"text":""}] [{"kind":"a","values":{}}]
[{"kind":"a","values":{"x":null},"text":""}] [{"kind":"a","values":{"x":true},"text":""}]
[{"kind":"a","values":{"x":1e400},"text":""}] [{"Kind":"a","values":{},"text":""}]
{"dtype":"int64","values":[0,1]} {"dtype":"int8","values":[0,300]} {"dtype":"int64","values":[1,0]}
{"dtype":"int64","values":[1,1]} {"dtype":"int64","values":[0.5,1]} {"dtype":"U999999999","values":["a","b"]}
{"dtype":null,"values":[0,1]} {"dtype":"object","values":[0,"a"]} {"dtype":"float64","values":[0,1]}
"""
HOSTILE = [
    *WORDS.split(),
    '"\t"',
    '"\u2028"',
    *("9" * n for n in (308, 309, 400)),
    "1" + "0" * 5000,
    "0." + "0" * 5000 + "1",
    *("[" * n + "]" * n for n in (60, 61, 62, 63, 64, 65, 66, 900, 1100, 9999, 10001, 200_000)),
    *('{"a":' * n + "1" + "}" * n for n in (62, 63, 70)),
    "[" * 100_000,
]
BYTES = [
    *(
        b"\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xc0\x80",
        b"\xf4\x90\x80\x80",
        b"\xef\xbb\xbf",
        b"\xc2\xa0",
        b"//",
        b"/**/",
    ),
    *(bytes([byte]) for byte in b'\0 \n\x0b,:"\\{}[]-1eE.'),
]


def paths_of(value: Any, path: tuple = ()) -> list[tuple]:
    """Every place inside a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, item in items for place in [(*path, key), *paths_of(item, (*path, key))]]


def parent_of(value: Any, path: tuple) -> Any:
    for key in path[:-1]:
        value = value[key]
    return value


def in_json(change: Callable[[random.Random, Any, Any], tuple[str, str] | None]) -> Callable:
    """A mutation that changes a place in the header; what it returns is replaced in the text afterwards."""

    def mutate(chance: random.Random, sealed: Sealed) -> None:
        value = json.loads(sealed.header)
        path = chance.choice(paths_of(value))
        swap = change(chance, parent_of(value, path), path[-1])
        text = json.dumps(value, ensure_ascii=chance.random() < 0.5)
        sealed.header = (text if swap is None else text.replace(*swap)).encode("utf-8", "surrogatepass")

    mutate.__name__ = change.__name__
    return mutate


@in_json
def another_value(chance: random.Random, parent: Any, key: Any) -> tuple[str, str]:
    parent[key] = "@here@"
    return '"@here@"', chance.choice(HOSTILE)


@in_json
def a_place_gone(_: random.Random, parent: Any, key: Any) -> None:
    del parent[key]


@in_json
def a_name_of_another_case(chance: random.Random, parent: Any, key: Any) -> None:
    if isinstance(key, str):
        parent[chance.choice([key.upper(), key.title(), key + " ", key[:-1], "ſ" + key[1:]])] = parent.pop(key)


@in_json
def a_name_twice(chance: random.Random, parent: Any, key: Any) -> tuple[str, str] | None:
    if not isinstance(key, str):
        return None
    again = chance.choice([key, key, "".join(f"\\u{ord(letter):04x}" for letter in key), key.upper()])
    parent["@here@"] = parent[key] if chance.random() < 0.5 else None
    return '"@here@"', f'"{again}"'


@in_json
def a_place_more(chance: random.Random, parent: Any, key: Any) -> tuple[str, str]:
    if isinstance(parent, dict):
        parent["more"] = "@here@"
    else:
        parent.insert(key, "@here@")
    return '"@here@"', chance.choice(HOSTILE)


@in_json
def other_order(chance: random.Random, parent: Any, _: Any) -> None:
    if isinstance(parent, dict):
        items = list(parent.items())
        chance.shuffle(items)
        parent.clear()
        parent.update(items)
    else:
        chance.shuffle(parent)


def bytes_of_the_header(chance: random.Random, sealed: Sealed) -> None:
    first = chance.randrange(len(sealed.header))
    end = first + chance.choice([0, 0, 1, 1, 2, 9])
    with_what = chance.choice([*BYTES, bytes([chance.randrange(256)]), sealed.header[end : end + 7]])
    sealed.header = sealed.header[:first] + with_what + sealed.header[end:]


def around_the_header(chance: random.Random, sealed: Sealed) -> None:
    before, behind = (chance.choice([b"", *BYTES, b"{}", b"  \r\n\t"]) for _ in range(2))
    sealed.header = before + sealed.header + behind


def bits_of_a_value(chance: random.Random, sealed: Sealed) -> None:
    data, at = bytearray(sealed.data), chance.randrange(len(sealed.data))
    data[at] = chance.choice([0, 255, chance.randrange(256)])
    sealed.data = bytes(data)


def a_hostile_value(chance: random.Random, sealed: Sealed) -> None:
    at = 8 * chance.randrange(len(sealed.data) // 8)
    value = chance.choice([math.nan, -math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7976931348623157e308])
    sealed.data = sealed.data[:at] + struct.pack("<d", value) + sealed.data[at + 8 :]


def length_of_the_arrays(chance: random.Random, sealed: Sealed) -> None:
    change = chance.choice([-24, -16, -9, -8, -7, -1, 1, 7, 8, 9, 16, 24])
    sealed.data = sealed.data[:change] if change < 0 else sealed.data + sealed.data[:change]


def sizes_and_arrays(chance: random.Random, sealed: Sealed) -> None:
    """A size that the length of the arrays follows, as if it were another model."""
    header = json.loads(sealed.header)
    arrays = KINDS[header["kind"]]
    for size in sizes_of(header["kind"]):
        header[size] = chance.choice([header[size], header[size], 1, 2, 3, 5])
    values = min(1000, sum(math.prod(header[size] for size in shape) for shape in arrays.values()))
    sealed.data = (sealed.data * (8 * values // len(sealed.data) + 1))[: 8 * values]
    sealed.header = json.dumps(header).encode()


def parts_of_the_preamble(chance: random.Random, sealed: Sealed) -> None:
    sealed.version = chance.choice([3, 3, 3, 0, 1, 2, 4, 2**31, 2**32 - 1])
    sealed.lengths[chance.randrange(2)] = chance.choice([-(2**31), -24, -8, -1, 0, 1, 8, 32, 56, 2**20, 2**26, 2**31])


MUTATIONS: list[Callable[[random.Random, Sealed], None]] = [
    *3 * [another_value], a_place_gone, a_name_of_another_case, a_name_twice, a_place_more, other_order,
    bytes_of_the_header, around_the_header, bits_of_a_value, a_hostile_value, length_of_the_arrays, sizes_and_arrays,
    parts_of_the_preamble,
]  # fmt: skip


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
        TransductiveSVC(unlabeled=float("nan")).fit(data.X[:, :7], np.where(data.y < 0, np.nan, data.y)),
        SemiSupervisedLogisticRegression(hierarchy=GROUP, calibrate=True).fit(many.X[:, :20], many.y),
        SequenceSVC(forbidden_transitions=[("O", "I"), (None, "I")], unlabeled="?").fit(
            frame[:8], ["B", "I", "O", "?", "B", "O", "O", "B"], lengths=[4, 3, 1]
        ),
        ASOTransformer(n_components=2, structure_weight=0.5).fit(frame),
        ASOTransformer(n_components=1, feature_groups=[0, 1, 0, 1, 0, 1, 0], solver="squared").fit(data.X[:, :7]),
    ]
    files = []
    for model in models:
        save_model(model, path)
        files.append(path.read_bytes())
        with _library.released(model._assemble()) as handle:
            _library.call("fewlabel_save", handle, str(path).encode(), b'{"note": ["\\u00e9", 1e3, null]}')
        files.append(path.read_bytes())
    return files


def by_library(path: Path) -> dict[str, Any] | str:
    """The model, or why there is none."""
    handle, error = ctypes.c_int64(), ctypes.create_string_buffer(4096)
    status = _library.library().fewlabel_load(str(path).encode(), ctypes.byref(handle), error, 4096)
    if status != c.OK:
        assert status == c.BAD_DATA, error.value
        return error.value.decode()
    with _library.released(handle.value) as loaded:
        report, arrays = _fit.read(loaded)
    return report | arrays


def by_page(read_model: Callable[[Path], dict[str, Any]], path: Path) -> dict[str, Any] | str:
    try:
        return read_model(path)
    except ValueError as refusal:
        return str(refusal)


def by_package(path: Path) -> Any | str:
    try:
        return load_model(path)
    except ValueError as refusal:
        return str(refusal)


FIELDS = ("method", "n_iter", "termination_condition", "warnings", "metadata")


def values_of(model: dict[str, Any]) -> str:
    """All fields and arrays as a text: 1, 1.0 and true differ in it."""
    kind = "chain" if "n_tags" in model else "structure" if "n_components" in model else "linear"
    fields: dict[str, Any] = {name: model[name] for name in (*sizes_of(kind), *FIELDS)}
    fields["warnings"] = [w | {"values": {k: float(v) for k, v in w["values"].items()}} for w in fields["warnings"]]
    fields["objective"] = float("nan" if model["objective"] is None else model["objective"])
    arrays = {name: model[name].tobytes().hex() for name in KINDS[kind]}
    return json.dumps(fields | arrays, sort_keys=True)


def difference(path: Path, read_model: Callable[[Path], dict[str, Any]], seen: collections.Counter[str]) -> str | None:
    """How the readers differ on a file; None if they agree."""
    library, page, package = by_library(path), by_page(read_model, path), by_package(path)
    if isinstance(library, str) or isinstance(page, str):
        seen["refused"] += 1
        if not (isinstance(library, str) and isinstance(page, str) and isinstance(package, str)):
            return f"library: {library}\npage: {page}\npackage: {package}"
        unnamed = [message for message in (library, package) if str(path) not in message]
        return f"without the name of the file: {unnamed}" if unnamed else None
    if values_of(library) != values_of(page):
        return f"library: {values_of(library)}\npage: {values_of(page)}"
    if isinstance(package, str):  # the metadata is none of its own
        seen["metadata refused"] += 1
        written_by_it = isinstance(library["metadata"], dict) and "estimator" in library["metadata"]
        return None if written_by_it and str(path) in package else f"package: {package}"
    seen["loaded"] += 1
    return unlike(package, page, path)


def unlike(package: Any, page: dict[str, Any], path: Path) -> str | None:
    """How an estimator differs from the file it was read from."""
    rows = np.ones((2, page["n_features"]))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # rows without names of features; weights that overflow
        usable = DECIDES[page["kind"]](package, rows)
    if page["kind"] == "structure":
        same = usable and all(np.array_equal(array, page[name].ravel()) for name, array in arrays_of(package).items())
        return None if same and written_anew(package, page, path) else f"{vars(package)}\n{page}"
    arrays = {name: getattr(package, f"{name}_") for name in KINDS[page["kind"]]}
    arrays["coef"] = arrays["coef"].T
    same = (
        usable
        and all(array.tobytes() == page[name].tobytes() for name, array in arrays.items())
        and (package.n_features_in_, package.n_iter_) == (page["n_features"], page["n_iter"])
        and len(package.classes_) == page["n_tags" if page["kind"] == "chain" else "n_classes"]
    )
    if not same:
        return f"{vars(package)}\n{page}"
    return None if written_anew(package, page, path) else f"{vars(package)}\nis saved in another way than {page}"


def decides_rows(package: Any, rows: np.ndarray) -> bool:
    if package.hierarchy_ is not None:
        package.predict_level(rows, 1)
    shape = (2,) if len(package.coef_) == 1 else (2, len(package.coef_))
    return package.decision_function(rows).shape == shape and set(package.predict(rows)) <= set(package.classes_)


def tags_rows(package: Any, rows: np.ndarray) -> bool:
    try:
        return set(package.predict(rows)) <= set(package.classes_)
    except ValueError as refusal:  # as many of the mutations forbid or overflow
        return "has no path" in str(refusal) or "only numbers and -infinity" in str(refusal)


def adds_features(package: Any, rows: np.ndarray) -> bool:
    added = sum(len(components) for _, components in package._parts())
    return package.transform(rows).shape[1] in (added, rows.shape[1] + added)


DECIDES = {"linear": decides_rows, "chain": tags_rows, "structure": adds_features}


def arrays_of(package: Any) -> dict[str, np.ndarray]:
    with _library.released(package._assemble()) as handle:
        return _fit.read(handle).arrays


def written_anew(package: Any, page: dict[str, Any], path: Path) -> bool:
    """Whether a file saved from the estimator has the metadata that it was read from, or more parameters."""
    if not isinstance(page["metadata"], dict) or "estimator" not in page["metadata"]:
        return True  # of another program
    save_model(package, path)
    anew = reader()["read_model"](path)["metadata"]
    anew["fewlabel"] = page["metadata"]["fewlabel"]
    anew["parameters"] = {name: anew["parameters"][name] for name in page["metadata"]["parameters"]}
    return json.dumps(anew, sort_keys=True) == json.dumps(page["metadata"], sort_keys=True)


def test_the_readers_agree_on_mutations(good_files: list[bytes], tmp_path: Path) -> None:
    read_model, path, chance = reader()["read_model"], tmp_path / "mutated", random.Random(SEED)
    seen: collections.Counter[str] = collections.Counter()
    differences = []
    for number in range(COUNT):
        sealed = Sealed(chance.choice(good_files))
        mutations = [chance.choice(MUTATIONS) for _ in range(chance.choice([1, 1, 1, 2]))]
        try:
            for mutate in mutations:
                mutate(chance, sealed)
        except (ValueError, KeyError, TypeError, IndexError, RecursionError):
            pass  # a second mutation that needs a sound header: the first alone
        path.write_bytes(sealed.file())
        try:
            found = difference(path, read_model, seen)
        except Exception as failure:  # of another type than a refusal
            found = f"{failure!r} {traceback.format_exc(limit=-2)}"
        if found is not None:
            names = [mutate.__name__ for mutate in mutations]
            differences.append(f"{number} {names}: {sealed.header[:3000]!r}\n{found[:3000]}")
    print(f"{COUNT} mutations: {dict(seen)}, {len(differences)} differences")
    assert not differences, f"{len(differences)} of {COUNT}:\n" + "\n\n".join(differences[:10])
    assert min(seen["refused"], seen["loaded"], seen["metadata refused"]) > COUNT // 50
    assert _library.live_handles() == 0
