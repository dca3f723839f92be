"""Validation of rows, labels, weights and class trees. The caller's objects are never changed."""
