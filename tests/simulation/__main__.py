"""`make simulate`: run many schedules, of runs or of chats, or replay one seed with its trace; also with a mutation."""

import argparse
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import cycle, islice
from multiprocessing.queues import SimpleQueue
from typing import Any

from tests.simulation.chats.cloud import ANY_CHAT
from tests.simulation.chats.mutations import CHAT_MUTATIONS
from tests.simulation.chats.schedule import ChatResult, run_chat_schedule
from tests.simulation.faults import ANY, Fault
from tests.simulation.harness import Patches, install
from tests.simulation.mutations import MAX_SCHEDULES, MUTATIONS
from tests.simulation.schedule import Result, run_schedule

type Run = Callable[..., Result | ChatResult]

_SEEDS_PER_TASK = 20


def main() -> int:
    parser = argparse.ArgumentParser(prog="make simulate")
    parser.add_argument("--schedules", type=int, default=2_000)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--processes", type=int, default=len(_processors()), help="one per processor by default")
    parser.add_argument("--seed", type=int, help="replay this seed and print its trace")
    parser.add_argument("--chats", action="store_true", help="simulate chats instead of runs")
    parser.add_argument("--mutation", choices=[*MUTATIONS, *CHAT_MUTATIONS], help="inject this bug")
    parser.add_argument(
        "--detections", action="store_true", help="print which seed detects each injected bug, for its `first_seed`"
    )
    options = parser.parse_args()
    patches = Patches()
    with install():
        if options.detections:
            return _print_detections()
        try:
            run = _run(patches, options.mutation, has_chats=options.chats)
            if options.seed is None:
                return _run_many(range(options.first, options.first + options.schedules), run, options.processes)
            return _replay(options.seed, run)
        finally:
            patches.undo()


def _run(patches: Patches, mutation: str | None, *, has_chats: bool) -> Run:
    """What runs a schedule, of chats also if the mutation is one of theirs."""
    if mutation in CHAT_MUTATIONS:
        CHAT_MUTATIONS[mutation].inject(patches)
        return partial(run_chat_schedule, conditions=CHAT_MUTATIONS[mutation].conditions)
    if mutation in MUTATIONS:
        MUTATIONS[mutation].inject(patches)
        return partial(run_schedule, conditions=MUTATIONS[mutation].conditions)
    return partial(run_chat_schedule, conditions=ANY_CHAT) if has_chats else partial(run_schedule, conditions=ANY)


def _print_detections() -> int:
    """Changes to the product shift the seeds that detect a bug: a test should not search for one for minutes."""
    undetected = 0
    for name, mutation in (MUTATIONS | CHAT_MUTATIONS).items():
        patches, started_at = Patches(), time.perf_counter()
        run = _run(patches, name, has_chats=False)
        seeds = range(mutation.first_seed, mutation.first_seed + MAX_SCHEDULES)
        seed = next((seed for seed in seeds if run(seed).violation), None)
        patches.undo()
        undetected += seed is None
        print(f"{name}: first seed {mutation.first_seed}, detected by {seed}, {time.perf_counter() - started_at:.0f} s")
    return 1 if undetected else 0


def _replay(seed: int, run: Run) -> int:
    result = run(seed, print)
    ended = result.endings if isinstance(result, ChatResult) else f"final status {result.status}"
    print(f"seed {seed}: {result.violation or f'no violation, {ended}'}")
    return 1 if result.violation else 0


def _run_many(seeds: range, run: Run, processes: int) -> int:
    """In so many processes. They are forked, so that they have what was patched."""
    started_at, results = time.perf_counter(), list[Result | ChatResult]()
    context = multiprocessing.get_context("fork")
    free: SimpleQueue[int] = context.SimpleQueue()
    for processor in islice(cycle(_processors()), processes):
        free.put(processor)
    with context.Pool(processes, _begin_process, (run, free)) as pool:
        for result in pool.imap_unordered(_run_one, seeds, _SEEDS_PER_TASK):
            results.append(result)
            if result.violation:
                print(f"seed {result.seed}: {result.violation}", flush=True)
    _report(results, time.perf_counter() - started_at)
    return 1 if any(result.violation for result in results) else 0


def _processors() -> Sequence[int]:
    """Those that this process may use; unknown on macOS."""
    if sys.platform == "linux":
        return sorted(os.sched_getaffinity(0))
    return range(os.cpu_count() or 1)


_runs: list[Run] = []
"""Of a process: a run with mutations cannot be sent to it."""


def _begin_process(run: Run, free: "SimpleQueue[int]") -> None:
    """On one processor, where threads take turns faster: 60 schedules took 14.7 instead of 20.5 s."""
    _runs.append(run)
    processor = free.get()
    if sys.platform == "linux":
        os.sched_setaffinity(0, {processor})


def _run_one(seed: int) -> Result | ChatResult:
    return _runs[0](seed)


def _report(results: Sequence[Result | ChatResult], seconds: float) -> None:
    steps, calls = sum(result.steps for result in results), sum(result.calls for result in results)
    violations = sum(result.violation is not None for result in results)
    print(f"{len(results):,} schedules, {steps:,} steps, {calls:,} model calls in {seconds:.0f} s")
    of_chats = [result for result in results if isinstance(result, ChatResult)]
    of_runs = [result for result in results if isinstance(result, Result)]
    if of_chats:
        _print_counts("ends of the turns", sum((result.endings for result in of_chats), Counter[str]()))
    if of_runs:
        _print_counts("final status of the runs", Counter(str(result.status) for result in of_runs))
        _print_counts("transitions", sum((result.transitions for result in of_runs), Counter[str]()))
    _print_counts("faults by kind", sum((result.faults for result in results), Counter[Fault]()))
    print(f"{violations} violations" + ("; make simulate SEED=… replays one" if violations else ""))


def _print_counts(title: str, counts: Mapping[Any, int]) -> None:
    print(f"{title}:")
    for name, count in sorted(counts.items(), key=lambda pair: -pair[1]):
        print(f"  {count:>12,}  {name}")


if __name__ == "__main__":
    sys.exit(main())
