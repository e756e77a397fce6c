"""`python -m bench.bare_loop URL`: make the same model calls without queues, storage and recovery, as a lower limit.

One process with one aiohttp session makes as many calls at a time as requested; replies are parsed and dropped. It
prints the seconds and the CPU of the loop as JSON.
"""

import argparse
import asyncio
from time import perf_counter, process_time
from typing import NamedTuple

import aiohttp
import orjson

from bench.texts import prompts


class LoopTime(NamedTuple):
    seconds: float
    cpu_seconds: float


async def run_loop(url: str, calls: int, parallel: int) -> LoopTime:
    waiting = prompts(calls)
    connector = aiohttp.TCPConnector(limit=parallel)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(60)) as session:

        async def work() -> None:
            for prompt in waiting:
                body = orjson.dumps({"model": "bench", "messages": [{"role": "user", "content": prompt}]})
                async with session.post(f"{url}/v1/chat/completions", data=body) as response:
                    orjson.loads(await response.read())

        started_at, cpu = perf_counter(), process_time()
        await asyncio.gather(*(work() for _ in range(parallel)))
        return LoopTime(perf_counter() - started_at, process_time() - cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--calls", type=int, default=1_000)
    parser.add_argument("--parallel", type=int, default=50)
    options = parser.parse_args()
    time = asyncio.run(run_loop(options.url, options.calls, options.parallel))
    print(orjson.dumps(time._asdict()).decode())


if __name__ == "__main__":
    main()
