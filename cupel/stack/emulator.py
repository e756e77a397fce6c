"""The embedded cloud: one background process per local stack, started, recognised and stopped by its record."""

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

from cupel.errors import CupelError, WrongUse
from cupel.stack.paths import Place
from cupel.stack.subprocesses import child_environment, run

DEFAULT_PORT = 4566
_START_SECONDS = 30.0
_STOP_SECONDS = 60.0
_POLL_SECONDS = 0.05
_FORGET = "`cupel down --discard` forgets the data"
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


def running(place: Place) -> Emulator | None:
    """The emulator this place started, if it still runs. Whatever else listens on its port is none of our business."""
    recorded = _recorded(place)
    return recorded if recorded and _is_ours(place, recorded.pid) else None


def start(place: Place, port: int | None) -> Emulator:
    """Starts it and waits until it answers. Earlier data is bound to its port: queues are known by their address."""
    recorded = _recorded(place)
    chosen = _choose_port(recorded.port if recorded and _data(place).exists() else None, port)
    environment = child_environment(place)
    install = environment | {"UV_PROJECT_ENVIRONMENT": str(_home(place))}
    run(["uv", "sync", "--quiet", "--frozen", "--only-group", "emulator"], place, install)
    shutil.rmtree(_scratch(place), ignore_errors=True)
    _scratch(place).mkdir(parents=True)
    emulator = Emulator(_launch(place, environment | _configuration(place, chosen)), chosen)
    _record(place).write_text(json.dumps({"pid": emulator.pid, "port": emulator.port}))
    _await_ready(place, emulator)
    return emulator


def refuse_other_port(emulator: Emulator, wanted: int | None) -> None:
    if wanted and wanted != emulator.port:
        raise WrongUse(f"the stack runs on port {emulator.port}; `cupel down` stops it")


def stop(place: Place) -> bool:
    """Asks it to end, which is when it writes its data down, and waits until it has. False if there was none."""
    emulator = running(place)
    if emulator is None:
        return False
    os.kill(emulator.pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while _is_ours(place, emulator.pid):
        if time.monotonic() > deadline:
            raise CupelError(f"the embedded cloud (process {emulator.pid}) does not stop; see {place.emulator_log}")
        time.sleep(_POLL_SECONDS)
    shutil.rmtree(_scratch(place), ignore_errors=True)
    return True


def discard(place: Place) -> None:
    """Forgets everything this place's stack ever stored."""
    for directory in (_data(place), _scratch(place)):
        shutil.rmtree(directory, ignore_errors=True)
    for file in (_record(place), place.local_file):
        file.unlink(missing_ok=True)


def _configuration(place: Place, port: int) -> dict[str, str]:
    return {
        "GATEWAY_PORT": str(port),
        "BIND_HOST": "127.0.0.1",
        "IOT_MTLS_ENABLED": "0",  # would listen on all interfaces
        "SFTP_ENABLED": "0",
        "PERSIST_STATE": "1",
        "S3_PERSIST": "1",
        "STATE_DIR": str(_data(place) / "state"),
        "S3_DATA_DIR": str(_data(place) / "s3"),
        "TMPDIR": str(_scratch(place)),  # every worker unpacks its own copy of the code here
    }


def _home(place: Place) -> Path:
    return place.tools / "emulator"


def _data(place: Place) -> Path:
    return place.state / "data"


def _scratch(place: Place) -> Path:
    return place.state / "scratch"


def _record(place: Place) -> Path:
    return place.state / "emulator.json"


def _command(place: Place) -> list[str]:
    return [str(_home(place) / "bin" / "python"), "-m", "ministack"]


def _launch(place: Place, environment: dict[str, str]) -> int:
    """The process id. A shell in between gives the process away, so that it outlives this one and is nobody's child."""
    told = subprocess.run(
        ["sh", "-c", _IN_BACKGROUND, "sh", str(place.emulator_log), *_command(place)],  # noqa: S607
        cwd=_scratch(place),
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C in the terminal is not for it
        check=True,
    )
    return int(told.stdout)


def _recorded(place: Place) -> Emulator | None:
    try:
        content = json.loads(_record(place).read_text())
        return Emulator(int(content["pid"]), int(content["port"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_ours(place: Place, pid: int) -> bool:
    """A process id alone proves nothing: after a reboot it is somebody else's."""
    told = subprocess.run(["ps", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=False)  # noqa: S607
    return told.stdout.strip() == " ".join(_command(place))


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _choose_port(bound: int | None, wanted: int | None) -> int:
    if bound and wanted and bound != wanted:
        raise WrongUse(f"the stack's data is bound to port {bound}; {_FORGET}")
    if bound and not _is_free(bound):
        raise WrongUse(f"port {bound}, to which the stack's data is bound, is taken by another program; {_FORGET}")
    if wanted and not _is_free(wanted):
        raise WrongUse(f"port {wanted} is taken by another program")
    return bound or wanted or (DEFAULT_PORT if _is_free(DEFAULT_PORT) else any_free_port())


def _is_free(port: int) -> bool:
    with socket.socket() as candidate:
        candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            candidate.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def any_free_port() -> int:
    with socket.socket() as candidate:
        candidate.bind(("127.0.0.1", 0))
        return int(candidate.getsockname()[1])


def _await_ready(place: Place, emulator: Emulator) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not _answers(emulator):
        if not _exists(emulator.pid) or time.monotonic() > deadline:
            raise CupelError(f"the embedded cloud did not start; see {place.emulator_log}")
        time.sleep(_POLL_SECONDS)


def _answers(emulator: Emulator) -> bool:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"{emulator.endpoint_url}/_ministack/ready", timeout=2) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
