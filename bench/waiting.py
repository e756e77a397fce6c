"""`python -m bench.waiting`: measure how long a list of runs takes beside waiting readers of another workspace.

The readers follow a turn of a chat whose model does not answer, each with requests that wait for 20 seconds. The number
of waiting readers is bounded; the others are answered at once, and come back when they are told to.
"""

import argparse
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import httpx

from bench.local_server import model_server, use_server
from cupel.client import Client
from cupel.environment import find_address
from cupel.stack import emulator
from cupel.stack.address import issue_token
from cupel.stack.paths import find_stack_paths

READERS = 60
REQUESTS = 40
MAX_RATIO = 2.0
_WAIT_SECONDS = 20
_EXPECTED = {200, 429}
"""429 is the answer to a token above its limit of requests per second."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readers", type=int, default=READERS)
    readers = parser.parse_args().readers
    paths = find_stack_paths(Path.cwd())
    running = emulator.find_running(paths)
    if running is None:
        sys.exit("the benchmark needs the local stack; start it with: cupel up")
    reader = find_address()
    measured = issue_token(paths, running, "--workspace", "bench-waiting")
    with (
        Client(reader.api_url, reader.token) as client,
        Client(measured.api_url, measured.secret) as other,
        model_server() as server,
    ):
        use_server(client, server)
        httpx.post(f"{server}/configure", json={"latencySeconds": 600}).raise_for_status()
        chat_id = str(client.create_chat({"target": {"model": "custom/bench"}})["id"])
        try:
            turn_id = client.start_turn(chat_id, {"content": "hello"})["id"]
            _measure(other)  # The functions are warm then.
            alone = _measure(other)
            events = f"{reader.api_url}/v1/chats/{chat_id}/turns/{turn_id}/events"
            with _reading(events, reader.token, readers) as answers:
                time.sleep(_WAIT_SECONDS / 4)
                beside = _measure(other)
        finally:
            client.delete_chat(chat_id)
            other.revoke_token(measured.token_id)
    ratio = beside / alone
    statuses = ", ".join(f"{count:,} x {status}" for status, count in sorted(Counter(answers).items()))
    print(
        f"GET /v1/runs: {1_000 * alone:.0f} ms alone, {1_000 * beside:.0f} ms beside {readers} waiting readers of "
        f"another workspace, which were answered {statuses}: {ratio:.2f} times as long (at most {MAX_RATIO:g})"
    )
    if not set(answers) <= _EXPECTED:
        sys.exit("the readers did not wait: see what they were answered")
    sys.exit(ratio > MAX_RATIO)


def _measure(client: Client) -> float:
    seconds = []
    for _ in range(REQUESTS):
        started_at = time.perf_counter()
        client.list_runs().first(20)
        seconds.append(time.perf_counter() - started_at)
    return median(seconds)


@contextmanager
def _reading(url: str, token: str, readers: int) -> Iterator[list[int]]:
    """Yield the statuses of the answers so far; each reader asks again when it is told to, or at once."""
    answers, is_over = list[int](), threading.Event()

    def read() -> None:
        last = 0
        with httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=60, trust_env=False) as http:
            while not is_over.is_set():
                response = http.get(url, params={"wait": _WAIT_SECONDS, "after": last})
                answers.append(response.status_code)
                events = response.json()["items"] if response.is_success else []
                last = events[-1]["seq"] if events else last
                is_over.wait(float(response.headers.get("Retry-After", 0)))

    with ThreadPoolExecutor(readers) as pool:
        reading = [pool.submit(read) for _ in range(readers)]
        try:
            yield answers
        finally:
            is_over.set()
        for each in reading:
            each.result()


if __name__ == "__main__":
    main()
