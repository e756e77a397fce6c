"""Names the folders of a local stack. It writes to two of them only, so they can be inspected or deleted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cupel.private_folder import make_private
from cupel.whole_files import replace_file

REGION = "us-east-1"
STACK_NAME = "cupel"
PYTHON_VERSION = "3.13"
"""The functions have this version in template.yaml; the emulator runs them with its own interpreter."""
EMULATOR_RECORD = "emulator.json"
_PACKAGE = Path(__file__).parents[2]


@dataclass(frozen=True)
class StackPaths:
    repository: Path
    state: Path
    emulator_variables: Mapping[str, str] = field(default_factory=dict)
    is_copy: bool = False
    """True if the sources are such a copy, which is made again before each start."""

    @property
    def tools(self) -> Path:
        """Return the folder that all local stacks of a clone share: uv, the emulator, the build."""
        return self.state if self.is_copy else self.repository / ".cupel"

    @property
    def emulator_environment(self) -> Path:
        return self.tools / "emulator"

    @property
    def emulator_record(self) -> Path:
        return self.state / EMULATOR_RECORD

    @property
    def build(self) -> Path:
        return self.tools / "build"

    @property
    def data(self) -> Path:
        return self.state / "data"

    @property
    def data_format(self) -> Path:
        return self.state / "data-format"

    @property
    def emulator_log(self) -> Path:
        return self.state / "emulator.log"

    @property
    def deploy_log(self) -> Path:
        return self.state / "deploy.log"

    @property
    def local_file(self) -> Path:
        return self.state / "local.json"

    @property
    def hosts_file(self) -> Path:
        return self.state / "hosts.json"

    def make_private(self) -> None:
        """Create its folders, or close existing ones, so that nobody else may enter them."""
        for folder in {self.state, self.tools}:
            make_private(folder)


def find_stack_paths(start: Path) -> StackPaths:
    """Return the paths of the stack in `.cupel` of the clone that contains `start`.

    Outside of a clone, they are those of the folder, `start` or a parent, in which a stack was started, or else of
    `start`. The stack is then built from the sources of this package.
    """
    folders = (start, *start.parents)
    if clone := next(filter(_is_clone, folders), None):
        return StackPaths(clone, clone / ".cupel")
    state = next((folder for folder in folders if (folder / ".cupel" / EMULATOR_RECORD).is_file()), start) / ".cupel"
    if _is_clone(_PACKAGE):  # It is an editable installation.
        return StackPaths(_PACKAGE, state)
    return StackPaths(state / "sources", state, is_copy=True)


def _is_clone(folder: Path) -> bool:
    return (folder / "template.yaml").is_file() and (folder / "shared/cupel_core").is_dir()


def write_private(path: Path, text: str) -> None:
    """Write a file that only this user can read, from the first byte on. A kill leaves the old content or the new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, text, is_private=True)
