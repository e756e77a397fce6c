"""Servers of third parties that tests install below .cupel and start on a free port of the loopback interface."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.conftest import ROOT

START_SECONDS = 120


def installed(name: str, *packages: str, without_dependencies: bool = False) -> Path:
    """The folder of an environment's programs; makes the environment if it is missing or has other packages."""
    environment = ROOT / ".cupel" / name
    record = environment / "packages.txt"
    if not record.is_file() or record.read_text() != "\n".join(packages):
        options = ["--no-deps"] if without_dependencies else []
        python = str(environment / "bin" / "python")
        _uv("venv", "--quiet", "--clear", "--python", sys.executable, str(environment))
        _uv("pip", "install", "--quiet", *options, "--python", python, *packages)
        record.write_text("\n".join(packages))
    return environment / "bin"


@contextmanager
def serving(
    command: Sequence[str | Path],
    folder: Path,
    health_path: str,
    variables: Mapping[str, str] | None = None,
    port: int | None = None,
) -> Iterator[str]:
    """Start a server that takes `--port`; yields its address once it is healthy, and stops the server afterwards."""
    chosen = port or free_port()
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **(variables or {})}
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--port", str(chosen)], cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        url = f"http://127.0.0.1:{chosen}"
        _wait_for(f"{url}{health_path}", process, folder / "server.log")
        yield url
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def _uv(*arguments: str) -> None:
    subprocess.run([Path(sys.executable).with_name("uv"), *arguments], check=True, timeout=600)


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            if httpx.get(url, trust_env=False).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"no server at {url}:\n{log.read_text()[-2000:]}")
