"""Where a local stack lives. Everything it writes is below two directories, so it can be looked at and thrown away."""

import os
from dataclasses import dataclass
from pathlib import Path

from cupel.errors import WrongUse

REGION = "us-east-1"
STACK_NAME = "cupel"


@dataclass(frozen=True)
class Place:
    repository: Path
    state: Path
    """One stack's own: what the emulator keeps, the logs, the address and the token."""

    @property
    def tools(self) -> Path:
        """Shared by all local stacks of this repository: uv, the emulator, the build."""
        return self.repository / ".cupel"

    @property
    def build(self) -> Path:
        return self.tools / "build"

    @property
    def emulator_log(self) -> Path:
        return self.state / "emulator.log"

    @property
    def deploy_log(self) -> Path:
        return self.state / "deploy.log"

    @property
    def local_file(self) -> Path:
        return self.state / "local.json"


def find_place(start: Path) -> Place:
    """The repository that `start` lies in; its own stack lives in its `.cupel`."""
    for directory in (start, *start.parents):
        if (directory / "template.yaml").is_file() and (directory / "shared/cupel_core").is_dir():
            return Place(directory, directory / ".cupel")
    raise WrongUse("not inside a clone of Cupel: no template.yaml here or above")


def write_private(path: Path, text: str) -> None:
    """For the eyes of this user only, from the first byte on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        path.chmod(0o600)
        file.write(text)
