import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated

import typer

from cupel import render, render_experiment, render_matrix, render_results, results, unscored_answers
from cupel.columns import columns_of
from cupel.commands.lists import DEFAULT_LIMIT, Limit, remark_on_limit
from cupel.commands.options import (
    AsJson,
    Ids,
    Model,
    Prompt,
    RunId,
    command_name,
)
from cupel.commands.suggestions import choice_option
from cupel.errors import ApiProblem, UsageError
from cupel.json_types import Json
from cupel.message_texts import content_text
from cupel.resource_names import ResourceNames
from cupel.results import ModelResults
from cupel.session import Session
from cupel.target_names import TargetNames
from cupel.terminal import NO_VALUE
from cupel_core.domain.analysis.extrapolation import RunSample, extrapolation_text
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.runs.transcripts import ResultKind
from cupel_core.domain.statistics import Interval

if TYPE_CHECKING:
    from cupel.client import Client

_FIELDS = {Metric.DECISION: "decision", Metric.PASS_RATE: "passRate"}


class MatrixFormat(StrEnum):
    TABLE = "table"
    CSV = "csv"


def show(
    ctx: typer.Context,
    run_id: RunId,
    matrix: Annotated[
        bool, typer.Option("--matrix", help="Instead: a row per scenario, a column per target and prompt.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, max=1_000_000, help="Rows of --matrix; default: 20.")
    ] = None,
    file_format: Annotated[MatrixFormat, typer.Option("--format", help="Of --matrix.")] = MatrixFormat.TABLE,
    as_json: AsJson = False,
) -> None:
    """Show a run and its results so far."""
    session = ctx.ensure_object(Session)
    if not matrix and (limit is not None or file_format is not MatrixFormat.TABLE):
        raise UsageError(f"--{'format' if limit is None else 'limit'}: only with --matrix")
    if as_json and file_format is not MatrixFormat.TABLE:
        raise UsageError("--json: is a format of its own; leave out --format")
    with session.connect() as client:
        run = client.get_run(run_id)
        if matrix:
            _print_cases(session, client, run, limit or DEFAULT_LIMIT, file_format, as_json=as_json)
        else:
            models = print_run(session, client, run, as_json=as_json, extra={})
            if not as_json and (repair := render_results.repair_of_run(run, models)):
                session.out.print(f"{repair} scores the stored answers again", markup=False, soft_wrap=True)


def transcripts(
    ctx: typer.Context,
    run_id: RunId,
    model: Model = None,
    prompt: Prompt = None,
    scenario: Annotated[str | None, typer.Option(help="Only this scenario.")] = None,
    result: Annotated[
        ResultKind | None,
        choice_option(ResultKind, "RESULT", "Only transcripts with this result: passed, failed or unscored."),
    ] = None,
    decision: Annotated[str | None, typer.Option(help="Only transcripts with this decision, such as 5.")] = None,
    tag: Annotated[str | None, typer.Option(help="Only transcripts with a failed assertion of this tag.")] = None,
    limit: Limit = DEFAULT_LIMIT,
    full: Annotated[bool, typer.Option("--full", help="Print whole conversations instead of a table.")] = False,
    ids: Ids = False,
    as_json: AsJson = False,
) -> None:
    """List a run's transcripts."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        of_column = {"model": model, "prompt_id": prompt}
        filters = {**of_column, "scenario_id": scenario, "result": result, "decision": decision, "tag": tag}
        items = client.list_transcripts(run_id, **filters).first(limit)
        if not items and scenario is not None:
            run = client.get_run(run_id)
            client.get_scenario(run["definitionId"], scenario, version=run["definitionVersion"])
        shown = items if as_json or ids else TargetNames(client).named(items)
        is_whole = items.has_more and not any(filters.values())
        total = client.get_run(run_id)["progress"]["completed"] if is_whole else None
    if as_json:
        session.print_json(items)
    elif not full:
        session.out.print(render.transcripts_table(shown, ids=ids))
    else:
        for transcript in shown:
            _print_conversation(session, transcript, ids=ids)
    remark_on_limit(session, items, None if total is None else lambda: total)


def print_run(session: Session, client: "Client", run: Json, *, as_json: bool, extra: Json) -> list[ModelResults]:
    with session.err.status("counting outcomes") as display:
        table = results.collect(
            client,
            run,
            lambda part: display.update(f"counting outcomes ({part['counted']:,} of {part['recorded']:,})"),
        )
    summary = find_experiment_summary(client, run)
    if as_json:
        document = {"run": run, **extra, "results": results.to_json(table.models), "sample": table.sample}
        rows = [row for row in summary["rows"] if row["runId"] == run["id"]] if summary else []
        session.print_json({**document, "experimentRows": rows})
        return table.models
    named_eval = {"evalTitle": ResourceNames(client).with_id("evalId", run["evalId"])} if run.get("evalId") else {}
    for line in render.run_lines({**run, **named_eval}):
        session.out.print(line, soft_wrap=True)
    session.out.print()
    names = TargetNames(client)
    named = [replace(each, column=names.of_column(each.column)) for each in table.models]
    print_results(session, named)
    print_sample(session, table.sample, named, f"{command_name()} expand {run['id']} --sample 100")
    for line in render_experiment.run_lines(run["id"], summary) if summary else ():
        session.out.print(line, markup=False, soft_wrap=True)
    return table.models


def find_experiment_summary(client: "Client", run: Json) -> Json | None:
    if run.get("experimentId") is None:
        return None
    try:
        return client.get_experiment_summary(run["experimentId"])
    except ApiProblem as problem:
        if problem.status != HTTPStatus.NOT_FOUND:
            raise
        return None


def print_sample(session: Session, sample: Json, models: Sequence[ModelResults], expand: str | None = None) -> None:
    for line in sample_lines(sample, models, expand):
        session.out.print(line, markup=False, soft_wrap=True)


def _print_cases(
    session: Session, client: "Client", run: Json, limit: int, file_format: MatrixFormat, *, as_json: bool
) -> None:
    rows = client.list_run_cases(run["id"]).first(limit)
    if as_json:
        session.print_json({"run": run, "cases": rows})
    else:
        names = TargetNames(client)
        columns = [names.of_column(column).name for column in columns_of(run)]
        print_matrix(session, render_matrix.ResultMatrix(columns, rows), file_format)
    per_case = len(columns_of(run)) * run["config"]["repeats"]
    remark_on_limit(session, rows, lambda: int(run["progress"]["total"]) // per_case)


def print_matrix(
    session: Session, matrix: render_matrix.ResultMatrix, file_format: MatrixFormat = MatrixFormat.TABLE
) -> None:
    if file_format is MatrixFormat.CSV:
        render_matrix.write_matrix_csv(matrix, sys.stdout)
        return
    rows, legend = render_matrix.matrix_table(matrix, session.out.table_width)
    session.out.print(rows)
    for line in legend:
        session.out.print(line, markup=False, style="dim", soft_wrap=True)


def print_results(session: Session, model_results: list[ModelResults]) -> None:
    for table in render_results.results_tables(model_results, session.out.table_width):
        session.out.print(table)
    for line in render_results.results_legend(model_results):
        session.out.print(line, markup=False, style="dim", soft_wrap=True)


def _print_conversation(session: Session, transcript: Json, *, ids: bool) -> None:
    session.out.rule(style="dim")
    title = f"probe {transcript['probeIndex']}  {render.column_title(transcript)}  {render.case_title(transcript)}"
    session.out.print(title, markup=False, style="bold", soft_wrap=True)
    if variables := render.variables_text(transcript):
        session.out.print(variables, markup=False, soft_wrap=True)
    if ids:
        named = [transcript["id"], transcript["scenarioId"], *filter(None, [transcript.get("personaId")])]
        session.out.print("  ".join(named), markup=False, style="dim", soft_wrap=True)
    if omitted := transcript.get("omittedParameters"):
        line = f"left out of the requests, because the target rejects it: {', '.join(omitted)}"
        session.out.print(line, markup=False, style="yellow", soft_wrap=True)
    print_messages(session, (transcript.get("content") or {}).get("messages") or ())
    if decision := transcript["decisionCode"]:
        session.out.print(f"decision {decision}", style="bold", markup=False)
    if error := transcript.get("summaryError"):
        cause = (
            f" ({unscored_answers.cause_name(transcript['summaryCause'])})" if transcript.get("summaryCause") else ""
        )
        session.out.print(f"decision not read{cause}: {error}", markup=False, style="yellow", soft_wrap=True)
    print_result(session, transcript.get("result"))
    _print_uncomputed(session, (transcript.get("scoring") or {}).get("results") or ())


def _print_uncomputed(session: Session, results_of_checks: Iterable[Json], indent: str = "") -> None:
    for each in results_of_checks:
        if each["passed"] is None:
            name = f"{each['metric']} ({each['type']})" if each.get("metric") else each["type"]
            code = f" ({unscored_answers.cause_name(each['cause'])})" if each.get("cause") else ""
            line = f"{indent}not scored: {name}{code}: {each.get('error') or NO_VALUE}"
            session.out.print(line, markup=False, style="yellow", soft_wrap=True)
        _print_uncomputed(session, each.get("parts") or (), f"{indent}  ")


def print_messages(session: Session, messages: Iterable[Json]) -> None:
    for message in messages:
        session.out.print(message["role"], style="bold")
        if reasoning := message.get("reasoning"):
            count = f"{len(reasoning):,} characters of reasoning, which is not part of the answer; --json has it"
            session.out.print(f"[{count}]", markup=False, style="dim")
        session.out.print(content_text(message), markup=False, soft_wrap=True)


def print_result(session: Session, result: Json | None) -> None:
    if result is not None:
        line = f"{'passed' if result['success'] else 'failed'}: {result['reason'] or NO_VALUE}"
        session.out.print(line, markup=False, style="bold", soft_wrap=True)


def sample_lines(sample: Json, results: Sequence[ModelResults], expand: str | None) -> Iterator[str]:
    """Yield nothing for a run that is no sample. `expand` is the command that adds the other scenarios, if there is
    one."""
    read = _read(sample)
    if read.note is None:
        return
    expansion = read.expansion and (f"{read.expansion.removesuffix('.')}: {expand}" if expand else read.expansion)
    yield f"{read.note} {expansion or ''}".rstrip()
    metric = Metric.DECISION if any(each.decisions.decided for each in results) else Metric.PASS_RATE
    named = [(each.name, interval) for each in results if (interval := _interval(each, metric))]
    if named:
        yield extrapolation_text(read, metric, named)


def _read(sample: Json) -> RunSample:
    scenarios, total, seed = sample["scenarios"], sample["total"], sample["seed"]
    return RunSample(scenarios, total, seed, sample["probesToAdd"], sample["isDrawn"])


def _interval(results: ModelResults, metric: Metric) -> Interval | None:
    extrapolated = (results.extrapolated or {}).get(_FIELDS[metric]) or {}
    bounds = extrapolated.get("interval95")
    return Interval(*bounds) if bounds else None
