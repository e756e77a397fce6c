from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cupel import render_scores
from cupel.commands.analyze import print_breakdown
from cupel.commands.lists import DEFAULT_LIMIT, Limit, print_items, print_list, remark_on_limit
from cupel.commands.options import AsJson, CallUnpriced, GroupBy, Ids, Model, RescoreId, RunId, command_name, parse_usd
from cupel.errors import ApiProblem, CupelError, UsageError
from cupel.json_types import Json, without_none
from cupel.pages import FirstItems
from cupel.session import Session
from cupel.source_files import SourceFile
from cupel.target_names import TargetNames
from cupel.watch import FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS, WAIT_GROWTH
from cupel_core.domain.runs.run import RunStatus
from cupel_core.domain.scoring.rescores import RESCORABLE

if TYPE_CHECKING:
    from cupel.client import Client

RepeatCount = Annotated[
    int | None, typer.Option("-k", min=1, max=100, help="The k of pass@k and pass^k; default: the run's repeats.")
]


def rescore(
    ctx: typer.Context,
    run_id: RunId,
    file: Annotated[
        Path | None, typer.Option(help="YAML or JSON with `assertions` and other overrides; options take precedence.")
    ] = None,
    judge_model: Annotated[str | None, typer.Option(help="Override the judge model.")] = None,
    embedding_model: Annotated[str | None, typer.Option(help="Override the embedding model.")] = None,
    evaluator_url: Annotated[str | None, typer.Option(help="Override the external evaluator.")] = None,
    success: Annotated[str | None, typer.Option(help="Success criteria that replace those of every scenario.")] = None,
    failure: Annotated[str | None, typer.Option(help="Failure criteria that replace those of every scenario.")] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            parser=parse_usd,
            metavar="USD",
            help="What it may spend; otherwise the budget of the run pays, if there is one.",
        ),
    ] = None,
    allow_unpriced: CallUnpriced = False,
    watch: Annotated[bool, typer.Option("--watch", help="Wait for the end, and show the scores.")] = False,
    as_json: AsJson = False,
) -> None:
    """Grade a run's transcripts again, without calling its targets. Earlier scores are kept."""
    session = ctx.ensure_object(Session)
    options = without_none(judgeModel=judge_model, embeddingModel=embedding_model, evaluatorUrl=evaluator_url)
    criteria = without_none(success=success, failure=failure)
    source = SourceFile.read(file) if file else SourceFile("the options", {})
    limits = without_none(maxBudgetUsd=budget, allowUnpriced=allow_unpriced or None)
    overrides = source.mapping() | options | limits | ({"criteria": criteria} if criteria else {})
    with session.connect() as client:
        with source.explaining():
            created = client.create_rescore(run_id, overrides)
        if watch:
            created = watch_rescore(session, client, created)
        _print_rescore(session, client, created, as_json=as_json)
    check_has_not_failed(created)


def check_has_not_failed(rescore: Json) -> None:
    if rescore["status"] == "FAILED":
        where, why = rescore["failure"]["where"], rescore["failure"]["why"]
        what = "was stopped" if where in ("budget", "judge") else f"failed in {where}"
        raise CupelError(f"the rescore {what}: {why}")


def rescores(ctx: typer.Context, run_id: RunId, limit: Limit = DEFAULT_LIMIT, as_json: AsJson = False) -> None:
    """List the rescores of a run, newest first, and how far they agree with its own results."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        items = client.list_rescores(run_id).first(limit)
        agreement = _agreement(session, client, run_id) if items and not as_json else []
    print_items(session, items, render_scores.rescores_table, as_json=as_json)
    if agreement:
        session.out.print()
        session.out.print(render_scores.agreement_table(agreement))
        for line in render_scores.agreement_legend(agreement):
            session.out.print(line, markup=False, style="dim", soft_wrap=True)
    if items and not as_json:
        name, rescore_id = command_name(), items[0]["id"]
        session.remark(f"{name} scores {run_id} --rescore {rescore_id}, {name} compare {run_id} --rescore {rescore_id}")


def _agreement(session: Session, client: "Client", run_id: str) -> list[Json]:
    try:
        return client.list_grader_agreement(run_id)
    except ApiProblem as problem:
        if problem.status != HTTPStatus.UNPROCESSABLE_ENTITY:
            raise
        session.remark(f"no agreement: {problem.detail}")
        return []


def scores(
    ctx: typer.Context,
    run_id: RunId,
    rescore_id: RescoreId = None,
    model: Model = None,
    k: RepeatCount = None,
    by: GroupBy = None,
    scenarios: Annotated[bool, typer.Option("--scenarios", help="Add a row per scenario and model.")] = False,
    probes: Annotated[bool, typer.Option("--probes", help="List the result of each conversation instead.")] = False,
    limit: Limit = DEFAULT_LIMIT,
    ids: Ids = False,
    as_json: AsJson = False,
) -> None:
    """Show pass rates with their standard errors, pass@k and pass^k."""
    session = ctx.ensure_object(Session)
    if probes:
        _list_results(session, run_id, rescore_id, model, limit, as_json=as_json)
        return
    with session.connect() as client:
        if by is not None:
            breakdown = client.get_run_breakdown(run_id, by, rescore_id=rescore_id)
            print_breakdown(session, client, breakdown, as_json=as_json)
            return
        run_scores = client.get_run_scores(run_id, rescore_id=rescore_id, model=model, k=k)
        listed = client.list_scenario_scores(run_id, rescore_id=rescore_id, model=model, k=k)
        first = listed.first(limit) if scenarios else FirstItems((), has_more=False)
        rows: list[Json] = first
        status = client.get_run(run_id)["status"] if render_scores.repair(run_scores) else None
        if not as_json and not ids:
            names = TargetNames(client)
            run_scores |= {"models": names.named(run_scores["models"])}
            rows = names.named(rows)
    if as_json:
        session.print_json(run_scores | ({"scenarios": rows} if scenarios else {}))
    else:
        _print_scores(session, run_scores, status)
        if scenarios:
            session.out.print()
            session.out.print(render_scores.scenarios_table(rows, run_scores["k"], ids=ids))
    remark_on_limit(session, first)


def _list_results(
    session: Session, run_id: str, rescore_id: str | None, model: str | None, limit: int, *, as_json: bool
) -> None:
    if rescore_id is None:
        raise UsageError(f"--probes: needs --rescore; {command_name()} transcripts {run_id} has the run's own results")
    with session.connect() as client:
        listed = client.list_rescore_results(run_id, rescore_id, model=model)
        names = TargetNames(client)
        print_list(
            session, listed, limit, lambda found: render_scores.results_table(names.named(found)), as_json=as_json
        )


def _print_rescore(session: Session, client: "Client", rescore: Json, *, as_json: bool) -> None:
    if as_json:
        session.print_json(rescore)
        return
    session.out.print(render_scores.rescore_line(rescore), soft_wrap=True)
    if rescore["status"] == "COMPLETED" or (rescore["status"] == "FAILED" and rescore["progress"]["failed"]):
        run_scores = client.get_run_scores(rescore["runId"], rescore_id=rescore["id"])
        _print_scores(session, run_scores | {"models": TargetNames(client).named(run_scores["models"])})
    else:
        session.remark(f"{command_name()} scores {rescore['runId']} --rescore {rescore['id']}")


def _print_scores(session: Session, run_scores: Json, status: str | None = RunStatus.COMPLETED) -> None:
    session.out.print(render_scores.models_table(run_scores["models"], run_scores["k"]))
    for line in render_scores.legend(run_scores):
        session.out.print(line, markup=False, style="dim", soft_wrap=True)
    if status in RESCORABLE and (repair := render_scores.repair(run_scores)):
        session.out.print(f"{repair} scores the stored answers again", markup=False, soft_wrap=True)


def watch_rescore(session: Session, client: "Client", rescore: Json) -> Json:
    with session.err.status("rescoring") as display:
        for rescore in _poll(session, client, rescore):  # noqa: B020 - each is the same rescore, later
            progress = rescore["progress"]
            display.update(f"rescoring ({progress['completed'] + progress['failed']:,} of {progress['total']:,})")
    return rescore


def _poll(session: Session, client: "Client", rescore: Json) -> Iterator[Json]:
    wait = FIRST_WAIT_SECONDS
    while True:
        yield rescore
        if rescore["status"] in ("COMPLETED", "FAILED"):
            return
        session.sleep(wait)
        wait = min(MAX_WAIT_SECONDS, wait * WAIT_GROWTH)
        rescore = client.get_rescore(rescore["runId"], rescore["id"])
