"""`cupel run --in-process` prints the same table without a stack, and has the same exit codes."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import typer

from cupel import junit_xml
from cupel.commands.analyze import print_deep_figures
from cupel.commands.confirmation import confirm_cost
from cupel.commands.gate_options import GateOptions
from cupel.commands.options import InProcessOptions
from cupel.commands.request_options import WITHOUT_OPTION, option_of
from cupel.commands.show import print_matrix, print_results, print_sample
from cupel.commands.targets import target_specs
from cupel.counts import count_of
from cupel.errors import UsageError
from cupel.extras import require_extra
from cupel.in_process import EvaluationOptions, ProbeResult
from cupel.in_process.api import run_plan
from cupel.in_process.budget import checked_estimate
from cupel.in_process.evaluation import Evaluation
from cupel.in_process.options import option_name, resume_path
from cupel.in_process.plan import EvaluationPlan, plan_evaluation
from cupel.in_process.saved_outcomes import OutcomeFile
from cupel.json_types import Json
from cupel.price_texts import parse_price
from cupel.render import evaluation_lines
from cupel.render_matrix import ResultMatrix
from cupel.request_fields import fields_of
from cupel.session import Session
from cupel_core.domain.budgets.confirmation import excess_reason, needs_confirmation
from cupel_core.domain.budgets.money import limit_text
from cupel_core.domain.runs.run import RunStatus

MAX_PRINTED_FAILURES = 10
_OPTIONS = ("resume", "analysis_model", "cache", "cache_ttl")
"""A run has no fields for these parameters of `evaluate`; their options have the same names."""
_SAVED_FOLDER = Path(".cupel/evaluations")
_LAST_SAVED = "last"


def run_in_process(
    session: Session,
    definitions: Sequence[str],
    specification: Json,
    options: InProcessOptions,
    gate_options: GateOptions,
    *,
    yes: bool,
    as_json: bool,
) -> None:
    _check_deep(options)
    own = evaluation_options(specification, options)
    with named_after_options():
        plan = plan_evaluation(definitions, target_specs(specification), own)
        _confirm_if_needed(session, plan, yes=yes)
        evaluation = _run_and_save(session, plan)
    deep = evaluation.deep_analysis() if options.deep else None
    if as_json:
        cases = {"cases": evaluation.matrix()} if options.matrix else {}
        analysis = {"deepAnalysis": deep} if deep else {}
        session.print_json(evaluation.to_json() | cases | analysis)
    else:
        _print(session, evaluation)
        if options.matrix:
            session.out.print()
            columns = [column.name for column in evaluation.columns]
            print_matrix(session, ResultMatrix(columns, evaluation.matrix()))
        if deep is not None:
            session.out.print()
            print_deep_figures(session, deep, [column.name for column in evaluation.columns])
    passed = gate_options.apply(
        session,
        evaluation.models,
        lambda: junit_xml.to_xml(evaluation.name, _suites(evaluation)),
        further=lambda: () if evaluation.status is RunStatus.COMPLETED else [f"the evaluation is {evaluation.status}"],
    )
    _discard_saved(evaluation, resume_path(own))
    if not passed:
        raise typer.Exit(1)


def _check_deep(options: InProcessOptions) -> None:
    """Raise UsageError, before any call, if an analysis would be impossible afterwards."""
    if options.deep:
        require_extra("analysis", "--deep")
    elif options.analysis_model is not None:
        raise UsageError("--analysis-model: writes about a deep analysis; add --deep")


def _confirm_if_needed(session: Session, plan: EvaluationPlan, *, yes: bool) -> None:
    """Raise UsageError for a model whose price is unknown, and if nobody can agree to the cost."""
    max_usd = plan.settings.max_budget_usd
    if max_usd is None:
        return
    estimate = checked_estimate(plan)
    if too_small := estimate.why_too_small(max_usd):
        raise UsageError(f"--budget: {too_small}")
    if needs_confirmation(estimate.usd, max_usd, None, estimate.reserved_usd):
        name = f"its budget of {limit_text(max_usd)}"
        reason = excess_reason("the run", estimate.usd, estimate.reserved_usd, max_usd, name)
        confirm_cost(session, f"{reason}, so its last conversations would end with the error budget", yes=yes)


def evaluation_options(specification: Json, options: InProcessOptions) -> EvaluationOptions:
    settings = {name: value for name, value in specification.items() if name not in ("models", "targets", "config")}
    given = {parameter_of(name): value for name, value in (settings | specification["config"]).items()}
    return cast(
        EvaluationOptions,
        {
            **given,
            "analysis_model": options.analysis_model,
            "cache": options.cache,
            "cache_ttl": options.cache_ttl,
            "allow_code": options.allow_code,
            "providers": providers_with(options.prices),
            "resume": None if options.resume is None else _find_saved(options.resume),
        },
    )


def parameter_of(field: str) -> str:
    """Return the parameter of `evaluate` for a field of a run. Raises UsageError for one that only a stack has."""
    parameter = option_name(field)
    if parameter not in EvaluationOptions.__annotations__:
        raise UsageError(f"{option_of('CreateRun', field).names}: needs a stack")
    return parameter


def providers_with(prices: Sequence[str]) -> dict[str, Json] | None:
    providers: dict[str, Json] = {}
    for text in prices:
        model, figures = parse_price(text, "--price")
        provider, _, name = model.partition("/")
        if not name:
            raise UsageError(f"--price: {text}: name the model with its provider, such as custom/{model}=0.2,0.6")
        # Cached tokens cost as much as others, and calls nothing, unless the text says otherwise.
        left_out = (None, None, figures[0], 0.0)
        given = tuple(default if each is None else each for each, default in zip(figures, left_out, strict=False))
        providers.setdefault(provider, {"prices": {}})["prices"][name] = given
    return providers or None


@contextmanager
def named_after_options() -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        field, separator, message = str(error).partition(":")
        option = _option_of(field)
        if option is None:
            raise
        raise UsageError(f"{option}{separator}{message}") from error


def _option_of(field: str) -> str | None:
    """Return `--judge-model` for `judge_model`, `--models` for `targets.0`, and None for a field of the file."""
    name, _, inner = field.partition(".")
    if name == "params":
        return f"--param: {inner}"
    if name == "targets" and "." in inner:  # Only a file can have this field of a target.
        return f"--targets: {inner}"
    if name == "targets":
        return "--models"
    if name in _OPTIONS:
        return f"--{name.replace('_', '-')}"
    fields = (each for each in fields_of("CreateRun") if each not in WITHOUT_OPTION)
    return next((option_of("CreateRun", each).names for each in fields if option_name(each) == name), None)


def _print(session: Session, evaluation: Evaluation) -> None:
    run = evaluation.run_json()
    for line in evaluation_lines(run):
        session.out.print(line, soft_wrap=True)
    spend = evaluation.total_spend
    if spend.cached_calls:
        session.out.print(f"{spend.cached_calls:,} of {count_of(spend.calls, 'model call')} answered from the cache")
    session.out.print()
    print_results(session, evaluation.models)
    print_sample(session, evaluation.sample_json(), evaluation.models)
    failed = [result for result in evaluation.results if result.success is False]
    for result in failed[:MAX_PRINTED_FAILURES]:
        reason = result.result.reason if result.result else ""
        line = f"failed: {result.probe.column.name}: {result.probe.name}: {reason}"
        session.out.print(line, markup=False, soft_wrap=True)
    if len(failed) > MAX_PRINTED_FAILURES:
        session.out.print(f"and {len(failed) - MAX_PRINTED_FAILURES:,} more that failed", markup=False)


def _suites(evaluation: Evaluation) -> list[junit_xml.JunitSuite]:
    cases: dict[str, list[junit_xml.JunitCase]] = {column.name: [] for column in evaluation.columns}
    for result in evaluation.results:
        cases[result.probe.column.name].append(_case(result, evaluation.id))
    return [junit_xml.JunitSuite(name, each) for name, each in cases.items()]


def _case(result: ProbeResult, run_id: str) -> junit_xml.JunitCase:
    to_case = junit_xml.transcript_case if result.transcript else junit_xml.probe_case
    return to_case(result.probe.name, result.to_json(run_id))


def _find_saved(name: str) -> Path:
    """Return the file of this name, or the one that was written last. Raises UsageError if there is none."""
    if name != _LAST_SAVED:
        if not Path(name).is_file():
            raise UsageError(f"--resume: {name}: no such file")
        return Path(name)
    files = sorted(_SAVED_FOLDER.glob("*.jsonl"), key=lambda path: path.stat().st_mtime)
    if not files:
        raise UsageError(f"--resume {_LAST_SAVED}: there is no interrupted evaluation in {_SAVED_FOLDER}")
    return files[-1]


def _run_and_save(session: Session, plan: EvaluationPlan) -> Evaluation:
    file = _open(plan)
    try:
        evaluation = asyncio.run(run_plan(plan, file, session.err))
    except KeyboardInterrupt:
        _explain_interruption(session, plan, file)
        raise
    if evaluation.errors:
        errored = count_of(len(evaluation.errors), "errored conversation")
        session.remark(f"to run the {errored} again, repeat the command with --resume {file.path}")
    return evaluation


def _discard_saved(evaluation: Evaluation, resume: Path | None) -> None:
    """Delete a file in the folder if every probe has completed, so that nothing is left to continue.

    This must follow the printing and writing of the results, which are stored nowhere else.
    """
    path = resume or _new_path(evaluation.id)
    if not evaluation.errors and path.parent == _SAVED_FOLDER:
        path.unlink(missing_ok=True)


def _open(plan: EvaluationPlan) -> OutcomeFile:
    path = resume_path(plan.options)
    if path is not None:
        return plan.open_file(path)
    try:
        return plan.open_file(_new_path(plan.id))
    except UsageError as error:
        reason = str(error).rpartition(": ")[2]
        message = f"{_SAVED_FOLDER}: {reason}; run the command in a folder where finished conversations can be saved"
        raise UsageError(message) from error


def _new_path(evaluation_id: str) -> Path:
    return _SAVED_FOLDER / f"{evaluation_id}.jsonl"


def _explain_interruption(session: Session, plan: EvaluationPlan, file: OutcomeFile) -> None:
    saved = file.count + (len(plan.saved.transcripts) if plan.saved else 0)
    if not saved:
        file.path.unlink(missing_ok=True)
        session.remark("interrupted before any conversation was finished; nothing was saved")
        return
    session.remark(
        f"interrupted; {saved:,} of {count_of(plan.probe_plan.total, 'conversation')} are saved in {file.path}"
    )
    session.remark(f"to continue, repeat the command with --resume {file.path}; unfinished conversations begin again")
