"""`python -m bench.reports`: measure time and memory of a report of 100,000 probes on the local stack.

The outcomes are written directly, as workers would have left them: every third conversation fails, with a tag. The
report counts them, reads samples and has a summary of a simulated model. Memory is the peak of any worker of the
function that makes it. It exits with 1 if a bound is exceeded. The stack's data grows by about 0.1 GB.
"""

import argparse
import sys
import time
from dataclasses import replace
from typing import Any, NamedTuple

import psutil
from rich.console import Console

from bench.cases import find_or_create_definition
from bench.processes import function_peak_mb, running_stack
from bench.stored_runs import MODELS, short_transcript, use_stack, write_run
from cupel.client import Client

PROBES = 100_000
MAX_SECONDS, MAX_MEGABYTES = 60.0, 300.0
FUNCTION = "analyze"
_POLL_SECONDS = 0.2


class Figures(NamedTuple):
    seconds: float
    megabytes: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probes", type=int, default=PROBES, help="a multiple of 10,000")
    probes = parser.parse_args().probes
    running = running_stack()
    with Client.from_environment() as client:
        definition_id = find_or_create_definition(client, short=False)
        use_stack(running)
        run_id = write_run(definition_id, probes, _judged_transcript)
        began = time.monotonic()
        report = client.create_report(run_id, {"summarizerModel": MODELS[0]})
        while report["status"] not in ("COMPLETED", "FAILED"):
            time.sleep(_POLL_SECONDS)
            report = client.get_report(run_id, report["id"])
        seconds = time.monotonic() - began
    if report["status"] == "FAILED":
        sys.exit(f"the report failed: {report['failure']}")
    figures = Figures(seconds, function_peak_mb(running.pid, FUNCTION))
    console = Console(width=120)
    console.print(f"report of {probes:,} probes: {figures.seconds:.1f} s, {figures.megabytes:.0f} MB")
    console.print(f"load {' '.join(f'{each:.1f}' for each in psutil.getloadavg())}, {psutil.cpu_count()} cores")
    for violation in violated_bounds(figures):
        console.print(violation)
    sys.exit(bool(violated_bounds(figures)))


def _judged_transcript(run: Any, index: int) -> Any:
    """Return a transcript with the result of an assertion; every third one has failed."""
    from cupel_core.domain.scoring.assertions import AssertionResult
    from cupel_core.domain.scoring.scoring import build_scoring

    passed = index % 3 != 0
    result = AssertionResult("contains", passed, float(passed), "", metric="names a step", tag="GOAL_MISS")
    return replace(short_transcript(run, index), scoring=build_scoring(None, None, (result,)))


def violated_bounds(figures: Figures) -> list[str]:
    checks = [
        (figures.seconds > MAX_SECONDS, f"the report took more than {MAX_SECONDS:.0f} s"),
        (figures.megabytes > MAX_MEGABYTES, f"its worker used more than {MAX_MEGABYTES:.0f} MB"),
    ]
    return [message for is_violated, message in checks if is_violated]


if __name__ == "__main__":
    main()
