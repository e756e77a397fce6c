"""`python -m bench.kills`: measure how soon a run continues after a SIGKILL of the local cloud and all of its workers.

It uses a separate stack. Each time, everything is killed in the middle of a run of 1,000 probes of 1 s, and started
again as by `cupel up`; every second time, another workspace has a run of the same provider. Before each run, it waits
until the load average has fallen to 1, for at most three minutes. A kill during which the machine was busy is repeated,
as the time would be that of the other programs.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import httpx

from bench.invariants import violations
from bench.local_server import model_server, use_server
from bench.processes import kill_stack, measure_usage
from bench.texts import content
from cupel.client import Client
from cupel.json_types import Json
from cupel.stack import emulator, lifecycle
from cupel.stack.address import LocalStack, read_local
from cupel.stack.emulator import find_free_port
from cupel.stack.paths import StackPaths, find_stack_paths
from cupel.stack.subprocesses import child_environment, run

PROBES = 1_000
PARALLEL = 50
LATENCY_SECONDS = 1.0
KILLED_AT = 0.4
END_SECONDS = 300
IDLE_LOAD = 1.0
IDLE_WAIT_SECONDS = 180
_POLL_SECONDS = 0.2
_TERMINAL = ("COMPLETED", "FAILED", "CANCELLED")
_COLUMNS = ("kill", "beside", "up", "of CPU", "first call", "end", "ideal rest", "repeated calls", "load", "problems")


@dataclass(frozen=True)
class Kill:
    up_seconds: float
    up_cpu_seconds: float
    first_call_seconds: float
    """Counts from the end of `cupel up`, as `end_seconds` does, and is negative if the call was earlier."""
    end_seconds: float
    ideal_seconds: float
    repeated_calls: int
    load: float
    problems: list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--max-load", type=float, default=3.0)
    parser.add_argument("--attempts", type=int, default=20, help="how many kills at most, with those that are repeated")
    arguments = parser.parse_args()
    with _own_stack() as (paths, stack), model_server("--latency", str(LATENCY_SECONDS)) as models:
        print("{:>5} {:>7} {:>7} {:>7} {:>11} {:>7} {:>11} {:>15} {:>6}  {}".format(*_COLUMNS), flush=True)
        done = 0
        for _ in range(arguments.attempts):
            if done == arguments.kills:
                break
            _wait_until_idle()
            kill = _kill(paths, stack, models, beside=done % 2 == 1)
            is_counted = kill.load <= arguments.max_load
            done += is_counted
            _print(str(done) if is_counted else "busy", kill, beside=(done - is_counted) % 2 == 1)


@contextmanager
def _own_stack() -> Iterator[tuple[StackPaths, LocalStack]]:
    with tempfile.TemporaryDirectory() as folder:
        paths = StackPaths(find_stack_paths(Path.cwd()).repository, Path(folder))
        try:
            yield paths, lifecycle.up(paths, find_free_port(), print)
        finally:
            lifecycle.down(paths, print, discard=True)


def _kill(paths: StackPaths, stack: LocalStack, models: str, *, beside: bool) -> Kill:
    with Client(stack.api_url, stack.token) as api:
        use_server(api, models, PARALLEL)
        neighbour = _start_beside(paths, models) if beside else None
        httpx.post(f"{models}/reset", trust_env=False).raise_for_status()
        run_id = _start(api, "custom/own")
        _wait(lambda: api.get_run(run_id)["progress"]["completed"] >= KILLED_AT * PROBES)
        kill_stack(paths)
        time.sleep(2 * LATENCY_SECONDS)  # Calls of the killed workers may still arrive.
        calls, watch = _own_calls(models), _Watch(models)
        with watch.watching(after=calls):
            started_at, own_cpu = time.time(), sum(os.times()[:4])
            lifecycle.up(paths, None, lambda _: None)
            up_at, cpu = time.time(), sum(os.times()[:4]) - own_cpu + _stack_cpu_seconds(paths)
            recorded = api.get_run(run_id)["progress"]["completed"]
            _wait(lambda: api.get_run(run_id)["status"] in _TERMINAL)
            ended_at = time.time()
        finished = api.get_run(run_id)
        problems = violations(api, finished)
    if neighbour:
        problems += neighbour.finish()
    return Kill(
        up_at - started_at,
        cpu,
        watch.first_call_at - up_at,
        ended_at - up_at,
        (PROBES - recorded) / PARALLEL * LATENCY_SECONDS,
        _own_calls(models) - PROBES,
        watch.load,
        problems if finished["status"] == "COMPLETED" else [*problems, f"the run is {finished['status']}"],
    )


def _stack_cpu_seconds(paths: StackPaths) -> float:
    running = emulator.find_running(paths)
    return measure_usage(running.pid).cpu_seconds if running else float("nan")


class _Watch:
    def __init__(self, models: str) -> None:
        self._models = models
        self.first_call_at = float("nan")
        self.load = 0.0

    @contextmanager
    def watching(self, after: int) -> Iterator[None]:
        stopped = Event()
        with ThreadPoolExecutor(1) as pool:
            watched = pool.submit(self._watch, after, stopped)
            try:
                yield
            finally:
                stopped.set()
        watched.result()

    def _watch(self, after: int, stopped: Event) -> None:
        is_found = False
        while not stopped.wait(_POLL_SECONDS):
            self.load = max(self.load, os.getloadavg()[0])
            if not is_found and _own_calls(self._models) > after:
                self.first_call_at, is_found = time.time(), True


@dataclass(frozen=True)
class _Neighbour:
    api: Client
    run_id: str

    def finish(self) -> list[str]:
        with self.api:
            _wait(lambda: self.api.get_run(self.run_id)["status"] in _TERMINAL)
            return [f"neighbour: {each}" for each in violations(self.api, self.api.get_run(self.run_id))]


def _start_beside(paths: StackPaths, models: str) -> _Neighbour:
    stack = read_local(paths)  # Its access key changes with each start.
    if stack is None:
        raise SystemExit("the stack is not running")
    command = ["cupel", "tokens", "bootstrap", "--stack-name", stack.stack_name, "--workspace", "beside", "--json"]
    issued = json.loads(run(command, paths, child_environment(paths, stack.access)))
    api = Client(stack.api_url, issued["token"])
    use_server(api, models, PARALLEL)
    return _Neighbour(api, _start(api, "custom/beside"))


def _start(api: Client, model: str) -> str:
    definition: Json = api.create_definition({"name": model, "content": content(PROBES)})
    api.generate_scenarios(definition["id"], {"mode": "matrix"})
    spec = {"definitionId": definition["id"], "models": [model], "allowUnpriced": True}
    return str(api.create_run(spec)["run"]["id"])


def _own_calls(models: str) -> int:
    prompts: dict[str, int] = httpx.get(f"{models}/counts", trust_env=False).json()["prompts"]
    return sum(count for prompt, count in prompts.items() if prompt.startswith("own "))


def _wait(is_reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + END_SECONDS
    while not is_reached():
        if time.monotonic() > deadline:
            raise SystemExit(f"nothing happened for {END_SECONDS} s")
        time.sleep(_POLL_SECONDS)


def _wait_until_idle() -> None:
    """Wait for a low load average, but only for a limited time: other programs may keep it high."""
    deadline = time.monotonic() + IDLE_WAIT_SECONDS
    while os.getloadavg()[0] > IDLE_LOAD and time.monotonic() < deadline:
        time.sleep(1)


def _print(number: str, kill: Kill, *, beside: bool) -> None:
    first = f"{number:>5} {'run' if beside else '-':>7} {kill.up_seconds:7.1f} {kill.up_cpu_seconds:7.1f}"
    times = f"{kill.first_call_seconds:+11.1f} {kill.end_seconds:7.1f} {kill.ideal_seconds:11.1f}"
    problems = "; ".join(kill.problems) or "-"
    print(f"{first} {times} {kill.repeated_calls:15d} {kill.load:6.1f}  {problems}", flush=True)


if __name__ == "__main__":
    main()
