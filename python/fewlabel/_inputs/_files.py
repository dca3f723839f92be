"""Files to read."""

import os
from pathlib import Path
from typing import Any


def regular(path: Any) -> Path:
    """The path of a file. Others are refused: to open a pipe can wait for ever, and a device need not end."""
    file = Path(os.fsdecode(path))
    if not file.is_file() and file.exists():
        of_kinds = {"directory": file.is_dir(), "pipe": file.is_fifo(), "socket": file.is_socket(), "device": True}
        found = next(kind for kind, is_it in of_kinds.items() if is_it)
        raise OSError(f"cannot read {file}: it is a {found}: give the path of a file")
    return file
