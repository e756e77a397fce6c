"""Adds what `cupel up` needs outside of a clone (cupel/stack/sources.py) to the wheel; a clone has it in place.

In a clone, the generated files are written first. The source distribution contains them and the built web page, so
that building the wheel from it needs neither uv nor Node.
"""

import os
import shutil
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
    def dependencies(self) -> list[str]:
        """Require uv to write the generated files, unless uv runs this build or is installed."""
        has_uv = "UV" in os.environ or shutil.which("uv") is not None
        return ["uv"] if self._is_clone() and not has_uv else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        if self._is_clone():
            subprocess.run([sys.executable, "-m", "tools.generate"], cwd=self.root, check=True)
        page = self._build_page()
        if self.target_name == "wheel":
            build_data["force_include"] |= {name: f"{_FOLDER}/{name}" for name in _SOURCES}
            build_data["force_include"] |= {page: f"{_FOLDER}/{_PAGE}"}
        else:
            build_data["force_include"] |= {page: _PAGE}

    def _is_clone(self) -> bool:
        return (Path(self.root) / "tools/generate.py").is_file()

    def _build_page(self) -> str:
        """The folder of the built page: in a clone, it is built first."""
        root = Path(self.root)
        if not (root / "web" / "src").is_dir():
            return str(root / _PAGE)
        subprocess.run([sys.executable, str(root / "web" / "build.py"), "build"], check=True)  # noqa: S603
        return str(root / ".cupel" / "page")
