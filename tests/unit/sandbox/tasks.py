"""Tasks for the tests of the sandbox."""

import os
import time
from typing import Any


def echo(value: Any) -> Any:
    return value


def spin() -> None:
    while True:
        pass


def spin_in_c() -> int:
    return sum(range(10**12))


def allocate(megabytes: int) -> int:
    return len(b"x" * (megabytes << 20))


def refuse(message: str) -> None:
    raise ValueError(message)


def fail() -> None:
    raise KeyError("x")


def exit_now() -> None:
    os._exit(3)


def text(length: int) -> str:
    return "x" * length


def environment() -> list[str]:
    return sorted(os.environ)


def process_id() -> int:
    return os.getpid()


def niceness() -> int:
    return os.nice(0)


def wait_for_file(path: str) -> None:
    while not os.path.exists(path):  # noqa: PTH110 - without an import, as in a helper
        time.sleep(0.01)


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def recurse(depth: int) -> int:
    return recurse(depth + 1)
