"""The `cupel` command in a process of its own."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cupel.stack.address import LocalStack
from cupel.stack.paths import StackPaths
from cupel.stack.subprocesses import child_environment

type Cupel = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def cupel(stack: LocalStack, stack_paths: StackPaths, tmp_path_factory: pytest.TempPathFactory) -> Cupel:
    """Runs the command in an empty folder, with the address of the stack in the environment."""
    address = {"CUPEL_API_URL": stack.api_url, "CUPEL_TOKEN": stack.token}
    directory = tmp_path_factory.mktemp("work")

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(Path(sys.executable).parent / "cupel"), *arguments],
            env=child_environment(stack_paths) | address,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return call
