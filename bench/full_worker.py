"""Measures a full worker: as many conversations as its account allows, and their memory, threads and files.

`python -m bench.full_worker` runs one invocation against a local model server, with moto as the cloud in the same
process. The memory of the process includes moto's; the result is its growth with the conversations. Half of a
conversation's text is the prompt, half the answer. `--tls` makes the calls over TLS, as providers require it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import httpx
import psutil
from rich.console import Console

from bench.certificates import write_certificate
from bench.counting import moto_cloud
from bench.local_server import model_server
from bench.metering import aws_clients
from cupel_core.accounts import keys as accounts
from cupel_core.base.clock import utc_now
from cupel_core.base.event_loop import run
from cupel_core.base.messages import DispatchRequest
from cupel_core.definitions import catalog
from cupel_core.definitions.generation import generations
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.generations import GenerationMode, GenerationSpec
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.providers import safe_http
from cupel_core.runs import dispatch, start
from cupel_core.runs.probing.worker import Worker
from cupel_core.store import queues
from cupel_core.store.settings import settings

_WORKSPACE = "bench"
_INVOCATION_SECONDS = 300.0
_SAMPLE_SECONDS = 0.05
_SCENARIOS = 100


@dataclass
class Peaks:
    memory_mb: float = 0.0
    threads: int = 0
    open_files: int = 0

    def sample(self) -> None:
        process = psutil.Process()
        self.memory_mb = max(self.memory_mb, process.memory_info().rss / 1e6)
        self.threads = max(self.threads, process.num_threads())
        self.open_files = max(self.open_files, len(list(Path("/proc/self/fd").iterdir())))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parallel", type=int, default=500, help="maxParallelRequests of the account")
    parser.add_argument("--rounds", type=int, default=2, help="probes per parallel call")
    parser.add_argument("--kilobytes", type=int, default=8, help="text of a conversation")
    parser.add_argument("--seconds", type=float, default=3.0, help="duration of a call")
    parser.add_argument("--memory", type=int, help="MB of the function; without limit if omitted")
    parser.add_argument("--tls", action="store_true", help="call over TLS, as providers require it")
    parser.add_argument("--certificate", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.tls and options.certificate is None:
        _repeat_with_certificate()
        return
    half = "x" * (options.kilobytes * 500)
    server_options = ["--latency", str(options.seconds)]
    if options.tls:
        server_options += ["--certificate", options.certificate]
    with (
        moto_cloud(),
        _one_call_at_a_time(),
        model_server(*server_options) as url,
        httpx.Client(base_url=url) as server,
    ):
        server.post("/configure", json={"latencySeconds": 0.1, "answer": f"{half}\nRating: 3"}).raise_for_status()
        _configure(url, options.parallel)
        _probe(half, _SCENARIOS, options.memory)
        server.post("/configure", json={"latencySeconds": options.seconds, "answer": f"{half}\nRating: 3"})
        server.post("/reset").raise_for_status()
        before = psutil.Process().memory_info().rss / 1e6
        probes = options.parallel * options.rounds
        with _sampling() as peaks:
            seconds = _probe(half, probes, options.memory)
        run(safe_http.close())
        counts = server.get("/counts").json()
    _print(options, counts, peaks, before, seconds)


def _repeat_with_certificate() -> None:
    """Repeat in another process: the HTTP client reads its trusted certificates when it is imported."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "certificate.pem")
        write_certificate(path)
        command = [sys.executable, "-m", "bench.full_worker", *sys.argv[1:], "--certificate", str(path)]
        subprocess.run(command, env={**os.environ, "SSL_CERT_FILE": str(path)}, check=True)  # noqa: S603 - ourselves


def _configure(url: str, parallel: int) -> None:
    accounts.update_provider(_WORKSPACE, "custom", {"base_url": f"{url}/v1", "max_parallel_requests": parallel})


def _probe(prompt: str, probes: int, memory_mb: int | None) -> float:
    """Run so many probes in as few invocations as possible, one after the other, and return the seconds of all."""
    content: dict[str, Any] = {
        "template": f"{prompt} [number]",
        "dimensions": [{"name": "number", "levels": [{"score": n, "label": f"no. {n}"} for n in range(_SCENARIOS)]}],
        "decision": {"pattern": r"(?im)^rating:\s*([1-5])"},
    }
    definition = catalog.create(_WORKSPACE, Labels(name=f"full worker, {probes}"), content, utc_now())
    generations.start_generation(_WORKSPACE, definition.head.id, GenerationSpec(GenerationMode.MATRIX), utc_now())
    spec = RunSpec(definition.head.id, plain_targets("custom/bench"), repeats=ceil(probes / _SCENARIOS))
    started = start.start(_WORKSPACE, spec, None, utc_now()).run
    request = DispatchRequest(workspace=_WORKSPACE, run_id=started.id, fencing_token=started.fencing_token)
    url, began_at = settings().probe_queue_url("custom"), time.monotonic()
    dispatch.execute(request, utc_now(), lambda: _INVOCATION_SECONDS)
    while deliveries := queues.receive(url, 1):
        run(Worker("custom", time.time() + _INVOCATION_SECONDS, memory_mb=memory_mb).run(deliveries))
        dispatch.execute(request, utc_now(), lambda: _INVOCATION_SECONDS)
    return time.monotonic() - began_at


@contextmanager
def _one_call_at_a_time() -> Iterator[None]:
    """Serialize calls: moto fails when threads change a table at the same time."""
    lock, clients = threading.Lock(), aws_clients()

    def guarded(call: Callable[..., Any]) -> Callable[..., Any]:
        def locked(*request: Any) -> Any:
            with lock:
                return call(*request)

        return locked

    for client in clients:
        client._make_api_call = guarded(client._make_api_call)
    try:
        yield
    finally:
        for client in clients:
            del client._make_api_call


@contextmanager
def _sampling() -> Iterator[Peaks]:
    peaks, has_ended = Peaks(), threading.Event()

    def sample() -> None:
        while not has_ended.wait(_SAMPLE_SECONDS):
            peaks.sample()

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        yield peaks
    finally:
        has_ended.set()
        thread.join()


def _print(options: argparse.Namespace, counts: Any, peaks: Peaks, before_mb: float, seconds: float) -> None:
    growth = peaks.memory_mb - before_mb
    each = growth / counts["inFlightPeak"] * 1_000
    Console(width=120).print(
        f"{counts['inFlightPeak']} calls in flight of {options.parallel} allowed, {counts['requests']:,} in all, "
        f"{seconds:.1f} s; {options.kilobytes} KB each\n"
        f"memory: {before_mb:.0f} MB before, {growth:.0f} MB more at the peak, {each:.0f} KB per conversation; "
        f"{peaks.threads} threads, {peaks.open_files} open files"
    )


if __name__ == "__main__":
    main()
