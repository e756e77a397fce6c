from collections.abc import Callable, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cupel.columns import column_of, columns_of
from cupel.commands.options import AsJson, GroupBy, Model, RescoreId, RunId
from cupel.errors import ApiProblem, CupelError
from cupel.extras import require_extra
from cupel.json_types import Json
from cupel.render_analysis import (
    MAX_CONTESTED,
    analysis_lines,
    breakdown_legend,
    breakdown_table,
    deep_analysis_lines,
    scenario_lines,
    slopes_table,
)
from cupel.session import Session
from cupel.target_names import TargetNames
from cupel.watch import wait_for_job
from cupel_core.domain.text.figures import format_decimal

if TYPE_CHECKING:
    from cupel.client import Client

_POLL_SECONDS = 1.0
_MAX_POLLS = 600


def analyze(
    ctx: typer.Context,
    run_id: RunId,
    scenarios: Annotated[int, typer.Option(min=0, max=100, help="How many contested scenarios to print.")] = 10,
    model: Model = None,
    by: GroupBy = None,
    rescore_id: RescoreId = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Components, outliers, effects of all dimensions together, interactions.")
    ] = False,
    plots: Annotated[
        Path | None, typer.Option("--plots", help="Folder for figures as SVG and PNG, also of the deep analysis.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Compute it again although nothing has changed.")] = False,
    no_narrative: Annotated[
        bool, typer.Option("--no-narrative", help="Let no model write about the figures of a deep analysis.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Analyze a run: agreement, outliers, dimensions, contested scenarios; --deep in more detail."""
    session = ctx.ensure_object(Session)
    if plots is not None:
        check_plots()
    with session.connect() as client:
        if by is not None:
            print_breakdown(
                session, client, client.get_run_breakdown(run_id, by, rescore_id=rescore_id), as_json=as_json
            )
            return
        if deep:
            analysis = _analyze_deeply(session, client, run_id, rescore_id, force=force, narrative=not no_narrative)
            _print_deeply(session, client, analysis, as_json=as_json)
        else:
            analysis = current_analysis(session, client, run_id, rescore_id, force=force)
            _print_basic(session, client, analysis, scenarios, model, as_json=as_json)
        if plots is not None:
            _draw(session, client, run_id, rescore_id, plots)


def print_breakdown(session: Session, client: "Client", breakdown: Json, *, as_json: bool) -> None:
    if as_json:
        session.print_json(breakdown)
        return
    names = TargetNames(client)
    groups = [{**group, "columns": names.named(group["columns"])} for group in breakdown["groups"]]
    session.out.print(breakdown_table(breakdown["by"], groups))
    for line in breakdown_legend(breakdown | {"forPersonas": names.named(breakdown["forPersonas"])}):
        session.out.print(line, markup=False, style="dim", soft_wrap=True)


def _draw(session: Session, client: "Client", run_id: str, rescore_id: str | None, folder: Path) -> None:
    basic = current_analysis(session, client, run_id, rescore_id)
    deep = _analyze_deeply(session, client, run_id, rescore_id, force=False, narrative=False)
    write_plots(session, basic, deep, _column_names(client, basic), folder)


def current_analysis(
    session: Session, client: "Client", run_id: str, rescore_id: str | None = None, *, force: bool = False
) -> Json:
    requested = client.analyze_run(run_id, force=force, rescore_id=rescore_id)
    with session.err.status("counting outcomes"):
        for _ in range(_MAX_POLLS):
            found = find_analysis(client, run_id, rescore_id)
            if found is not None and (requested["status"] is not None or not found["isStale"]):
                return found
            session.sleep(_POLL_SECONDS)
    raise TimeoutError(f"the analysis of {run_id} takes longer; cupel analyze shows it later")


def _analyze_deeply(
    session: Session, client: "Client", run_id: str, rescore_id: str | None, *, force: bool, narrative: bool
) -> Json:
    requested = client.analyze_run(run_id, kind="deep", force=force, narrative=narrative, rescore_id=rescore_id)
    if requested["jobId"] is not None:
        wait_for_job(session, client, requested["jobId"], "deep analysis")
    return client.get_deep_analysis(run_id, rescore_id=rescore_id)


def _print_basic(
    session: Session, client: "Client", analysis: Json, scenarios: int, model: str | None, *, as_json: bool
) -> None:
    if as_json:
        session.print_json(analysis)
        return
    print_analysis(session, client, analysis, contested=0)
    if scenarios and analysis["figures"] is not None:
        _print_scenarios(session, client, analysis, scenarios, model)


def _print_deeply(session: Session, client: "Client", analysis: Json, *, as_json: bool) -> None:
    if as_json:
        session.print_json(analysis)
        return
    columns, names = _column_names(client, analysis), TargetNames(client)
    targets = {column["targetId"] for column in (analysis["figures"] or {"columns": ()})["columns"]}
    _print_deep_lines(session, analysis, columns, lambda line: names.in_text(line, targets))


def print_deep_figures(session: Session, figures: Json, columns: Sequence[str]) -> None:
    _print_deep_lines(session, {"failure": None, "isStale": False, "figures": figures}, columns, lambda line: line)


def _print_deep_lines(session: Session, analysis: Json, columns: Sequence[str], named: Callable[[str], str]) -> None:
    if analysis["figures"] is not None and (slopes := slopes_table(analysis["figures"], columns)) is not None:
        session.out.print(slopes)
    for line in deep_analysis_lines(analysis, columns):
        session.out.print(named(line), markup=False, soft_wrap=True)


def _column_names(client: "Client", analysis: Json) -> list[str]:
    names = TargetNames(client)
    return [names.of_column(column_of(column)).name for column in (analysis["figures"] or {"columns": ()})["columns"]]


def find_analysis(client: "Client", run_id: str, rescore_id: str | None = None) -> Json | None:
    try:
        return client.get_run_analysis(run_id, rescore_id=rescore_id)
    except ApiProblem as problem:
        if problem.status != HTTPStatus.NOT_FOUND:
            raise
        return None


def print_analysis(
    session: Session,
    client: "Client",
    analysis: Json,
    contested: int = MAX_CONTESTED,
    without: frozenset[str] = frozenset(),
) -> None:
    """Print an analysis, with agents by their names.

    `without` has the kinds of findings and the codes of cautions to leave out.
    """
    names = TargetNames(client)
    targets = {column["targetId"] for column in (analysis["figures"] or {"columns": ()})["columns"]}
    for line in analysis_lines(analysis, contested, without):
        session.out.print(names.in_text(line, targets), markup=False, soft_wrap=True)


def _print_scenarios(session: Session, client: "Client", analysis: Json, count: int, model: str | None) -> None:
    run_id, rescore_id = analysis["runId"], analysis["rescoreId"]
    run = client.get_run(run_id)
    listed = client.list_analyzed_scenarios(run_id, model=model, rescore_id=rescore_id).first(count)
    names = TargetNames(client)
    columns = [names.of_column(column).name for column in columns_of(run)]
    for line in scenario_lines(listed, columns, format_decimal):
        session.out.print(line, markup=False, soft_wrap=True)


def check_plots() -> None:
    """Raise UsageError, with the command that installs it, if matplotlib is missing, before anything is computed."""
    require_extra("plots", "--plots")


def write_plots(session: Session, basic: Json, deep: Json, names: Sequence[str], folder: Path) -> None:
    """Draw two analyses of one run; say what was written and left out. Raises CupelError if a file cannot be
    written."""
    if basic["figures"] is None or deep["figures"] is None:
        session.remark("--plots: the analysis failed, so there is nothing to draw")
        return
    from cupel.plots.draw import draw_plots  # It takes a second to import.

    try:
        drawn = draw_plots(basic["figures"], deep["figures"], names, folder)
    except OSError as error:
        raise CupelError(f"--plots: {folder}: {error.strerror or error}") from error
    for name, reason in drawn.omitted.items():
        session.remark(f"{name} was not drawn: {reason}")
    if drawn.files:
        session.remark(f"{', '.join(path.name for path in drawn.files)} in {folder}")
