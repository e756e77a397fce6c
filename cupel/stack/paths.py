"""The folders of a local stack. It writes to two of them only, so they can be inspected or deleted."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cupel.errors import UsageError

REGION = "us-east-1"
STACK_NAME = "cupel"


@dataclass(frozen=True)
class StackPaths:
    repository: Path
    state: Path
    """The files of one stack: the emulator's data, the logs, the address and the token."""
    emulator_variables: Mapping[str, str] = field(default_factory=dict)
    """Further environment variables of the emulator, which its functions inherit."""

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


def find_stack_paths(start: Path) -> StackPaths:
    """The paths of the stack in `.cupel` of the repository that contains `start`."""
    for directory in (start, *start.parents):
        if (directory / "template.yaml").is_file() and (directory / "shared/cupel_core").is_dir():
            return StackPaths(directory, directory / ".cupel")
    raise UsageError(
        "not inside a clone of Cupel: no template.yaml in this folder or a parent; change to a clone first"
    )


def write_private(path: Path, text: str) -> None:
    """Write a file that only this user can read, from the first byte on. A kill leaves the old content or the new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".tmp")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    unfinished.replace(path)
