"""The helpers of the benchmarks: a wrong recipe or draw would make every figure wrong."""

import dataclasses
import re
import sys
import types
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import OptimizeResult, check_grad
from sklearn.svm import LinearSVC

from benchmarks import (
    __main__ as program,
    data,
    drawing,
    embeddings,
    figures,
    heads,
    large,
    measure,
    pages,
    paired,
    peers,
    quality,
    sequences,
    structure,
    verdicts,
)
from fewlabel import TransductiveSVC
from fewlabel.inspection import check
from fewlabel.preprocessing import text_vectorizer

ROOT = Path(__file__).parents[2]
SIZES = (300, 60, 40)


def planted() -> drawing.DataSet:
    """Rows around a centre for each class, of very different size."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(3), SIZES))
    X = rng.normal(size=(len(y), 12))
    X[np.arange(len(y)), y] += 3
    return data.data_set("planted", sp.csr_matrix(X), np.array(["x", "y", "z"])[y])


# ------------------------------------------------------------------ recipe
TEXTS = [
    "Apple apple pear 42",
    "pear; the plum, of PLUM x",
    "apple fig",
    "fig date",
    "date kiwi kiwi",
    "kiwi",
    "q",
    "",
    "",
    "",
]


def test_recipe_by_hand():
    # The words in at least two rows and at most a fifth of ten rows: apple, date, fig, kiwi, pear (two rows each). Plum
    # is in one row; "the" and "of" are stop words; x and q are too short; 42 has no letters.
    words = ["apple", "date", "fig", "kiwi", "pear"]
    vectorizer = text_vectorizer()
    vectorizer.fit(TEXTS)
    assert list(vectorizer.get_feature_names_out()) == words
    X = data.vectorize(TEXTS).toarray()
    # All idf are equal. Row 0: apple twice gives 1 + log 2, pear 1; row 4: date 1, kiwi 1 + log 2.
    twice = np.array([1 + np.log(2), 1]) / np.hypot(1 + np.log(2), 1)
    np.testing.assert_allclose(X[0, [0, 4]], twice)
    np.testing.assert_allclose(X[4, [3, 1]], twice)
    np.testing.assert_allclose(np.linalg.norm(X[:6], axis=1), 1)
    assert not X[6:].any()


def test_recipe_with_digits_and_three_rows():
    texts = ["486 dx", "486 dx2 bus", "486 bus", "bus"] + [""] * 12
    assert list(text_vectorizer(min_df=3, token_pattern="[a-z0-9][a-z0-9]+").fit(texts).get_feature_names_out()) == [
        "486",
        "bus",
    ]


def test_subject_and_body():
    message = "From: a@b\r\nSubject: Re: hello\r\nOrganization: x\r\n\r\nbody one\r\n\r\nbody two: y"
    assert data.subject_and_body(message) == "Re: hello\nbody one\n\nbody two: y"
    assert data.subject_and_body("no header at all") == ""


# ------------------------------------------------------------------ draws and cache
def test_as_many_rows_are_drawn_at_random_as_equally_of_each_class():
    equal, random = (drawing.draw(planted(), 20, sampling, 0) for sampling in ("equal", "random"))
    n_labels = [np.bincount(task.y[~task.unlabeled], minlength=3).tolist() for task in (equal, random)]
    assert n_labels[0] == [20, 20, 15]  # half of the 30 training rows of the smallest class
    assert sum(n_labels[1]) == 55
    assert n_labels[1][0] > 30
    assert (equal.X != random.X).nnz == 0
    assert (len(equal.y), len(equal.y_test)) == (300, 100)
    for task in (equal, random):
        np.testing.assert_array_equal(task.given[~task.unlabeled], task.y[~task.unlabeled])
    np.testing.assert_array_equal(drawing.draw(planted(), 20, "random", 0).given, random.given)


def test_the_true_shares_are_those_of_the_classes_with_labels():
    task = drawing.draw(planted(), 20, "equal", 0)
    counts = np.bincount(task.y[task.unlabeled])
    np.testing.assert_allclose(task.shares, counts / counts.sum())
    task.given[task.y == 2] = -1
    np.testing.assert_allclose(task.shares, counts[:2] / counts[:2].sum())


@pytest.mark.parametrize("concentration", [None, 2.0, np.inf])
def test_shares_of_the_unlabeled_rows_are_drawn(concentration):
    few, more = (drawing.draw_shares(planted(), k, 0, concentration) for k in (5, 10))
    counts = np.bincount(few.y[few.unlabeled])
    np.testing.assert_array_equal(np.bincount(few.y[~few.unlabeled]), 5)
    np.testing.assert_array_equal(few.y_test, few.y[few.unlabeled])
    assert (few.X[few.unlabeled] != few.X_test).nnz == 0
    if concentration is None:
        np.testing.assert_array_equal(counts, np.array(SIZES) - 5)
    elif np.isinf(concentration):
        np.testing.assert_array_equal(counts, 35)  # as many as the smallest class has beside its labels
    else:
        assert max(counts - np.array(SIZES) + 5) == 0  # one class has all of its rows, none more than it has
        np.testing.assert_allclose(few.shares, more.shares, atol=0.02)


@pytest.mark.parametrize("head", embeddings.HEADS.values(), ids=embeddings.HEADS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_heads_find_classes_that_are_apart(head, form):
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), 40)
    X = np.abs(rng.normal(scale=0.3, size=(120, 8))) + np.eye(3, 8)[truth]
    given = np.where(np.arange(120) % 40 < 2, truth, -1)
    assert np.mean(head(form(X / np.linalg.norm(X, axis=1, keepdims=True)), given) == truth) > 0.95


def test_the_gradient_of_tim_is_that_of_its_loss(monkeypatch):
    def check(loss, start, **_):
        error = check_grad(lambda w: loss(w)[0], lambda w: loss(w)[1], start)
        assert error < 1e-4
        return OptimizeResult(x=start)

    monkeypatch.setattr(heads, "minimize", check)
    X = np.random.default_rng(0).normal(size=(20, 3))
    for alpha in (1.0, 2.0):
        heads.tim(X / 10, np.r_[0, 0, 1, 2, np.full(16, -1)], alpha)


def test_sets_leave_out_small_classes_and_can_make_one_rare():
    names = ["a"] * 200 + ["b"] * 100 + ["c"] * 9
    rows = data.data_set("letters", np.arange(309)[:, None], names, n_train=150)
    assert rows.classes.tolist() == ["a", "b"]
    assert (len(rows.y), rows.train.sum()) == (300, 150)
    rare = data.rare(data.data_set("letters", np.arange(309)[:, None], names), "b", 5)
    assert np.mean(rare.y == 1) == pytest.approx(0.05, abs=0.005)


def test_cache_is_keyed_by_the_version_of_the_recipe(tmp_path, monkeypatch):
    def build(value):
        return lambda: (sp.csr_matrix([[value, 0.0]]), np.array([1]))

    assert data.cached("x", build(1.0), tmp_path)[0][0, 0] == 1
    assert data.cached("x", build(2.0), tmp_path)[0][0, 0] == 1
    monkeypatch.setattr(data, "VERSION", data.VERSION + 1)
    assert data.cached("x", build(2.0), tmp_path)[0][0, 0] == 2
    assert (tmp_path / ".gitignore").read_text() == "*\n"


def test_planted_corpus():
    X, y = large.planted(3000, cols=5000, row_length=30)
    assert X.shape == (3000, 5000)
    assert 25 < X.nnz / 3000 < 35
    np.testing.assert_allclose(sp.linalg.norm(X, axis=1), 1)
    assert X.has_canonical_format
    assert 0.25 < y.mean() < 0.35
    assert LinearSVC().fit(X[:2000], y[:2000]).score(X[2000:], y[2000:]) > 0.8


# ------------------------------------------------------------------ measuring
def test_a_bound_that_is_not_met_is_the_status(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(data, "RESULTS", tmp_path)

    def some(report, draws=5):
        """Draws."""
        report.add("draws", [draws, draws], at_most=3)

    module = types.SimpleNamespace(__doc__="A module.", SECTIONS=(some,))
    assert program.run(module, "some", ["--draws", "3"]) == 0
    assert "draws,3.0," in (tmp_path / "some.csv").read_text()
    assert program.run(module, "some", ["some"]) == 1
    assert "(at most 3: SHORT)" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        program.run(module, "some", ["other"])


def test_one_command_lists_all(capsys):
    assert program.main([]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(program.NAMES)
    assert program.main(["nothing"]) == 1


def test_calls_take_turns():
    calls = []
    spent = measure.turns({name: lambda name=name: calls.append(name) for name in "ab"}, 2)
    assert "".join(calls) == "ababab"
    assert [len(values) for values in spent.values()] == [2, 2]


def cost_of_arrays():
    """Of one of 64 MB, which goes, and one of 16 MB, which stays."""
    cost, _ = measure.cost(lambda: (np.ones(8_000_000).sum(), np.ones(2_000_000))[1])
    return cost


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_of_a_fit_is_its_peak_and_what_is_left():
    cost = measure.in_fresh_process(cost_of_arrays)
    assert cost.peak > 60e6
    assert 14e6 < cost.left < 60e6


# ------------------------------------------------------------------ what is compared
@pytest.mark.skipif(not (ROOT / ".venv/bin/python").exists(), reason="the worker runs in .venv, which is not there")
def test_a_checkout_is_as_good_as_itself(capsys):
    paired.main([str(ROOT), "--tasks", "planted", "--methods", "annealing,maxent", "--rounds", "2"])
    *_, row = capsys.readouterr().out.splitlines()  # maxent is for many classes
    task, method, _, _, ratio, passes, other_passes, of_passes, of_objectives, error, other_error, *f = row.split()
    assert (task, method) == ("planted", "annealing")
    assert 0.2 < float(ratio) < 5
    assert (float(of_passes), float(of_objectives)) == (1, 1)
    assert (passes, error, f[0]) == (other_passes, other_error, f[1])
    with pytest.raises(SystemExit):
        paired.main([str(ROOT), "--tasks", "nothing"])


def test_entities_are_counted_as_conll_does():
    assert sequences.entities(["B-A", "I-A", "I-B", "O", "I-A", "B-A"]) == {
        (0, 2, "A"),
        (2, 3, "B"),
        (4, 5, "A"),
        (5, 6, "A"),
    }


def test_topics_of_one_value_have_a_constant_classifier():
    X, y = sp.csr_matrix(np.eye(4)), np.array([[1, 0], [1, 1], [1, 0], [1, 1]])
    split = structure.Split(X, y, X, y, 1e-3)
    assert structure.quality(split, X, np.arange(4), X) == 100


def test_the_page_has_the_table_of_the_tools(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "RESULTS", tmp_path)
    monkeypatch.setattr(peers, "measured", lambda draws, labels, tools: found(labels))
    page = tmp_path / "page.md"
    page.write_text("a\n### 20 Newsgroups\nold\n### R8\nold\n## b\n", encoding="utf-8")
    assert peers.main(["--labels", "5", "--page", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "| LinearSVC | **0.500** | **0.500** | 1.0 | 3 |" in text
    assert "\nold\n" not in text
    assert text.startswith("a\n### 20 Newsgroups\n")
    assert text.endswith("\n\n## b\n")


def test_a_figure_changes_only_with_its_numbers(tmp_path):
    assert figures.main(["moons_by_rows", "--folder", str(tmp_path)]) == 0
    first = (tmp_path / "moons_by_rows.svg").read_bytes()
    assert figures.main(["moons_by_rows", "--folder", str(tmp_path)]) == 0
    assert (tmp_path / "moons_by_rows.svg").read_bytes() == first


def found(labels):
    """Lines of `peers.csv`."""
    cost = {"F": 0.5, "seconds": 2.0, "processor": 1.0, "MB": 3.0}
    cells = [
        (name, k, way, tool) for name in peers.SETS for k in labels for way in peers.SAMPLINGS for tool in peers.tools()
    ]
    return quality.pd.DataFrame(
        [dict(zip(("set", "labels", "sampling", "tool"), cell, strict=True)) | cost for cell in cells]
    )


QUOTED = """Text with 12 numbers.

```sh
## Results
```

## Results

| | zero |
|---|---|
| a | 0 |

| | one | two |
|---|---|---|
| 2 of a | **75.3** (45.1) | 0.5 |
| F1 | .2 or 1,234 | 7 s |

## Others

| | one |
|---|---|
| b | 3 |
"""
LISTED = """
[[table]]
page = "README.md"
heading = "Results"
number = 2
command = "labels  some"
within = 0.01
names = ['''{a
  |b}, {x|x, least}''', 2]

[[table]]
page = "README.md"
heading = "Results"
number = 2
command = "tables"
within = 0.5
names = [5, "c, 5, F"]
"""


@pytest.fixture
def listed(tmp_path, monkeypatch):
    """Writes a list of tables of a page beside it."""
    pytest.importorskip("tomllib")  # Python 3.11
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setattr(pages, "LIST", tmp_path / "pages.toml")
    (tmp_path / "README.md").write_text(QUOTED, encoding="utf-8")
    return lambda text: (tmp_path / "pages.toml").write_text(text, encoding="utf-8")


def test_quoted_numbers_stand_beside_those_that_their_command_gives(listed, tmp_path, monkeypatch, capsys):
    listed(LISTED)
    monkeypatch.setattr(data, "RESULTS", tmp_path / "results")
    folder = tmp_path / "results" / "pages"
    folder.mkdir(parents=True)
    report = measure.Report()
    report.add("a, x", [0.751, 0.451])  # the mean is far from 75.3
    report.add("b, x", [0.5, 0.6])
    quality.pd.DataFrame(report.lines).to_csv(folder / "labels-some.csv")
    quality.pd.DataFrame({"set": ["p", "q"], "learner": "c", "labels": 5, "F": [6, 8]}).to_csv(folder / "tables.csv")
    assert pages.main(["--kept"]) == 1
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[1:4] for line in lines if line[0] == "README.md"] == [
        ["75.3", "60.1", "OFF"],
        ["45.1", "45.1", "a,"],
        ["0.5", "0.55", "OFF"],
        [".2", "0.5", "OFF"],
        ["7", "7", "c,"],
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("', 2]", "', 1]", r"README\.md, Results, bench labels some: 6 numbers, 5 names"),
        ('heading = "Results"', 'heading = "Result"', "README.md, Result: 0 such headings"),
        ('heading = "Results"', 'heading = "Others"', "README.md, Others: .* no table 2 under it"),
        ("number = 2", "number = 3", "README.md, Results: .* no table 3 under it"),
        ('command = "labels  some"', 'command = "label some"', "there is no benchmark label some"),
    ],
)
def test_a_wrong_entry_of_the_list_is_refused(listed, old, new, message):
    assert old in LISTED
    listed(LISTED.replace(old, new))
    with pytest.raises(ValueError, match=message):
        pages.tables()


def test_the_list_fits_the_pages_which_have_no_marks():
    pytest.importorskip("tomllib")  # Python 3.11
    assert len(pages.tables()) > 20
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        assert "<!--" not in page.read_text(encoding="utf-8"), page.name


def named_commands() -> set[str]:
    """What pages, notes and the list of tables give to `make bench`."""
    texts = [path.read_text(encoding="utf-8") for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))]
    named = re.findall(r'BENCH=(?:"([^"]+)"|(\w+))|\| `"(\w+ [^"`]+)"`', "\n".join(texts))
    listed = re.findall(r'^command = ("{3}|")(.+?)\1', pages.LIST.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return {" ".join("".join(one).split()) for one in named} | {" ".join(one.split()) for _, one in listed}


def test_the_commands_that_pages_and_notes_name_exist():
    commands = named_commands()
    assert len(commands) > 50
    for command in commands:
        name, *arguments = command.split()
        assert name in program.NAMES, command
        module = program.import_module(f"benchmarks.{name}")
        if name == "quality":
            module.options().parse_args(arguments)
        elif hasattr(module, "SECTIONS"):
            named = {one for one in arguments if one.isidentifier()}
            assert named <= {section.__name__ for section in module.SECTIONS}, command


# ------------------------------------------------------------------ the default and its peers
def test_the_gain_of_the_means_is_the_ratio_of_the_mean_gains():
    F = {"a": {"supervised": 0.5, "default": 0.6, "true": 0.7}, "b": {"supervised": 0.9, "default": 0.88, "true": 0.9}}
    common = {"labels": 5, "sampling": "equal", "draw": 0, "rare": 0.5}
    lines = quality.pd.DataFrame([
        common | {"set": name, "learner": one, "F": value, "seconds": 1.0 + (one == "default"), "warned": 1.0}
        for name, values in F.items() for one, value in values.items()
    ])  # fmt: skip
    table = quality.cells(lines)
    assert table["gain"].iloc[0] == pytest.approx(0.5)
    assert table["time"].tolist() == [2, 2]
    assert quality.overall(table)["gain"].iloc[0] == pytest.approx((0.1 - 0.02) / 0.2)
    assert quality.losses(lines).loc[(5, "equal")].to_dict() == {"lost": 0.5, "warned if lost": 1, "warned if won": 1}
    lines["warned"] = (lines["set"] == "a") * 1.0
    assert quality.losses(lines).loc[(5, "equal")].to_dict() == {"lost": 0.5, "warned if lost": 0, "warned if won": 1}
    assert "warned if won" in quality.show(lines)
    assert "F supervised" in quality.show(lines[lines["learner"] == "supervised"].drop(columns="warned"))


def test_calibration_errors_are_counted_where_nothing_warns():
    common = {"labels": 5, "sampling": "equal", "draw": 0, "F": 0.5, "rare": 0.5, "seconds": 1.0, "learner": "logistic"}
    lines = quality.pd.DataFrame([
        common | {"set": name, "test": test, "fit": fit, "rough": rough}
        for name, test, fit, rough in (("a", 0.2, 0.1, 1.0), ("b", 0.1, 0.13, 0.0), ("c", 0.1, 0.1, 0.0))
    ])  # fmt: skip
    assert quality.unsaid(lines).loc[("logistic", 5)].tolist() == [3, 2, 1]
    assert "without a warning" in quality.show(lines)
    p = np.array([[0.9, 0.1], [0.9, 0.1], [0.3, 0.7]])
    assert quality.calibration_error(p, np.array([4, 6]), np.array([4, 6, 6])) == pytest.approx((0.8 + 0.3) / 3)


def test_every_learner_has_a_line_and_known_fits_are_taken_over(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(data.SETS, "planted", planted)
    learners = (*quality.LEARNERS, "posterior", "graph")
    arguments = ["--sets", "planted", "--labels", "10", "--draws", "1", "--output"]
    assert quality.main([*arguments, str(tmp_path / "all.csv"), "--learners", ",".join(learners)]) == 0
    every = quality.pd.read_csv(tmp_path / "all.csv")
    assert every["learner"].tolist() == 2 * list(learners)
    assert every["F"].min() > 0.2
    assert every[["test", "fit", "rough"]].notna().sum().tolist() == [2, 2, 2]
    capsys.readouterr()
    again = [*arguments, str(tmp_path / "one.csv"), "--learners", "default", "--known", str(tmp_path / "all.csv")]
    assert quality.main(again) == 0
    assert "F LinearSVC" in capsys.readouterr().out
    assert len(quality.pd.read_csv(tmp_path / "one.csv")) == 2


def test_groups_of_sets_and_wrong_names():
    assert quality.options().parse_args(["--sets", "rare,comp"]).sets == [*quality.RARE, "comp"]
    with pytest.raises(SystemExit):
        quality.main(["--sets", "nothing"])


# ------------------------------------------------------------------ what fits say of themselves
def test_warnings_are_told_apart_by_their_first_words_and_counted_beside_losses():
    texts = ("class 3 is predicted for 0.7% of the unlabeled rows", "class a is predicted for 12.1% of the unlabeled")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for text in texts:
            warnings.warn(text, UserWarning, stacklevel=1)
    (kind,) = verdicts.kinds(caught)
    assert kind == "UserWarning: class is predicted for of the unlabe"
    found = [
        verdicts.Fit(lead, cure, {kind} if warned else set())
        for lead, cure, warned in ((-0.1, 0, 1), (0.1, 0.02, 1), (0.1, 0, 1), (0, 0, 0), (0.2, -0.1, 0))
    ]
    assert verdicts.losses(found, kind) == (3, pytest.approx(2 / 3), 0, pytest.approx(2 / 3), 0.5)


@pytest.mark.filterwarnings("ignore:class_prior gives class")
def test_verdicts_are_judged_and_labels_decide():
    assert [verdicts.judged("helps", gain) for gain in (0.01, 0.004, -0.1)] == ["right", "wrong", "wrong"]
    assert [verdicts.judged("no difference", gain) for gain in (0.009, -0.02)] == ["right", "wrong"]
    assert verdicts.judged("cannot tell", 0.1) == "cannot tell"
    task = drawing.draw(verdicts.some(planted()), 10, "equal")
    told = check(TransductiveSVC(class_prior=[0.1, 0.1, 0.8]), task.X, task.given, verbose=0)
    told = verdicts.shuffled(dataclasses.replace(told, lower=-0.5, upper=0.5), 1)
    near, end = verdicts.decided(told, task)
    assert len(near) > 0
    assert end.verdict == "hurts"
