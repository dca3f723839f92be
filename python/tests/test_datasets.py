"""Example texts."""

from __future__ import annotations

import inspect
import re

import pytest
import scipy.signal

from fewlabel.datasets import load_scipy_docs


def test_docstrings_of_scipy_have_the_topic_of_their_module() -> None:
    texts, topic = load_scipy_docs(("stats", "signal"))
    assert len(texts) == len(set(texts)) == len(topic) > 200
    assert topic[list(texts).index(inspect.getdoc(scipy.signal.butter))] == "signal"
    assert set(load_scipy_docs("signal")[1]) == {"signal"}
    assert set(load_scipy_docs()[1]) >= {"signal", "stats", "linalg"}


def test_docstrings_of_scipy_are_the_same_in_every_process() -> None:
    texts = "\n".join(load_scipy_docs()[0])
    assert "# may vary" not in texts  # numbers that are drawn at import
    assert not re.search(r"argument\(s\) ``\{", texts)  # a set, whose order differs


@pytest.mark.parametrize(("topics", "found"), [("singal", "'singal'"), (("singal",), "'singal'")])
def test_subpackages_that_scipy_does_not_have(topics: object, found: str) -> None:
    with pytest.raises(ValueError, match=f"topics must be subpackages of SciPy.*got {found}"):
        load_scipy_docs(topics)
