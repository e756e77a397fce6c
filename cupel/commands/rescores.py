"""`cupel rescore`, `scorings` and `scores`: judge a run's transcripts anew, and what any scoring comes to."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cupel import render, render_scores
from cupel.commands.options import AsJson, Limit, Model, RunId, own_name
from cupel.errors import CupelError
from cupel.files import read_body
from cupel.json_types import Json
from cupel.session import Session
from cupel.watch import FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS, WAIT_GROWTH

if TYPE_CHECKING:
    from cupel.client import Client

Scoring = Annotated[str | None, typer.Option(help="Another scoring than the run's own, such as scr_01jd3v….")]
Trials = Annotated[
    int | None, typer.Option("-k", min=1, max=100, help="Of pass@k and pass^k; the run's repeats when not given.")
]


def rescore(
    ctx: typer.Context,
    run_id: RunId,
    file: Annotated[
        Path | None, typer.Option(help="YAML or JSON with `assertions`, and whatever else the options below say.")
    ] = None,
    judge_model: Annotated[str | None, typer.Option(help="Another judge.")] = None,
    embedding_model: Annotated[str | None, typer.Option(help="Another model that embeds.")] = None,
    evaluator_url: Annotated[str | None, typer.Option(help="Another evaluator.")] = None,
    success: Annotated[str | None, typer.Option(help="Success criteria, instead of each scenario's.")] = None,
    failure: Annotated[str | None, typer.Option(help="Failure criteria, instead of each scenario's.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Wait until it is over, and show what it comes to.")] = False,
    as_json: AsJson = False,
) -> None:
    """Judge what was said in a run anew, without calling its models. Earlier scorings stay."""
    session = ctx.ensure_object(Session)
    options = {"judgeModel": judge_model, "embeddingModel": embedding_model, "evaluatorUrl": evaluator_url}
    criteria = _given({"success": success, "failure": failure})
    body = (read_body(file) if file else {}) | _given(options) | ({"criteria": criteria} if criteria else {})
    with session.connect() as client:
        scoring = client.rescore(run_id, body)
        if watch:
            scoring = _followed(session, client, scoring)
        _tell(session, client, scoring, as_json=as_json)
    if scoring["status"] == "FAILED":
        raise CupelError(f"the scoring failed in {scoring['failure']['where']}: {scoring['failure']['why']}")


def scorings(ctx: typer.Context, run_id: RunId, limit: Limit = 20, as_json: AsJson = False) -> None:
    """List the scorings of a run beside its own, newest first."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        found = list(islice(client.scorings(run_id), limit))
    if as_json:
        session.print_json(found)
    else:
        session.out.print(render_scores.scorings_table(found))


def scores(
    ctx: typer.Context,
    run_id: RunId,
    scoring: Scoring = None,
    model: Model = None,
    k: Trials = None,
    scenarios: Annotated[bool, typer.Option("--scenarios", help="Also a row for each scenario and model.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show pass rates with their standard errors, pass@k and pass^k."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        found = client.scores(run_id, scoring_id=scoring, model=model, k=k)
        rows = list(client.scenario_scores(run_id, scoring_id=scoring, model=model, k=k)) if scenarios else []
    if as_json:
        session.print_json(found | ({"scenarios": rows} if scenarios else {}))
        return
    _print_scores(session, found)
    if scenarios:
        session.out.print()
        session.out.print(render_scores.scenarios_table(rows, found["k"]))


def _tell(session: Session, client: "Client", scoring: Json, *, as_json: bool) -> None:
    if as_json:
        session.print_json(scoring)
        return
    session.out.print(render_scores.scoring_line(scoring), soft_wrap=True)
    if scoring["status"] == "COMPLETED":
        _print_scores(session, client.scores(scoring["runId"], scoring_id=scoring["id"]))
    else:
        session.remark(f"{own_name()} scores {scoring['runId']} --scoring {scoring['id']}")


def _print_scores(session: Session, found: Json) -> None:
    session.out.print(render_scores.models_table(found["models"], found["k"]))
    for line in render_scores.legend(found):
        session.out.print(render.plain(line), markup=False, style="dim", soft_wrap=True)


def _followed(session: Session, client: "Client", scoring: Json) -> Json:
    """As it is once it is over."""
    with session.err.status("scoring") as shown:
        for scoring in _until_over(session, client, scoring):  # noqa: B020 - each is the same scoring, later
            progress = scoring["progress"]
            shown.update(f"scoring ({progress['scored'] + progress['errors']:,} of {progress['total']:,})")
    return scoring


def _until_over(session: Session, client: "Client", scoring: Json) -> Iterator[Json]:
    wait = FIRST_WAIT_SECONDS
    while True:
        yield scoring
        if scoring["status"] in ("COMPLETED", "FAILED"):
            return
        session.sleep(wait)
        wait = min(LONGEST_WAIT_SECONDS, wait * WAIT_GROWTH)
        scoring = client.scoring(scoring["runId"], scoring["id"])


def _given(fields: Json) -> Json:
    return {name: value for name, value in fields.items() if value is not None}
