"""`cupel run --in-process`: the same table and exit codes, without a stack."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from cupel import junit_xml
from cupel.commands import saved_evaluations
from cupel.commands.gate_options import GateOptions
from cupel.commands.options import InProcessOptions
from cupel.commands.show import print_results
from cupel.counts import count_of
from cupel.errors import UsageError
from cupel.in_process import Evaluation, EvaluationOptions, Probe, ProbeResult
from cupel.in_process.plan import plan_evaluation
from cupel.json_types import Json
from cupel.render import evaluation_lines
from cupel.session import Session
from cupel.watch import progress_bar
from cupel_core.domain.runs.run import ProbeStatus, RunStatus

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

MAX_PRINTED_FAILURES = 10
"""How many probes that failed are listed; the JUnit file and --json contain all of them."""


_CONFIG = {
    "temperature": "temperature",
    "maxTurns": "max_turns",
    "judgeModel": "judge_model",
    "personaModel": "persona_model",
    "embeddingModel": "embedding_model",
    "evaluatorUrl": "evaluator_url",
}
"""The parameter of `evaluate` for each field of a run's `config`; the command's option has the same name."""


def run_in_process(
    session: Session,
    definition: str,
    specification: Json,
    options: InProcessOptions,
    gate_options: GateOptions,
    *,
    as_json: bool,
) -> None:
    """`specification` is the body that would start the run on a stack, without the definition."""
    evaluation = _evaluate(session, definition, _evaluation_options(specification, options), specification["models"])
    if as_json:
        session.print_json(evaluation.to_json())
    else:
        _print(session, evaluation)
    passed = gate_options.apply(
        session, evaluation.models, lambda: junit_xml.to_xml(evaluation.name, _suites(evaluation))
    )
    if evaluation.status is not RunStatus.COMPLETED or not passed:
        raise typer.Exit(1)


def _evaluation_options(specification: Json, options: InProcessOptions) -> EvaluationOptions:
    config = {_CONFIG[name]: value for name, value in specification["config"].items()}
    return cast(
        EvaluationOptions,
        {
            **config,
            "sample_percentage": specification["samplePercentage"],
            "seed": specification.get("sampleSeed"),
            "repeats": specification["repeats"],
            "max_concurrency": options.concurrency,
            "cache": options.cache,
            "cache_ttl": options.cache_ttl,
            "resume": None if options.resume is None else saved_evaluations.find(options.resume),
            **{label: specification[label] for label in ("name", "tags", "metadata") if label in specification},
        },
    )


def _evaluate(session: Session, definition: str, options: EvaluationOptions, targets: list[str]) -> Evaluation:
    """Evaluate under a progress bar like that of a run on a stack."""
    with progress_bar(session) as progress:
        display = _ProgressDisplay(progress)
        options["on_status"] = display.update
        try:
            plan = plan_evaluation(Path(definition), targets, options)
            return saved_evaluations.run(session, plan)
        except UsageError as error:
            name, separator, message = str(error).partition(":")
            if name not in (*_CONFIG.values(), "resume", "cache", "cache_ttl"):
                raise
            raise UsageError(f"--{name.replace('_', '-')}{separator}{message}") from error


class _ProgressDisplay:
    def __init__(self, progress: "Progress") -> None:
        self._progress = progress
        self._counts = {"total": 0, "completed": 0, "failed": 0}
        self._task: TaskID | None = None

    def update(self, probe: Probe, status: ProbeStatus) -> None:
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
    spend = evaluation.total_spend
    if spend.cached_calls:
        session.out.print(f"{spend.cached_calls:,} of {count_of(spend.calls, 'model call')} answered from the cache")
    session.out.print()
    print_results(session, evaluation.models)
    failed = [result for result in evaluation.results if result.success is False]
    for result in failed[:MAX_PRINTED_FAILURES]:
        reason = result.result.reason if result.result else ""
        session.out.print(f"failed: {result.target}: {result.probe.name}: {reason}", markup=False, soft_wrap=True)
    if len(failed) > MAX_PRINTED_FAILURES:
        session.out.print(f"and {len(failed) - MAX_PRINTED_FAILURES:,} more that failed", markup=False)


def _suites(evaluation: Evaluation) -> list[junit_xml.JunitSuite]:
    cases: dict[str, list[junit_xml.JunitCase]] = {target: [] for target in evaluation.targets}
    for result in evaluation.results:
        cases[result.target].append(_case(result, evaluation.id))
    return [junit_xml.JunitSuite(target, each) for target, each in cases.items()]


def _case(result: ProbeResult, run_id: str) -> junit_xml.JunitCase:
    to_case = junit_xml.transcript_case if result.transcript else junit_xml.probe_case
    return to_case(result.probe.name, result.to_json(run_id))
