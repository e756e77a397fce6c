"""`python -m bench.waiting`: how long a workspace's list of runs takes beside waiting readers of another workspace.

The readers follow a turn of a chat whose model does not answer, each with requests that wait for 20 seconds. How many
of them wait at a time is bounded; the others are answered at once, and come back when they are told to.
"""

import argparse
import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import httpx
from rich.console import Console

from bench.local_server import model_server, use_server
from cupel.client import Client
from cupel.environment import find_address
from cupel.stack import emulator
from cupel.stack.paths import STACK_NAME, find_stack_paths
from cupel.stack.subprocesses import child_environment, run

READERS = 60
REQUESTS = 40
MAX_RATIO = 2.0
_WAIT_SECONDS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readers", type=int, default=READERS)
    readers = parser.parse_args().readers
    address = find_address()
    with _client(address.token) as client, model_server() as server, _client(_other_token()) as other:
        use_server(client, server)
        httpx.post(f"{server}/configure", json={"latencySeconds": 600}).raise_for_status()
        chat = client.create_chat({"target": {"model": "custom/bench"}})
        turn = client.start_turn(chat["id"], {"content": "hello"})
        _measure(other)  # The functions are warm then.
        alone = _measure(other)
        events = f"{address.api_url}/v1/chats/{chat['id']}/turns/{turn['id']}/events"
        with _reading(events, address.token, readers) as answers:
            time.sleep(_WAIT_SECONDS / 4)
            beside = _measure(other)
        client.abort_turn(chat["id"], turn["id"])
    ratio = beside / alone
    Console().print(
        f"GET /v1/runs: {1_000 * alone:.0f} ms alone, {1_000 * beside:.0f} ms beside {readers} waiting readers of "
        f"another workspace, whose requests were answered {len(answers):,} times: {ratio:.2f} times as long "
        f"(at most {MAX_RATIO:g})"
    )
    sys.exit(ratio > MAX_RATIO)


def _measure(client: Client) -> float:
    """The median of the seconds of a request."""
    seconds = []
    for _ in range(REQUESTS):
        started_at = time.perf_counter()
        client.list_runs().first(20)
        seconds.append(time.perf_counter() - started_at)
    return median(seconds)


def _client(token: str) -> Client:
    return Client(find_address().api_url, token)


def _other_token() -> str:
    """A token of another workspace."""
    paths = find_stack_paths(Path.cwd())
    running = emulator.find_running(paths)
    if running is None:
        sys.exit("the benchmark needs the local stack; start it with: cupel up")
    command = ["cupel", "tokens", "bootstrap", "--stack-name", STACK_NAME, "--workspace", "bench-waiting", "--json"]
    return str(json.loads(run(command, paths, child_environment(paths, running.access)))["token"])


@contextmanager
def _reading(url: str, token: str, readers: int) -> Iterator[list[int]]:
    """Yields the statuses of the answers so far; each reader asks again when it is told to, or at once."""
    answers, is_over = list[int](), threading.Event()

    def read() -> None:
        with httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=60, trust_env=False) as http:
            while not is_over.is_set():
                response = http.get(url, params={"wait": _WAIT_SECONDS})
                answers.append(response.status_code)
                is_over.wait(float(response.headers.get("Retry-After", 0)))

    threads = [threading.Thread(target=read, daemon=True) for _ in range(readers)]
    for thread in threads:
        thread.start()
    yield answers
    is_over.set()


if __name__ == "__main__":
    main()
