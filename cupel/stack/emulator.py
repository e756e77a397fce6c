"""The embedded cloud: one background process per local stack, identified by a record of its pid and port."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from cupel.errors import CupelError, UsageError
from cupel.stack.paths import StackPaths
from cupel.stack.subprocesses import child_environment, run

DEFAULT_PORT = 4566
_START_SECONDS = 30.0
_STOP_SECONDS = 60.0
_POLL_SECONDS = 0.05
_DISCARD_HINT = "`cupel down --discard` deletes the data"
_IN_BACKGROUND = 'log=$1; shift; "$@" </dev/null >>"$log" 2>&1 & echo $!'


@dataclass(frozen=True)
class Emulator:
    pid: int
    port: int

    @property
    def endpoint_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def api_url(self, stack_name: str) -> str:
        return f"{self.endpoint_url}/_aws/execute-api/{stack_name}/$default"


def find_running(paths: StackPaths) -> Emulator | None:
    """The emulator of this stack if it runs. Other programs that listen on its port are ignored."""
    record = _read_record(paths)
    return record if record and _runs_emulator(paths, record.pid) else None


def start(paths: StackPaths, port: int | None) -> Emulator:
    """Start the emulator and wait until it is ready. Existing data is bound to its port: queue URLs contain it."""
    record = _read_record(paths)
    chosen = _choose_port(record.port if record and _data(paths).exists() else None, port)
    environment = child_environment(paths)
    install = environment | {"UV_PROJECT_ENVIRONMENT": str(_environment(paths))}
    run(["uv", "sync", "--quiet", "--frozen", "--only-group", "emulator"], paths, install)
    shutil.rmtree(_scratch(paths), ignore_errors=True)
    _scratch(paths).mkdir(parents=True)
    emulator = Emulator(_launch(paths, environment | _configuration(paths, chosen)), chosen)
    _record(paths).write_text(json.dumps({"pid": emulator.pid, "port": emulator.port}))
    _await_ready(paths, emulator)
    return emulator


def refuse_other_port(emulator: Emulator, requested: int | None) -> None:
    if requested and requested != emulator.port:
        raise UsageError(f"--port: the stack runs on port {emulator.port}; stop it first with `cupel down`")


def stop(paths: StackPaths) -> bool:
    """Stop the emulator and wait for its exit, on which it saves its data. Returns False if it was not running."""
    emulator = find_running(paths)
    if emulator is None:
        return False
    os.kill(emulator.pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while _runs_emulator(paths, emulator.pid):
        if time.monotonic() > deadline:
            raise CupelError(f"the embedded cloud (process {emulator.pid}) did not stop; see {paths.emulator_log}")
        time.sleep(_POLL_SECONDS)
    shutil.rmtree(_scratch(paths), ignore_errors=True)
    return True


def discard(paths: StackPaths) -> None:
    """Delete everything that this stack has stored."""
    for directory in (_data(paths), _scratch(paths)):
        shutil.rmtree(directory, ignore_errors=True)
    for file in (_record(paths), paths.local_file):
        file.unlink(missing_ok=True)


def _configuration(paths: StackPaths, port: int) -> dict[str, str]:
    return {
        "GATEWAY_PORT": str(port),
        "BIND_HOST": "127.0.0.1",
        "IOT_MTLS_ENABLED": "0",  # would listen on all interfaces
        "SFTP_ENABLED": "0",
        "PERSIST_STATE": "1",
        "S3_PERSIST": "1",
        "STATE_DIR": str(_data(paths) / "state"),
        "S3_DATA_DIR": str(_data(paths) / "s3"),
        "TMPDIR": str(_scratch(paths)),  # every worker unpacks its own copy of the code here
    }


def _environment(paths: StackPaths) -> Path:
    return paths.tools / "emulator"


def _data(paths: StackPaths) -> Path:
    return paths.state / "data"


def _scratch(paths: StackPaths) -> Path:
    return paths.state / "scratch"


def _record(paths: StackPaths) -> Path:
    return paths.state / "emulator.json"


def _command(paths: StackPaths) -> list[str]:
    return [str(_environment(paths) / "bin" / "python"), "-m", "ministack"]


def _launch(paths: StackPaths, environment: dict[str, str]) -> int:
    """Start the emulator through a shell, so that it is not a child and outlives this process. Returns its pid."""
    shell = subprocess.run(
        ["sh", "-c", _IN_BACKGROUND, "sh", str(paths.emulator_log), *_command(paths)],  # noqa: S607
        cwd=_scratch(paths),
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C in the terminal must not reach it
        check=True,
    )
    return int(shell.stdout)


def _read_record(paths: StackPaths) -> Emulator | None:
    try:
        content = json.loads(_record(paths).read_text())
        return Emulator(int(content["pid"]), int(content["port"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _runs_emulator(paths: StackPaths, pid: int) -> bool:
    """The pid is not enough: after a reboot, another process may have it."""
    listing = subprocess.run(["ps", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=False)  # noqa: S607
    return listing.stdout.strip() == " ".join(_command(paths))


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _choose_port(bound: int | None, requested: int | None) -> int:
    if bound and requested and bound != requested:
        raise UsageError(f"--port: the stack's data is bound to port {bound}; {_DISCARD_HINT}")
    if bound and not _is_free(bound):
        raise UsageError(
            f"port {bound}, to which the stack's data is bound, is used by another program; {_DISCARD_HINT}"
        )
    if requested and not _is_free(requested):
        raise UsageError(f"--port: port {requested} is used by another program; choose another, or omit the option")
    return bound or requested or (DEFAULT_PORT if _is_free(DEFAULT_PORT) else find_free_port())


def _is_free(port: int) -> bool:
    with socket.socket() as candidate:
        candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            candidate.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def find_free_port() -> int:
    with socket.socket() as candidate:
        candidate.bind(("127.0.0.1", 0))
        return int(candidate.getsockname()[1])


def _await_ready(paths: StackPaths, emulator: Emulator) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not _is_ready(emulator):
        if not _exists(emulator.pid) or time.monotonic() > deadline:
            raise CupelError(f"the embedded cloud did not start; see {paths.emulator_log}")
        time.sleep(_POLL_SECONDS)


def _is_ready(emulator: Emulator) -> bool:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"{emulator.endpoint_url}/_ministack/ready", timeout=2) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False
