from collections.abc import Callable, Iterable
from typing import Annotated

import typer
from rich.table import Table

from cupel import render
from cupel.commands.lists import DEFAULT_LIMIT, Limit, print_list
from cupel.commands.options import AsJson, Model
from cupel.commands.suggestions import choice_option
from cupel.errors import UsageError
from cupel.json_types import Json, without_none
from cupel.markup import escape
from cupel.session import Session
from cupel.tables import table
from cupel.target_names import TargetNames
from cupel.terminal import NO_VALUE, shorten
from cupel_core.domain.runs.run import ProbeStatus


def probes(
    ctx: typer.Context,
    run_id: Annotated[str | None, typer.Argument(metavar="RUN", help="The id of a run; default: all runs.")] = None,
    status: Annotated[
        ProbeStatus | None,
        choice_option(ProbeStatus, "STATUS", "Only conversations in this status, such as error."),
    ] = None,
    error: Annotated[
        str | None, typer.Option(help="Only errored conversations with this code, such as timeout.")
    ] = None,
    model: Model = None,
    eval_id: Annotated[str | None, typer.Option("--eval", help="Of all runs: only those of this eval.")] = None,
    scenario: Annotated[str | None, typer.Option(help="Only this scenario, by its id.")] = None,
    persona: Annotated[str | None, typer.Option(help="Only this persona, by its id.")] = None,
    limit: Limit = DEFAULT_LIMIT,
    as_json: AsJson = False,
) -> None:
    """List the conversations of a run, or of all runs (newest first), with why they errored."""
    session = ctx.ensure_object(Session)
    if run_id is not None and eval_id is not None:
        raise UsageError("--eval: specify either a run or --eval")
    if error is not None:
        if status not in (None, ProbeStatus.ERROR):
            raise UsageError("--error: only errored conversations have one; leave out --status")
        status = ProbeStatus.ERROR
    with session.connect() as client:
        listed = (
            client.list_probes(eval_id=eval_id, scenario_id=scenario, persona_id=persona, status=status)
            if run_id is None
            else client.list_run_probes(run_id, status=status, model=model)
        )
        where = _condition(error, modelId=model, scenarioId=scenario, personaId=persona)
        names, is_whole = TargetNames(client), run_id is not None and where is None and status is None and model is None

        def count_all() -> int:
            return int(client.get_run(str(run_id))["progress"]["total"])

        def render(found: list[Json]) -> Table:
            return _table(names.named(found))

        total = count_all if is_whole else None
        print_list(session, listed, limit, render, as_json=as_json, where=where, total=total)


def correct(
    ctx: typer.Context,
    probe_id: Annotated[
        str, typer.Argument(metavar="PROBE", help="The id of a completed conversation, such as run_01jd3v…-7.")
    ],
    passed: Annotated[
        bool | None, typer.Option("--passed/--failed", help="The result that replaces the computed one.")
    ] = None,
    score: Annotated[float | None, typer.Option(min=0, max=1, help="From 0 to 1.")] = None,
    reason: Annotated[str | None, typer.Option(help="Why.")] = None,
    restore: Annotated[bool, typer.Option("--restore", help="Remove the correction.")] = False,
    as_json: AsJson = False,
) -> None:
    """Correct the result of a conversation by hand, or remove the correction; statistics use the corrected result."""
    session = ctx.ensure_object(Session)
    if restore == (passed is not None) or (restore and (score, reason) != (None, None)):
        raise UsageError("specify either --passed or --failed, with --score and --reason if you like, or --restore")
    result = None if restore else without_none(success=passed, score=score, reason=reason)
    with session.connect() as client:
        probe = client.correct_probe(probe_id, result)
    if as_json:
        session.print_json(probe)
    else:
        session.out.print(f"{probe['id']}: {render.result_word(probe) or 'not judged'}", markup=False)


def _condition(error: str | None, **fields: str | None) -> Callable[[Json], bool] | None:
    """Return the filter that the API lacks in one or both of its lists, or None if there is nothing to compare."""
    expected = without_none(**fields)

    def matches(probe: Json) -> bool:
        is_of_error = error is None or (probe.get("error") or {}).get("code") == error
        return is_of_error and all(probe.get(name) == value for name, value in expected.items())

    return matches if expected or error is not None else None


def _table(probes: Iterable[Json]) -> Table:
    columns = table("probe", "status", "target", "scenario", "error", texts=["scenario", "error"])
    for probe in probes:
        error = probe.get("error")
        why = shorten(f"{error['code']}: {error['message']}", 200) if error else NO_VALUE
        texts = map(escape, (render.column_title(probe), render.case_title(probe), why))
        columns.add_row(escape(probe["id"]), render.format_status(probe["status"]), *texts)
    return columns
