"""Starts and stops the embedded cloud: one background process per local stack, identified by its recorded pid and
port."""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cupel.errors import CupelError, UsageError
from cupel.stack.access.cloud import CloudAccess
from cupel.stack.access.signatures import AccessKey, sign
from cupel.stack.durability import CHECKPOINT_PATH, FAILURE_MARK, NOTICE_MARK
from cupel.stack.paths import PYTHON_VERSION, REGION, STACK_NAME, StackPaths, write_private
from cupel.stack.subprocesses import child_environment, find_python, run

DEFAULT_PORT = 4566
_START_SECONDS = 300.0  # It loads its data first: about 3 s per 100,000 probes.
_STOP_SECONDS = 60.0
_PORT_SECONDS = 3.0
_POLL_SECONDS = 0.05
_DISCARD_HINT = "`cupel down --discard` deletes the data"
_LAUNCHER = "cupel/stack/durability/launcher.py"
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_DELETED_PREFIX = "deleted-"
_DELETE_IN_BACKGROUND = 'rm -rf "$@" </dev/null >/dev/null 2>&1 &'
_IN_BACKGROUND = 'umask 077; log=$1; shift; "$@" </dev/null >>"$log" 2>&1 & echo $!'
_MAX_PORT = 65_535


@dataclass(frozen=True)
class Emulator:
    pid: int
    port: int
    objects_port: int
    key: AccessKey

    @property
    def endpoint_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def access(self) -> CloudAccess:
        return CloudAccess(self.endpoint_url, f"http://127.0.0.1:{self.objects_port}", self.key)

    def api_url(self, stack_name: str) -> str:
        return f"{self.endpoint_url}{api_path(stack_name)}"


def api_path(stack_name: str) -> str:
    return f"/_aws/execute-api/{stack_name}/$default"


def find_running(paths: StackPaths) -> Emulator | None:
    """Return the emulator of this stack if it runs. Other programs that listen on its port are ignored."""
    record = _read_record(paths)
    return record if record and _runs_emulator(paths, record.pid) else None


def start(paths: StackPaths, port: int | None, notify: Callable[[str], None] = lambda _: None) -> Emulator:
    """Start the emulator and wait until it is ready. Existing data is bound to its port: queue URLs contain it.

    `notify` gets messages about the data for the user.
    """
    record = _read_record(paths)
    chosen = _choose_port(record.port if record and paths.data.exists() else None, port)
    objects_port = _choose_objects_port(record.objects_port if record else 0, chosen)
    environment = child_environment(paths)
    _install(paths, environment)
    _end_workers(paths)
    _delete_in_background(paths)
    _scratch(paths).mkdir(parents=True)
    log_start = paths.emulator_log.stat().st_size if paths.emulator_log.exists() else 0
    paths.emulator_log.touch()
    paths.emulator_log.chmod(0o600)
    unstarted = Emulator(0, chosen, objects_port, AccessKey.create())
    variables = {**environment, **_configuration(paths, unstarted), **paths.emulator_variables}
    emulator = replace(unstarted, pid=_launch(paths, variables))
    write_private(paths.emulator_record, _encode_record(emulator))
    _await_ready(paths, emulator, log_start)
    for line in _read_log(paths, log_start).splitlines():
        if line.startswith(NOTICE_MARK):
            notify(line.removeprefix(NOTICE_MARK))
    return emulator


def _install(paths: StackPaths, environment: dict[str, str]) -> None:
    variables = environment | {"UV_PROJECT_ENVIRONMENT": str(paths.emulator_environment)}
    sync = ["uv", "sync", "--quiet", "--frozen", "--only-group", "emulator"]
    sync += ["--python", find_python(environment)]
    try:
        run(sync, paths, variables)
    except CupelError as error:
        raise CupelError(
            f"the embedded cloud and its Python {PYTHON_VERSION} could not be installed: {error}"
        ) from error


def save_deployment(emulator: Emulator) -> None:
    try:
        with _open(emulator, "POST", CHECKPOINT_PATH, timeout=60):
            pass
    except urllib.error.HTTPError as error:
        raise CupelError(f"the deployment could not be stored: {error.read().decode()}") from error


def refuse_other_port(emulator: Emulator, requested: int | None) -> None:
    if requested and requested != emulator.port:
        raise UsageError(f"--port: the stack runs on port {emulator.port}; stop it first with `cupel down`")


def stop(paths: StackPaths) -> bool:
    """Stop the emulator and wait until its processes have ended.

    Return False if it was not running; its workers may have been.
    """
    emulator = find_running(paths)
    if emulator is None:
        _clear_scratch(paths)
        return False
    os.kill(emulator.pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while find_running(paths):
        if time.monotonic() > deadline:
            raise CupelError(f"the embedded cloud (process {emulator.pid}) did not stop; see {paths.emulator_log}")
        time.sleep(_POLL_SECONDS)
    _clear_scratch(paths)
    return True


def discard(paths: StackPaths) -> None:
    """Delete everything that this stack has stored. If that is interrupted, no unpacked code looks complete."""
    _set_aside(paths, _layers(paths))
    _clear_scratch(paths)
    shutil.rmtree(paths.data, ignore_errors=True)
    for file in (paths.emulator_record, paths.local_file, paths.data_format):
        file.unlink(missing_ok=True)


def _configuration(paths: StackPaths, emulator: Emulator) -> dict[str, str]:
    """Return the key and the address of the objects, also for its functions, which inherit its environment."""
    access = emulator.access.variables(REGION)
    del access["AWS_ENDPOINT_URL"]  # The emulator names itself to its functions.
    return access | {
        "GATEWAY_PORT": str(emulator.port),
        "OBJECTS_PORT": str(emulator.objects_port),
        "API_PATH": api_path(STACK_NAME),
        "ALLOWED_HOSTS_FILE": str(paths.hosts_file),
        "BIND_HOST": "127.0.0.1",
        "IOT_MTLS_ENABLED": "0",  # It would listen on all interfaces.
        "SFTP_ENABLED": "0",
        "PERSIST_STATE": "1",
        "S3_PERSIST": "1",
        "STATE_DIR": str(paths.data / "state"),
        "S3_DATA_DIR": str(paths.data / "s3"),
        "TMPDIR": str(_scratch(paths)),  # The code of the workers is unpacked here.
        "LAYERS_DIR": str(_layers(paths)),
    }


def _scratch(paths: StackPaths) -> Path:
    return paths.state / "scratch"


def _layers(paths: StackPaths) -> Path:
    return paths.state / "layers"


def _clear_scratch(paths: StackPaths) -> None:
    _end_workers(paths)
    for folder in (_scratch(paths), *paths.state.glob(f"{_DELETED_PREFIX}*")):
        shutil.rmtree(folder, ignore_errors=True)


def _delete_in_background(paths: StackPaths) -> None:
    """Delete the code of a killed emulator without delaying the start; a stop deletes the rest."""
    _set_aside(paths, _scratch(paths))
    deleted = [str(folder) for folder in paths.state.glob(f"{_DELETED_PREFIX}*")]
    subprocess.run(["sh", "-c", _DELETE_IN_BACKGROUND, "sh", *deleted], start_new_session=True, check=True)  # noqa: S607


def _set_aside(paths: StackPaths, folder: Path) -> None:
    """Rename a folder that will be deleted; a stop deletes the rest of an interrupted deletion."""
    if folder.exists():
        folder.rename(Path(tempfile.mkdtemp(prefix=_DELETED_PREFIX, dir=paths.state)) / folder.name)


def _end_workers(paths: StackPaths) -> None:
    deadline = time.monotonic() + _STOP_SECONDS
    while workers := _list_workers(paths):
        if time.monotonic() > deadline:
            raise CupelError(f"workers of the embedded cloud did not end: processes {', '.join(map(str, workers))}")
        for pid in workers:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_POLL_SECONDS)


def _list_workers(paths: StackPaths) -> list[int]:
    listing = subprocess.run(["ps", "-A", "-ww", "-o", "pid=,args="], capture_output=True, text=True, check=True)  # noqa: S607
    processes = [line.strip().partition(" ") for line in listing.stdout.splitlines()]
    return [int(pid) for pid, _, arguments in processes if f"{_scratch(paths)}/" in arguments]


def _command(paths: StackPaths) -> list[str]:
    return [str(_python(paths)), "-P", str(paths.repository / _LAUNCHER), str(paths.data)]


def _python(paths: StackPaths) -> Path:
    return paths.emulator_environment / "bin" / "python"


def _launch(paths: StackPaths, environment: dict[str, str]) -> int:
    """Start the emulator through a shell, so that it is not a child and outlives this process; return its pid."""
    shell = subprocess.run(
        ["sh", "-c", _IN_BACKGROUND, "sh", str(paths.emulator_log), *_command(paths)],  # noqa: S607
        cwd=_scratch(paths),
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C in the terminal must not reach it.
        check=True,
    )
    return int(shell.stdout)


def _read_record(paths: StackPaths) -> Emulator | None:
    try:
        content = json.loads(paths.emulator_record.read_text())
        key = AccessKey(str(content["accessKeyId"]), str(content["secretAccessKey"]))
        ports = int(content["port"]), int(content["objectsPort"])
        return Emulator(int(content["pid"]), *ports, key)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _encode_record(emulator: Emulator) -> str:
    content = {
        "pid": emulator.pid,
        "port": emulator.port,
        "objectsPort": emulator.objects_port,
        "accessKeyId": emulator.key.key_id,
        "secretAccessKey": emulator.key.secret,
    }
    return json.dumps(content)


def _runs_emulator(paths: StackPaths, pid: int) -> bool:
    """Check more than the pid: after a reboot, another process may have it."""
    return _arguments(pid) == " ".join(_command(paths))


def _arguments(pid: int) -> str:
    listing = subprocess.run(["ps", "-ww", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=False)  # noqa: S607
    return listing.stdout.strip()


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _choose_port(bound: int | None, requested: int | None) -> int:
    if bound and requested and bound != requested:
        raise UsageError(f"--port: the stack's data is bound to port {bound}; {_DISCARD_HINT}")
    if bound and not _becomes_free(bound):
        raise UsageError(
            f"port {bound}, to which the stack's data is bound, is used by another program; {_DISCARD_HINT}"
        )
    if requested and not _is_free(requested):
        raise UsageError(f"--port: port {requested} is used by another program; choose another, or omit the option")
    return bound or requested or (DEFAULT_PORT if _is_free(DEFAULT_PORT) else find_free_port())


def _choose_objects_port(earlier: int, port: int) -> int:
    """Return the earlier port, so that a forwarded port stays the same; else the next one, or any that is free."""
    for candidate in (earlier, port + 1):
        if 0 < candidate <= _MAX_PORT and candidate != port and _is_free(candidate):
            return candidate
    return find_free_port()


def _becomes_free(port: int) -> bool:
    """Wait for the port, which an emulator that was just killed has for a moment longer than its name."""
    deadline = time.monotonic() + _PORT_SECONDS
    while not (is_free := _is_free(port)) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return is_free


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


def _await_ready(paths: StackPaths, emulator: Emulator, log_start: int) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not _is_ready(emulator):
        if not _exists(emulator.pid) or time.monotonic() > deadline:
            reason = _read_log(paths, log_start).partition(FAILURE_MARK)[2].strip() or f"see {paths.emulator_log}"
            raise CupelError(f"the embedded cloud did not start: {reason}")
        time.sleep(_POLL_SECONDS)


def _read_log(paths: StackPaths, start: int) -> str:
    return paths.emulator_log.read_bytes()[start:].decode(errors="replace")


def _is_ready(emulator: Emulator) -> bool:
    try:
        with _open(emulator, "GET", "/_ministack/ready", timeout=2) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _open(emulator: Emulator, method: str, path: str, timeout: float) -> Any:
    """Send a request that is signed with the emulator's key, without the half second that boto3 takes to import."""
    url = f"{emulator.endpoint_url}{path}"
    headers = sign(emulator.key, method, url, REGION, datetime.now(UTC))
    request = urllib.request.Request(url, method=method, headers=headers)  # noqa: S310 - an http address of our own
    return _DIRECT.open(request, timeout=timeout)
