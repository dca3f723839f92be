"""The helpers of the benchmarks: a wrong recipe or objective would make every figure wrong."""

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from benchmarks import __main__ as benchmarks_main
from benchmarks import (
    aso_tagging,
    corpora,
    large,
    learners,
    objective,
    products,
    recipe,
    report,
    run,
    tasks,
)

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def go_comments(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import go_comments

    yield go_comments
    sys.modules.pop("go_comments")


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
    vectorizer = recipe.vectorizer()
    vectorizer.fit(TEXTS)
    assert list(vectorizer.get_feature_names_out()) == words
    X = recipe.vectorize(TEXTS).toarray()
    # All idf are equal. Row 0: apple twice gives 1 + log 2, pear 1; row 4: date 1, kiwi 1 + log 2.
    twice = np.array([1 + np.log(2), 1]) / np.hypot(1 + np.log(2), 1)
    np.testing.assert_allclose(X[0, [0, 4]], twice)
    np.testing.assert_allclose(X[4, [3, 1]], twice)
    np.testing.assert_allclose(np.linalg.norm(X[:6], axis=1), 1)
    assert not X[6:].any()


def test_recipe_with_digits_and_three_rows():
    texts = ["486 dx", "486 dx2 bus", "486 bus", "bus"] + [""] * 12
    assert list(recipe.vectorizer(min_df=3, digits=True).fit(texts).get_feature_names_out()) == ["486", "bus"]


def test_subject_and_body():
    message = "From: a@b\r\nSubject: Re: hello\r\nOrganization: x\r\n\r\nbody one\r\n\r\nbody two: y"
    assert recipe.subject_and_body(message) == "Re: hello\nbody one\n\nbody two: y"
    assert recipe.subject_and_body("no header at all") == ""


# ------------------------------------------------------------------ objective
def test_objective_by_hand():
    X = sp.csr_matrix([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    given = np.array([1, 0, -1, -1])
    coef, intercept = np.array([[0.5, -2.0]]), np.array([0.25])
    # f = 0.75, -1.75, -1.25, 0.25; losses 0.25², 0 labeled; 0, 0.75² unlabeled; square lengths 1, 1, 2 of three rows
    by_hand = 0.1 / 2 * (4 / 3 * (0.25 + 4) + 0.0625) + 0.0625 / 4 + 3 * 0.5625 / 4
    value = objective.l2_objective(X, given, coef, intercept, alpha=0.1, unlabeled_weight=3.0)
    assert value == pytest.approx(by_hand, rel=1e-14)


def test_objective_is_that_of_linear_svc():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    X = sp.csr_matrix(X / np.linalg.norm(X, axis=1)[:, None])
    y = (X.toarray()[:, 0] + rng.normal(size=30) > 0).astype(np.int64)
    fitted = learners.linear_svc(30, 0.01, tol=1e-12, max_iter=100_000).fit(X, y)
    least = objective.l2_objective(X, y, fitted.coef_, fitted.intercept_, 0.01, 0)
    for _ in range(20):  # no point near it is lower
        coef, intercept = fitted.coef_ + rng.normal(size=4) * 1e-3, fitted.intercept_ + rng.normal() * 1e-3
        assert objective.l2_objective(X, y, coef, intercept, 0.01, 0) > least
    assert isinstance(fitted, LinearSVC)


def test_threshold_and_break_even():
    scores = np.array([0.1, 0.9, 0.5, -2.0])
    for share in (0.0, 0.25, 0.5, 1.0):
        assert np.mean(scores > learners.thresholds_for_shares(scores, np.array([1 - share, share]))) == share
    assert objective.break_even(np.array([0, 1, 1, 0]), scores) == 100
    assert objective.break_even(np.array([1, 1, 0, 0]), scores) == 50
    with pytest.raises(ValueError, match="no positive row"):
        objective.break_even(np.zeros(4), scores)


# ------------------------------------------------------------------ draws and cache
def test_held_out_parts_do_not_meet():
    X, y = sp.csr_matrix(np.arange(1, 41.0)[:, None]), np.tile([0, 1], 20)
    task = tasks.held_out("t", X, y, 6, seed=3)
    assert sorted([*task.X.data, *task.X_test.data]) == list(range(1, 41))
    assert task.X.shape[0] == 30
    assert task.n_labels == 6
    assert set(task.given[~task.unlabeled]) == {0, 1}
    assert (task.given[~task.unlabeled] == task.y[~task.unlabeled]).all()
    assert task.class_prior[1] == task.y[task.unlabeled].mean()
    again = tasks.held_out("t", X, y, 6, seed=3)
    np.testing.assert_array_equal(again.given, task.given)


def test_draw_covers_topics():
    topics = [frozenset({"a"})] * 50 + [frozenset({"b"}), frozenset({"c", "b"}), frozenset()]
    for seed in range(5):
        drawn = corpora.draw_covering(topics, ["a", "b", "c"], 4, np.random.default_rng(seed))
        assert len(set(drawn.tolist())) == 4
        assert set().union(*(topics[i] for i in drawn)) >= {"a", "b", "c"}
    with pytest.raises(ValueError, match="no draw of 4 documents has every topic of a, z"):
        corpora.draw_covering(topics, ["a", "z"], 4, np.random.default_rng(0))


def test_cache_is_keyed_by_the_version_of_the_recipe(tmp_path, monkeypatch):
    def build(value):
        return lambda: (sp.csr_matrix([[value, 0.0]]), np.array([1]))

    assert corpora.cached("x", build(1.0), tmp_path)[0][0, 0] == 1
    assert corpora.cached("x", build(2.0), tmp_path)[0][0, 0] == 1
    monkeypatch.setattr(recipe, "VERSION", recipe.VERSION + 1)
    assert corpora.cached("x", build(2.0), tmp_path)[0][0, 0] == 2
    assert (tmp_path / ".gitignore").read_text() == "*\n"


def test_planted_corpus():
    X, y = large.planted(3000, cols=5000, row_length=30)
    assert X.shape == (3000, 5000)
    assert 25 < X.nnz / 3000 < 35
    np.testing.assert_allclose(sp.linalg.norm(X, axis=1), 1)
    assert X.has_canonical_format
    assert 0.25 < y.mean() < 0.35
    scores = LinearSVC().fit(X[:2000], y[:2000]).score(X[2000:], y[2000:])
    assert scores > 0.8


# ------------------------------------------------------------------ report
def test_report_says_ok_or_short():
    found = report.Report(quiet=True)
    assert found.at_most("a", 5.2, 5.2, " %").verdict == "ok"
    assert found.at_least("b | c", 1.6, 1.7).verdict == "short"
    assert found.fact("d", 3.14159).measured == "3.142"
    assert found.failed("e", ValueError("no")).verdict == "short"
    page = report.markdown(found, {"processor": "P"})
    assert "1 bounds met, 2 short." in page
    assert "| b \\| c | 1.600 | ≥ 1.7 | short |  |" in page


def test_go_benchmark_output_is_read():
    text = "BenchmarkTimes/float64-2   \t 276\t 1311333 ns/op\t 0.5 cpu-ns/nz\t  1.093 ns/nz\n"
    text += "BenchmarkTransposed/float32packed \t1\t2 ns/op\t1.5 cpu-ns/nz\t2 ns/nz\n"
    text += "BenchmarkPack-2 \t 3\t 9 ns/op\t2.5 cpu-ns/nz\n"
    assert products.parse(text, "cpu-ns/nz") == {"Times/float64": 0.5, "Transposed/float32packed": 1.5, "Pack": 2.5}
    assert products.parse(text, "ns/nz") == {"Times/float64": 1.093, "Transposed/float32packed": 2}
    with pytest.raises(RuntimeError, match="no benchmark figures in ns/value"):
        products.parse(text, "ns/value")
    assert products.scipy_figures(sp.eye(4, format="csr"), calls=1).keys() >= {"Times/float32", "Transposed/float64"}


def test_run_takes_groups_sections_and_draws(monkeypatch, tmp_path):
    def some(report, draws=5):
        """Draws."""
        report.fact("draws", draws)

    def other(report):
        """A failure."""
        raise ValueError("no")

    monkeypatch.setattr(run, "GROUPS", {"methods": (some,), "speed": (other,)})
    assert run.main(["--section", "some", "--draws", "3", "--output", str(tmp_path)]) == 0
    assert "| draws | 3.000 |" in (tmp_path / "some.md").read_text()
    assert run.main(["--output", str(tmp_path)]) == 1
    assert "ValueError: no" in (tmp_path / "methods-speed.md").read_text()
    for wrong in (["--only", "some"], ["--section", "methods"], ["--draws", "0"]):
        with pytest.raises(SystemExit):
            run.main(wrong)


def test_sections_have_one_name_each():
    names = [section.__name__ for sections in run.GROUPS.values() for section in sections]
    assert len(set(names)) == len(names)


def test_one_command_lists_and_runs_all(monkeypatch, capsys):
    assert benchmarks_main.main([]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == [*run.GROUPS, *benchmarks_main.PROGRAMS]
    ran = []
    monkeypatch.setattr(run, "main", lambda arguments: ran.append(arguments) or 0)
    assert benchmarks_main.main(["speed", "--draws", "2"]) == 0
    assert ran == [["--only", "speed", "--draws", "2"]]


# ------------------------------------------------------------------ demo
def test_doc_comments(go_comments):
    source = "// Licence\n\n//go:build linux\n\n// Package a\n// does.\npackage a\n\n"
    source += "// not above\n\nfunc F() {\n\t// inner\n}\n\n"
    source += "// F is f.\n//go:noinline\nfunc F() {}\n"
    assert go_comments.doc_comments(source) == ["Package a\ndoes.", "F is f."]


def test_go_corpus_takes_a_comment_once(go_comments, tmp_path):
    comment = "// " + "word " * 30 + "\n"
    for name in ("a.go", "b.go", "c_test.go"):
        path = tmp_path / "src" / "os" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{comment}func F() {{}}\n// short\nfunc G() {{}}\n")
    texts, areas = go_comments.load(tmp_path, ("os",))
    assert areas == ["os"]
    assert texts[0].startswith("word word")


def test_rows_of_words_have_the_word_and_its_neighbours() -> None:
    words = aso_tagging.Words([["A", "b", "a"], ["b", "c", "b", "b"]], by_count=True)  # c stands once: no feature
    rows, (a, b), size = words.rows([["b", "a", "c", "B"]]).toarray(), (words.number["a"], words.number["b"]), 2
    here, left, right = (np.arange(4) * 0 + group * size for group in range(3))
    wanted = np.zeros((4, 3 * size))
    for token, column, word in [(0, here, b), (0, right, a), (1, here, a), (1, left, b), (2, left, a), (2, right, b),
                                (3, here, b)]:  # fmt: skip
        wanted[token, column[token] + word] = 2**-0.5 if word == a else 4**-0.5
    np.testing.assert_allclose(rows, wanted)
    assert words.groups.tolist() == [0, 0, 1, 1, 2, 2]


def test_tags_of_brown_without_what_is_appended() -> None:
    given = ["np-tl", "fw-in+at-nc", "bez*", "*", "pp$", "in-hl", "--"]
    assert [aso_tagging.base(tag) for tag in given] == ["np", "in", "bez", "*", "pp$", "in", "--"]
