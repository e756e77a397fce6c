"""`python -m bench.start`: measure how long the embedded cloud starts with stored outcomes, from logs and a snapshot.

It uses a separate emulator: items of the size of an outcome are written through its API, then it is killed and started.
"""

import argparse
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import batched
from pathlib import Path
from typing import Any

import psutil

from bench.sizes import item_bytes
from cupel.stack import emulator
from cupel.stack.clients import make_client
from cupel.stack.emulator import Emulator
from cupel.stack.paths import StackPaths, find_stack_paths

TABLE = "bench"
BATCH = 25
WRITERS = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--outcomes", type=int, default=100_000)
    count = parser.parse_args().outcomes
    with tempfile.TemporaryDirectory() as folder:
        paths = StackPaths(find_stack_paths(Path.cwd()).repository, Path(folder))
        running = emulator.start(paths, emulator.find_free_port())
        try:
            _fill(running, count)
            for source in ("as it was left", "again"):
                running = _restart(paths, running, count, source)
        finally:
            emulator.stop(paths)


def _fill(running: Emulator, count: int) -> None:
    dynamodb = make_client("dynamodb", running)
    dynamodb.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": each, "AttributeType": "S"} for each in ("pk", "sk")],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    )
    started_at = time.monotonic()
    requests = ([{"PutRequest": {"Item": each}} for each in batch] for batch in batched(_items(count), BATCH))
    with ThreadPoolExecutor(WRITERS) as pool:
        for _ in pool.map(lambda batch: dynamodb.batch_write_item(RequestItems={TABLE: batch}), requests):
            pass
    size = item_bytes(next(_items(1)))
    print(f"{count:,} items of {size:,} bytes written in {time.monotonic() - started_at:.1f} s")


def _restart(paths: StackPaths, running: Emulator, count: int, source: str) -> Emulator:
    os.kill(running.pid, signal.SIGKILL)
    while emulator.find_running(paths):
        time.sleep(0.05)
    files = sorted((paths.state / "data" / "journal").glob("*.*"))
    sizes = ", ".join(f"{file.name} {file.stat().st_size / 1e6:.0f} MB" for file in files)
    started_at = time.monotonic()
    running = emulator.start(paths, None)
    seconds = time.monotonic() - started_at
    found = make_client("dynamodb", running).describe_table(TableName=TABLE)["Table"]["ItemCount"]
    if found != count:
        raise SystemExit(f"{found} of {count} items after a kill")
    times = psutil.Process(running.pid).cpu_times()
    print(f"started {source} in {seconds:.1f} s, {times.user + times.system:.1f} s of CPU ({sizes})")
    return running


def _items(count: int) -> Iterator[dict[str, Any]]:
    """Yield items like outcomes: a thousand in each partition, and 26 attributes of 1.5 KB in all."""
    fields = {f"field{number}": {"S": "value of a field"} for number in range(18)}
    numbers = {f"number{number}": {"N": str(1234 + number)} for number in range(5)}
    for number in range(count):
        key = {"pk": {"S": f"default#run_01#probes#{number // 1_000}"}, "sk": {"S": f"{number:07d}"}}
        yield key | fields | numbers | {"answer": {"S": f"An answer, {number}. " * 45}}


if __name__ == "__main__":
    main()
