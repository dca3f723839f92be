"""Labeling: rows that are worth a label, answers in a file, a refit after each batch, and a hint when to stop."""

from fewlabel.labeling._session import Session as Session
from fewlabel.labeling._status import Status as Status

__all__ = ["Session"]
