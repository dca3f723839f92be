"""Class trees: read from a dict or from class names, and numbered for the library.

A tree is a dict from every node to its parent, None just below the top. Classes are the leaves; the other nodes are
groups. The root itself is not a node: a group that contains every class has no effect.
"""

from collections.abc import Container, Hashable, Mapping
from typing import Any

import numpy as np

from fewlabel._inputs._markers import is_blank, is_missing, is_of_kind, kind_of, listed, objects, plain
from fewlabel._inputs._numbers import check_count, check_text

Tree = dict[Any, Any]

# Groups above a class. 2,000 rows of 32 classes, each beside a group of the others, took nine times as long as flat.
_DEEPEST = 20


def read(hierarchy: Any, classes: np.ndarray) -> Tree | None:
    """The tree of the classes, which come first, then the groups upwards; None where `hierarchy` is None."""
    if hierarchy is None:
        return None
    if isinstance(hierarchy, str):
        return _from_names(hierarchy, classes)
    if isinstance(hierarchy, Mapping):
        return _from_parents(hierarchy, classes)
    raise ValueError(f"hierarchy={hierarchy!r} must be None, a dict from child to parent, or a separator in names")


def leaves(hierarchy: Any, labels: list[Any]) -> dict[Any, list[Any]]:
    """Classes below each group with several of a tree, given as a dict from child to parent or as a separator."""
    below: dict[Any, list[Any]] = {}
    if isinstance(hierarchy, str) and hierarchy:
        hierarchy = _by_separator(hierarchy, [name for name in labels if isinstance(name, str)])
    if not isinstance(hierarchy, Mapping) or not all(isinstance(name, Hashable) for name in hierarchy.values()):
        return below  # such a hierarchy is refused later
    tree, groups = dict(hierarchy), set(hierarchy.values())
    for name in tree:
        for group in _path(tree, name)[1:] * (name not in groups):
            below.setdefault(group, []).append(name)
    return {group: names for group, names in below.items() if len(names) > 1}


def refuse_groups(below: Mapping[Any, list[Any]], fitted: set[Any], class_prior: Any) -> None:
    """Refuse labels of groups that were meant as classes: no fit is left, or none with these shares."""
    shares = len(class_prior) if np.ndim(class_prior) == 1 else None
    for group, leaves in below.items() if fitted else ():
        if fitted.isdisjoint(leaves):
            why = "no row has the label of a class below it"
        elif len(fitted) == 1:
            why = f"no row has the label of another class than {fitted.pop()!r}"
        elif shares == len(fitted) + len(below):
            why = f"class_prior has {shares} shares, one for it"
        else:
            continue
        found = f"hierarchy has {listed(objects(leaves))} below {group!r}, which is a label in y, but {why}"
        cure = f"give the rows of {group!r} a class of their own below it, if it is no group"
        raise ValueError(f"{found}: a class must be a leaf. Label rows of the classes below it, or {cure}")


def checked(tree: Any, classes: np.ndarray) -> Tree | None:
    """A tree from a file, validated as by `read`."""
    if tree is None:
        return None
    if list(_ordered(tree, classes.tolist()).items()) != list(tree.items()):
        raise ValueError("hierarchy is no tree of the classes")
    return tree


def numbers(tree: Tree | None) -> np.ndarray | None:
    """Number of the parent of every node, classes first; -1 at the top level. None if there are no groups."""
    if tree is None or not any(parent is not None for parent in tree.values()):
        return None
    number = {name: k for k, name in enumerate(tree)} | {None: -1}
    return np.array([number[parent] for parent in tree.values()], dtype=np.int64)


def at_level(tree: Tree, classes: np.ndarray, level: Any) -> np.ndarray:
    """Names (K,) of the classes' ancestors at a level, from 1 at the top; in the dtype of the classes, or objects."""
    level = check_count("level", level, otherwise=" (1: just below the top)")
    paths = [_path(tree, name) for name in classes.tolist()]
    names = [path[max(0, len(path) - level)] for path in paths]
    if classes.dtype.kind != "O" and all(type(name) is type(path[0]) for name, path in zip(names, paths, strict=True)):
        return np.array(names, dtype=None if classes.dtype.kind == "U" else classes.dtype)
    return objects(names)


def _path(tree: Tree, name: Any) -> list[Any]:
    """From a node up to just below the top, which may be a node as well. A circle is refused, and a longer path."""
    path = [name]
    while (above := tree.get(path[-1])) is not None:
        path.append(above)
        if len(path) > _DEEPEST + 2:
            if above not in path[:-1]:
                raise ValueError(_too_deep(name))
            first = next(group for group in path if path.count(group) > 1)
            circle = path[path.index(first) : path.index(first, path.index(first) + 1) + 1]
            raise ValueError(f"hierarchy goes in a circle: {' -> '.join(map(repr, circle))}")
    return path


def _too_deep(name: Any) -> str:
    return f"hierarchy has more than {_DEEPEST} groups above {name!r:.80}, one above the other"


def _from_names(separator: str, classes: np.ndarray) -> Tree:
    names, given = classes.tolist(), f"hierarchy={separator!r} is a separator"
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"{given}, which needs class names that are texts; the classes are {listed(classes)}")
    if not separator or not any(separator in name for name in names):
        raise ValueError(f"{given}, but no class name has it: the classes are {listed(classes)}")
    if empty := [name for name in names if any(map(is_blank, name.split(separator)))]:
        raise ValueError(f"hierarchy={separator!r}: the class {empty[0]!r} has an empty part")
    return _ordered(_by_separator(separator, names), names)


def _by_separator(separator: str, names: list[str]) -> Tree:
    parents: Tree = {}
    for name in names:
        if name.count(separator) > _DEEPEST:
            raise ValueError(_too_deep(name))
        while name and name not in parents:
            parents[name] = name.rpartition(separator)[0] or None
            name = parents[name]
    return parents


def _from_parents(hierarchy: Mapping[Any, Any], classes: np.ndarray) -> Tree:
    parents = {plain(child): plain(parent) for child, parent in hierarchy.items()}
    for child, parent in parents.items():
        if is_missing(child) or (parent is not None and is_missing(parent)):
            found = f"hierarchy has {child!r} below {parent!r}, which is no name"
            raise ValueError(f"{found}: write None above what is at the top")
        if isinstance(parent, list | tuple | set | frozenset | dict | np.ndarray):
            raise ValueError(f"hierarchy gives {child!r} the parents {parent!r}: write its one parent")
        if isinstance(parent, str):
            check_text("a group of hierarchy", parent)
    names = classes.tolist()
    known, paths = set(names), {name: _path(parents, name) for name in parents}
    for leaf in without_label(parents, known):
        if not is_of_kind(leaf, kind_of(names[0])) or not known.isdisjoint(paths[leaf]):
            found = f"hierarchy has {leaf!r} below {parents[leaf]!r}, but the classes are {listed(classes)}"
            raise ValueError(f"{found}: give a dict from child to parent, with classes of one type as its leaves")
    _check_leaves(parents, names)
    groups = {parent for parent in parents.values() if parent is not None}
    highest = {name for name in [*names, *groups] if parents.get(name) is None}
    if len(highest) == 1 and highest <= groups:  # the top has a name
        top = highest.pop()
        parents = {child: None if parent == top else parent for child, parent in parents.items() if child != top}
    return _ordered(parents, names)


def without_label(hierarchy: Any, names: Container[Any]) -> list[Any]:
    """Leaves of a dict that are not among the classes of a fit, and so are left out of its tree."""
    groups = set(hierarchy.values()) if isinstance(hierarchy, Mapping) else set()
    return [name for name in hierarchy if name not in groups and name not in names] if groups else []


def _ordered(parents: Tree, names: list[Any]) -> Tree:
    """Classes first, then the groups above them; a class must be a leaf."""
    _check_leaves(parents, names)
    tree = {name: parents.get(name) for name in names}
    for name in names:
        if len(groups := _path(parents, name)[1:]) > _DEEPEST:
            raise ValueError(_too_deep(name))
        tree |= {group: parents.get(group) for group in groups}
    return tree


def _check_leaves(parents: Tree, names: list[Any]) -> None:
    known = set(names)
    for child, group in parents.items():
        if group is not None and group in known:
            found = f"hierarchy has {child!r} below {group!r}, which is a class: a class must be a leaf"
            raise ValueError(f"{found}. Give the rows of {group!r} a class of their own below it")
