"""Build hook of the metadata: the README as package indexes show it, with links that lead to the code host."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ReadmeHook(MetadataHookInterface):
    """Runs whenever metadata is made; sets `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Put the place of the project, at this version, before links to its files."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = absolute(text, metadata["urls"]["Source"], f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def absolute(text: str, source: str, version: str) -> str:
    """Markdown whose relative links and pictures are those of a version at `source`."""
    text = re.sub(r"!\[([^\]]*)\]\((?!\w+:|#)([^)]+)\)", rf"![\1]({source}/raw/{version}/\2)", text)
    return re.sub(r"(?<!!)\[([^\]]*)\]\((?!\w+:|#)([^)]+)\)", rf"[\1]({source}/blob/{version}/\2)", text)
