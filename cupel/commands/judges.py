"""`cupel judges`: how far judges agree with the labels of people, and whether they have changed."""

from typing import TYPE_CHECKING, Annotated

import typer

from cupel.commands.labels import Criterion
from cupel.commands.options import AsJson, CallUnpriced, RunId, parse_usd
from cupel.commands.rescores import check_has_not_failed, watch_rescore
from cupel.errors import UsageError
from cupel.json_types import Json, without_none
from cupel.render_calibration import calibration_lines, plan_lines
from cupel.render_judges import choice_lines, comparison_table, drift_lines
from cupel.session import Session
from cupel_core.domain.calibration.drift import CANARIES
from cupel_core.domain.calibration.judge_choice import MAX_JUDGES
from cupel_core.domain.labelling.labels import RESULT

if TYPE_CHECKING:
    from cupel.client import Client

app = typer.Typer(help="Measure judges on the labels of people.")

CheckCriterion = Annotated[str, typer.Option(help="The name of a check, or `result` for the whole result.")]
Budget = Annotated[
    float | None,
    typer.Option(
        parser=parse_usd,
        metavar="USD",
        help="What each judge may spend; otherwise the budget of the run pays, if there is one.",
    ),
]


@app.command("show")
def show_judge(
    ctx: typer.Context,
    run_id: RunId,
    criterion: Criterion = RESULT,
    rescore: Annotated[str | None, typer.Option(help="Measure the judge of this rescore.")] = None,
    half_width: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Plan labels for corrected pass rates of ± this, such as 0.05."),
    ] = None,
    calibration_run: Annotated[
        str | None,
        typer.Option("--from", metavar="OTHER", help="Use the errors that the labels of this other run show."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show how far a run's judge agrees with the labels, and the pass rates corrected for its errors."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        found = client.get_calibration(
            run_id,
            criterion=criterion,
            rescore_id=rescore,
            calibration_run=calibration_run,
        )
        plan = None
        if half_width is not None:
            plan = client.get_label_plan(run_id, half_width, criterion=criterion, rescore_id=rescore)
    if as_json:
        session.print_json(found if plan is None else found | {"labelPlan": plan["columns"]})
        return
    for line in calibration_lines(found):
        session.out.print(line, markup=False, soft_wrap=True)
    for line in plan_lines(plan, half_width) if plan and half_width else ():
        session.out.print(line, markup=False, soft_wrap=True)


@app.command("compare")
def compare(
    ctx: typer.Context,
    run_id: RunId,
    judges: Annotated[str, typer.Option(metavar="MODELS", help="Judge models, separated by commas.")],
    criterion: CheckCriterion = RESULT,
    budget: Budget = None,
    allow_unpriced: CallUnpriced = False,
    as_json: AsJson = False,
) -> None:
    """Let judges grade the labelled transcripts of a run, and compare them with people. Nothing else is graded."""
    session = ctx.ensure_object(Session)
    models = list(dict.fromkeys(filter(None, map(str.strip, judges.split(",")))))
    if not 0 < len(models) <= MAX_JUDGES:
        raise UsageError(f"--judges: must name 1 to {MAX_JUDGES} models: found {len(models)}")
    limits = without_none(maxBudgetUsd=budget, allowUnpriced=allow_unpriced or None)
    asked = {"judgeAgain": True, "labelled": {"criterion": criterion}} | limits
    with session.connect() as client:
        started = [client.create_rescore(run_id, asked | {"judgeModel": model}) for model in models]
        ids = [_wait(session, client, each)["id"] for each in started]
        found = client.compare_judges(run_id, ids, criterion=criterion)
    if as_json:
        session.print_json(found)
        return
    session.out.print(comparison_table(found))
    for line in choice_lines(found):
        session.out.print(line, markup=False, soft_wrap=True)


@app.command("drift")
def find_drift(
    ctx: typer.Context,
    run_id: RunId,
    criterion: CheckCriterion = RESULT,
    count: Annotated[
        int, typer.Option(min=1, max=2_000, help="Labelled transcripts that are judged again.")
    ] = CANARIES,
    seed: Annotated[int, typer.Option(min=0, help="The same seed draws the same transcripts.")] = 0,
    budget: Budget = None,
    allow_unpriced: CallUnpriced = False,
    as_json: AsJson = False,
) -> None:
    """Let a run's own judge grade some labelled transcripts again, to find out whether it has changed."""
    session = ctx.ensure_object(Session)
    limits = without_none(maxBudgetUsd=budget, allowUnpriced=allow_unpriced or None)
    asked = {"judgeAgain": True, "labelled": {"criterion": criterion, "count": count, "seed": seed}} | limits
    with session.connect() as client:
        rescore = _wait(session, client, client.create_rescore(run_id, asked))
        found = client.get_judge_drift(run_id, rescore["id"], criterion=criterion)
    if as_json:
        session.print_json(found)
        return
    for line in drift_lines(found):
        session.out.print(line, markup=False, soft_wrap=True)


def _wait(session: Session, client: "Client", rescore: Json) -> Json:
    ended = watch_rescore(session, client, rescore)
    check_has_not_failed(ended)
    return ended
