"""A corpus that is on every machine with Go: the doc comments of its standard library, topic = area of the library."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

AREAS = ("crypto", "net", "go", "encoding", "os", "math", "database", "runtime")
SHORTEST = 120  # characters of a comment that is taken
DECLARATION = re.compile(r"(func|type|var|const|package)\b")
DIRECTIVE = re.compile(r"//[a-z]+:")  # //go:build and the like are no text


def go_root() -> Path:
    """The folder where Go is installed."""
    try:
        done = subprocess.run(["go", "env", "GOROOT"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(
            f"the demo reads the sources of Go's standard library, and `go env GOROOT` fails: {error}"
        ) from None
    return Path(done.stdout.strip())


def doc_comments(source: str) -> list[str]:
    """The comments that stand directly above a declaration at the left margin."""
    found, lines = [], []
    for line in source.split("\n"):
        if line.startswith("//"):
            if not DIRECTIVE.match(line):
                lines.append(line[2:].strip())
            continue
        if lines and DECLARATION.match(line):
            found.append("\n".join(lines))
        lines = []
    return found


def load(root: Path | None = None, areas: tuple[str, ...] = AREAS) -> tuple[list[str], list[str]]:
    """Comments of at least SHORTEST characters and the area of each. A comment that stands in several files, as those
    for several systems do, is taken once."""
    texts: dict[str, str] = {}
    for area in areas:
        for path in sorted(((root or go_root()) / "src" / area).rglob("*.go")):
            if path.name.endswith("_test.go") or "testdata" in path.parts:
                continue
            for comment in doc_comments(path.read_text(encoding="utf-8", errors="replace")):
                if len(comment) >= SHORTEST:
                    texts.setdefault(comment, area)
    if not texts:
        raise SystemExit(f"no doc comments found below {root or go_root()}: is Go's source installed?")
    return list(texts), list(texts.values())
