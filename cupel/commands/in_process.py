"""`cupel run --in-process`: the same table and the same exit codes, without a stack."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from cupel import junit
from cupel.commands.gate_options import Ending
from cupel.commands.show import print_results
from cupel.in_process import Evaluation, Options, Probe, ProbeResult, evaluate
from cupel.json_types import Json
from cupel.render import evaluation_lines
from cupel.session import Session
from cupel.watch import bar
from cupel_core.domain.runs.run import ProbeStatus, RunStatus

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

MOST_TOLD = 10
"""Of the probes that did not pass; JUnit's file and --json have them all."""


def run_here(
    session: Session, definition: str, specification: Json, concurrency: int, ending: Ending, *, as_json: bool
) -> None:
    """`specification` is what a stack would be told, without the definition."""
    evaluation = _evaluate(session, definition, _options(specification, concurrency), specification["models"])
    if as_json:
        session.print_json(evaluation.to_json())
    else:
        _print(session, evaluation)
    passed = ending.conclude(session, evaluation.models, lambda: junit.document(evaluation.name, _suites(evaluation)))
    if evaluation.status is not RunStatus.COMPLETED or not passed:
        raise typer.Exit(1)


def _options(specification: Json, concurrency: int) -> Options:
    config = specification["config"]
    names = {
        "temperature": "temperature",
        "maxTurns": "max_turns",
        "judgeModel": "judge_model",
        "personaModel": "persona_model",
        "embeddingModel": "embedding_model",
        "evaluatorUrl": "evaluator_url",
    }
    told = {names[name]: value for name, value in config.items()}
    return cast(
        Options,
        {
            **told,
            "sample_percentage": specification["samplePercentage"],
            "seed": specification.get("sampleSeed"),
            "repeats": specification["repeats"],
            "max_concurrency": concurrency,
        },
    )


def _evaluate(session: Session, definition: str, options: Options, targets: list[str]) -> Evaluation:
    """Under a progress bar, which shows the counts that a run of a stack would have."""
    with bar(session) as progress:
        shown = _Shown(progress)
        options["on_status"] = shown.tell
        return evaluate(Path(definition), targets, **options)


class _Shown:
    def __init__(self, progress: "Progress") -> None:
        self._progress = progress
        self._counts = {"total": 0, "completed": 0, "failed": 0}
        self._task: TaskID | None = None

    def tell(self, probe: Probe, status: ProbeStatus) -> None:
        counts = self._counts
        counts["total"] = probe.total
        counts["completed"] += status is ProbeStatus.COMPLETED
        counts["failed"] += status is ProbeStatus.ERROR
        ended = counts["completed"] + counts["failed"]
        run = {"status": str(RunStatus.RUNNING if ended < probe.total else RunStatus.COMPLETED), "progress": counts}
        if self._task is None:
            self._task = self._progress.add_task("", total=probe.total, run=run)
        self._progress.update(self._task, completed=ended, run=run)


def _print(session: Session, evaluation: Evaluation) -> None:
    for line in evaluation_lines(evaluation.run_json()):
        session.out.print(line, soft_wrap=True)
    session.out.print()
    print_results(session, evaluation.models)
    failed = [result for result in evaluation.results if result.success is False]
    for result in failed[:MOST_TOLD]:
        reason = result.result.reason if result.result else ""
        session.out.print(f"not passed: {result.target}: {result.probe.name}: {reason}", markup=False, soft_wrap=True)
    if len(failed) > MOST_TOLD:
        session.out.print(f"and {len(failed) - MOST_TOLD:,} more that did not pass", markup=False)


def _suites(evaluation: Evaluation) -> list[junit.Suite]:
    cases: dict[str, list[junit.Case]] = {target: [] for target in evaluation.targets}
    for result in evaluation.results:
        cases[result.target].append(_case(result, evaluation.id))
    return [junit.Suite(target, each) for target, each in cases.items()]


def _case(result: ProbeResult, run_id: str) -> junit.Case:
    told = junit.case_of if result.transcript else junit.case_of_probe
    return told(result.probe.name, result.to_json(run_id))
