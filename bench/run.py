"""`make bench`: measure runs through the embedded cloud with the local model server, beside the ideal time and a bare
loop.

The ideal time is that of the calls, as many at a time as the provider allows; "bare" is a loop that makes the same
calls and nothing else. Time is measured from just before the start request to the run's `completedAt`. CPU is that of
the emulator and its workers; memory is the emulator's and the peak of any probe worker. Prompts have 500 to 600
characters, answers 300 to 500 (`bench/texts.py`). Results go to docs/performance.md with their date.
"""

import argparse
import time
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from bench.cases import (
    CASES,
    FAULTS,
    WARM_UP,
    Bench,
    Case,
    Measurement,
    find_or_create_definition,
    find_or_create_prompts,
)
from bench.in_process import CASES as IN_PROCESS
from bench.in_process import print_in_process
from bench.local_server import model_server
from bench.processes import emulator_pid
from cupel.client import Client
from cupel.json_types import Json

CONVERSATIONS = 300
TURNS = 3
PROMPTS, TARGETS, STARTS = 10, 10, 5
AGENT, JUDGE = "custom/bench-a", "custom/bench-judge"


def main() -> None:
    arguments = _arguments()
    if arguments.in_process:
        with model_server() as server:
            print_in_process(server, [case for case in IN_PROCESS if case.faults or not arguments.faults])
        return
    with Client.from_environment() as client, model_server() as server:
        definition_id = find_or_create_definition(client, short=arguments.short)
        bench = Bench(client, server, emulator_pid(client), definition_id, arguments.poll)
        bench.configure(shortAnswers=arguments.short)
        if arguments.starts:
            _print_million(client, definition_id)
            return
        if not arguments.cold:
            bench.measure(WARM_UP, with_bare_loop=False)
        _print([bench.measure(case) for case in _cases(arguments)])
        if not arguments.probes and not arguments.case:
            _print_conversations(bench)
            _print_million(client, definition_id)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", help="only the cases whose title contains this")
    parser.add_argument("--probes", type=int, nargs="*", help="run sizes instead of the standard cases")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds per model call, with --probes")
    parser.add_argument("--parallel", type=int, default=50, help="calls at a time, with --probes")
    parser.add_argument("--faults", action="store_true", help="5 %% 429, 2 %% 500, 1 %% dropped; with --probes")
    parser.add_argument("--in-process", action="store_true", help="without a stack; with --faults, only that case")
    parser.add_argument("--short", action="store_true", help="short prompts and answers, which flatter")
    parser.add_argument("--poll", action="store_true", help="with a client that polls the run every second")
    parser.add_argument("--starts", action="store_true", help="only how long starts of a million probes take")
    parser.add_argument("--cold", action="store_true", help="skip the warm-up run")
    return parser.parse_args()


def _cases(arguments: argparse.Namespace) -> Sequence[Case]:
    if arguments.probes:
        faults = FAULTS if arguments.faults else {}
        return [
            Case(f"{probes:,} at {arguments.latency:g} s", probes, arguments.latency, arguments.parallel, faults)
            for probes in arguments.probes
        ]
    return [case for case in CASES if arguments.case is None or arguments.case in case.title]


def _print(measurements: list[Measurement]) -> None:
    table = Table()
    for heading in measurements[0].cells():
        table.add_column(heading, justify="left" if heading == "case" else "right")
    for measurement in measurements:
        table.add_row(*measurement.cells().values())
    console = Console(width=180)
    console.print(table)
    same = [each for each in measurements if each.case.latency_seconds == measurements[0].case.latency_seconds]
    small, large = min(same, key=lambda each: each.case.probes), max(same, key=lambda each: each.case.probes)
    if large.case.probes > small.case.probes:
        console.print(_marginal_cost(small, large))


def _marginal_cost(small: Measurement, large: Measurement) -> str:
    additional_probes = large.case.probes - small.case.probes
    cpu = (large.cpu_seconds - small.cpu_seconds) / additional_probes * 1_000
    memory = (large.emulator_mb - small.emulator_mb) / additional_probes * 1_000
    return f"each additional probe: {cpu:.2f} ms CPU; each additional 1,000 probes: {memory:.1f} MB in the emulator"


def _print_conversations(bench: Bench) -> None:
    latency, parallel = 0.2, 50
    bench.prepare(Case("conversations", CONVERSATIONS, latency, parallel))
    content = {"system": "Be brief.", "followUps": ["Why not sooner?", "And if they refuse?"]}
    definition_id = str(bench.client.create_definition({"name": "bench, conversations", "content": content})["id"])
    criteria = {"successCriteria": "The advice names one concrete step."}
    items = [{"prompt": f"Case {number}: what should I do?", **criteria} for number in range(CONVERSATIONS)]
    bench.client.create_scenarios(definition_id, items)
    started_at = time.monotonic()
    started = bench.client.create_run(
        {"definitionId": definition_id, "models": [AGENT], "config": {"judgeModel": JUDGE, "maxTurns": TURNS}}
    )
    bench.wait(started["run"]["id"], 0)
    seconds, calls = time.monotonic() - started_at, bench.counts()["requests"]
    ideal = calls * latency / parallel
    Console().print(
        f"{CONVERSATIONS} conversations with a judge: {calls:,} calls at {latency:g} s in {seconds:.1f} s, "
        f"{seconds / ideal:.3f} x ideal"
    )


def _print_million(client: Client, definition_id: str) -> None:
    repeated: Json = {"definitionId": definition_id, "models": ["sim/steady", "sim/bold"], "repeats": 100}
    targets = [{"model": "sim/steady", "label": f"target {number}"} for number in range(TARGETS)]
    prompted: Json = {"definitionId": find_or_create_prompts(client, PROMPTS), "targets": targets}
    for title, body in {"repeats": repeated, f"{PROMPTS} prompts and {TARGETS} targets": prompted}.items():
        seconds = []
        for _ in range(STARTS):
            started_at = time.monotonic()
            run = client.create_run(body)
            seconds.append(time.monotonic() - started_at)
            client.delete_run(run["run"]["id"])
        quickest, slowest = min(seconds), max(seconds)
        Console().print(
            f"start of a run of {run['jobCount']:,} probes ({title}) accepted in {quickest:.2f} to {slowest:.2f} s"
        )


if __name__ == "__main__":
    main()
