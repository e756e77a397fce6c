"""Starts the embedded cloud: `python -P launcher.py <data folder>`, with the interpreter of the emulator's environment.

The emulator's own settings are environment variables (cupel/stack/emulator.py).
"""

import asyncio
import gc
import logging
import os
import resource
import sys
import time
from contextlib import suppress
from functools import partialmethod
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

sys.path.append(str(Path(__file__).parents[3]))  # The emulator's packages take precedence.

from cupel.stack.access.gate import AccessGate, Ports, read_hosts
from cupel.stack.durability import FAILURE_MARK, NOTICE_MARK
from cupel.stack.durability.application import DurableApplication
from cupel.stack.durability.journal import Journal, JournalError
from cupel.stack.durability.processes import SharedLayers, bound_processes
from cupel.stack.durability.services import ServiceStates, check_files
from cupel.stack.durability.tables import Tables

_KEEP_ALIVE_SECONDS = 75
_LOG_QUIET_SECONDS = 0.001
_EXECUTION_DELAY_SECONDS = 0.15
"""The emulator waits so long before it begins an execution of a state machine."""


def main() -> None:
    data = Path(sys.argv[1])
    try:
        asyncio.run(_serve(data))
    except (JournalError, OSError) as error:
        sys.exit(f"{FAILURE_MARK}{error}")


async def _serve(data: Path) -> None:
    state = Path(os.environ["STATE_DIR"])
    journal = Journal(data / "journal")  # This locks the data before anything reads it.
    check_files(state)
    application = await _load(journal, state)
    _raise_file_limit()
    workers: Any = import_module("ministack.core.lambda_runtime")
    _shorten_log_wait(workers.Worker)
    workers.zipfile = SharedLayers(Path(os.environ["LAYERS_DIR"]))
    _begin_executions_at_once(import_module("ministack.services.stepfunctions"))
    bound_processes(import_module("ministack.services.lambda_svc"))
    maintenance = asyncio.create_task(application.maintain())
    try:
        await import_module("hypercorn.asyncio").serve(_close(application), _configuration(), mode="asgi")
    finally:
        maintenance.cancel()
        journal.close()
    _end()


def _end() -> NoReturn:
    """End the process at once, since everything is stored by now.

    Python would wait for calls of functions, and repeat those whose worker is killed. They are cut off like by a crash,
    and continue with the next start.
    """
    logging.shutdown()
    os._exit(0)


async def _load(journal: Journal, state: Path) -> DurableApplication:
    emulator = import_module("ministack.app")
    persistence, responses = import_module("ministack.core.persistence"), import_module("ministack.core.responses")
    dynamodb = emulator._get_module("dynamodb")
    emulator._state_map.pop("dynamodb")  # The emulator loads and saves the other services, the journal the tables.
    tables = Tables(dynamodb, persistence, responses)
    services = ServiceStates(state, emulator, persistence)
    application = DurableApplication(emulator, responses, tables, journal, services)
    gc.disable()  # It would search the growing tables again and again.
    tables.restore(journal.replay())
    if journal.dropped:
        print(f"{NOTICE_MARK}{journal.dropped}", flush=True)
    gc.enable()
    gc.freeze()
    return application


def _close(application: DurableApplication) -> AccessGate:
    """Pass only permitted requests on. The emulator's functions have the secret from this process's environment."""
    hosts_file = Path(os.environ["ALLOWED_HOSTS_FILE"])
    return AccessGate(
        application,
        os.environ["AWS_SECRET_ACCESS_KEY"],
        _ports(),
        os.environ["API_PATH"],
        lambda: read_hosts(hosts_file),
        lambda: import_module("ministack.app")._get_module("s3"),
    )


def _ports() -> Ports:
    return Ports(int(os.environ["GATEWAY_PORT"]), int(os.environ["OBJECTS_PORT"]))


def _configuration() -> Any:
    configuration = import_module("hypercorn.config").Config()
    configuration.bind = [f"{os.environ['BIND_HOST']}:{port}" for port in _ports()]
    configuration.keep_alive_timeout = _KEEP_ALIVE_SECONDS
    configuration.loglevel = "INFO"
    return configuration


def _shorten_log_wait(worker: Any) -> None:
    """Shorten the wait after each call of a function until its log has been quiet for 5 ms.

    That is a third of a short read, which is two calls. The functions write a line or two before they return; a later
    one would be in the next log.
    """
    worker._drain_stderr_bounded = partialmethod(worker._drain_stderr_bounded, idle_confirm=_LOG_QUIET_SECONDS)


def _begin_executions_at_once(step_functions: Any) -> None:
    """Begin executions at once, so that a run that needs no summaries is over after one tenth of a second."""
    step_functions.time = _TimeWithoutDelay()


class _TimeWithoutDelay:
    """Wraps the module `time` so that an execution's delay takes no time."""

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    @staticmethod
    def sleep(seconds: float) -> None:
        if seconds != _EXECUTION_DELAY_SECONDS:
            time.sleep(seconds)


def _raise_file_limit() -> None:
    """Raise it to the hard limit, because every worker and connection takes a few files."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


if __name__ == "__main__":
    main()
