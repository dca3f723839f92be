"""20 Newsgroups, if it is on this machine: from a folder of the data sets, or where scikit-learn keeps it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path


def load(path: Path | None = None) -> tuple[list[str], list[str]] | None:
    """Messages and their groups, or None where there are none. Nothing is downloaded.

    `path` is a folder with 20news-bydate-train.jsonl.gz (or with a folder 20newsgroups that has it), or a data home of
    scikit-learn; None looks into scikit-learn's usual one.
    """
    for folder in [path, path / "20newsgroups"] if path else []:
        if (folder / "20news-bydate-train.jsonl.gz").is_file():
            return _from_lines(folder)
    return _from_sklearn(path)


def subject_and_body(message: str) -> str:
    """The subject and the body of a message; the other headers would reveal the group."""
    head, _, body = message.replace("\r\n", "\n").partition("\n\n")
    subjects = [line[8:].strip() for line in head.split("\n") if line.lower().startswith("subject:")]
    return "\n".join([*subjects, body])


def _from_lines(folder: Path) -> tuple[list[str], list[str]]:
    rows = []
    for part in ("train", "test"):
        with gzip.open(folder / f"20news-bydate-{part}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows += [json.loads(line) for line in lines]
    return [subject_and_body(row["text"]) for row in rows], [row["label"] for row in rows]


def _from_sklearn(home: Path | None) -> tuple[list[str], list[str]] | None:
    from sklearn.datasets import fetch_20newsgroups

    try:
        found = fetch_20newsgroups(data_home=home, subset="all", shuffle=False, download_if_missing=False)
    except OSError:
        return None
    return [subject_and_body(t) for t in found.data], [found.target_names[k] for k in found.target]
