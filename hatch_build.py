"""Adds what `cupel up` needs outside of a clone (cupel/stack/sources.py) to the wheel; a clone has it in place.

The source distribution gets the built web page, so that building the wheel from it needs no Node.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_FOLDER = "cupel/stack/packaged"
_SOURCES = (
    "functions",
    "pyproject.toml",
    "samconfig.toml",
    "shared/Makefile",
    "statemachines",
    "template.yaml",
    "uv.lock",
    "web/Makefile",
    "web/build.py",
)
_PAGE = "web/dist"


class StackSources(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        page = self._build_page()
        if self.target_name == "wheel":
            build_data["force_include"] |= {name: f"{_FOLDER}/{name}" for name in _SOURCES}
            build_data["force_include"] |= {page: f"{_FOLDER}/{_PAGE}"}
        else:
            build_data["force_include"] |= {page: _PAGE}

    def _build_page(self) -> str:
        """The folder of the built page: in a clone, it is built first."""
        root = Path(self.root)
        if not (root / "web" / "src").is_dir():
            return str(root / _PAGE)
        subprocess.run([sys.executable, str(root / "web" / "build.py"), "build"], check=True)  # noqa: S603
        return str(root / ".cupel" / "page")
