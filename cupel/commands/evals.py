from typing import Annotated

import typer

from cupel.commands.confirmation import start_confirmed
from cupel.commands.estimate import print_estimate
from cupel.commands.gate_options import GateOptions, with_gates
from cupel.commands.options import AsJson, StartAnyway, Watch
from cupel.commands.request_options import with_settings
from cupel.commands.resources import evals
from cupel.commands.run import watch_or_print
from cupel.commands.show import print_messages, print_result
from cupel.commands.targets import warn_about_models, warn_about_unlisted_models, with_profile_id
from cupel.errors import UsageError
from cupel.json_types import Json, without_none
from cupel.session import Session
from cupel.watch import follow
from cupel_core.domain.text.figures import format_usd

EvalId = Annotated[str, typer.Argument(metavar="EVAL", help="The id of an eval.")]
_DEFAULT_MODELS = ("judgeModel", "personaModel", "embeddingModel", "analysisModel", "summarizerModel")


@evals.command("run", help="Start a run of an eval: each of its scenarios with each of its personas.")
@with_settings("CreateEvalRun")
@with_gates
def run_eval(
    ctx: typer.Context,
    eval_id: EvalId,
    yes: StartAnyway = False,
    watch: Watch = False,
    as_json: AsJson = False,
    *,
    settings: Json,
    gates: GateOptions,
) -> None:
    session = ctx.ensure_object(Session)
    gates.check_waits_for_end(is_waiting=watch)
    with session.connect() as client:
        body = with_profile_id(client, settings)
        started = start_confirmed(session, lambda agreed: client.create_eval_run(eval_id, body | agreed), yes=yes)
        # The response also names the models of the eval and the workspace.
        config = started["run"]["config"]
        graders = (config.get(name) for name in ("judgeModel", "personaModel", "embeddingModel", "summarizerModel"))
        warn_about_unlisted_models(session, (*config["models"], *graders))
        watch_or_print(session, client, started, gates if watch else None, as_json=as_json)


@evals.command("estimate", help="Estimate what a run of an eval would cost; nothing is started.")
@with_settings("CreateEvalRun", without=("name", "tags", "metadata", "experimentId", "priority"))
def estimate_eval(ctx: typer.Context, eval_id: EvalId, as_json: AsJson = False, *, settings: Json) -> None:
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        estimated = client.estimate_eval_run(eval_id, with_profile_id(client, settings))
    print_estimate(session, estimated, as_json=as_json)


@with_settings("CreateEvalRun", only=("config.judgeModel", "config.personaModel"))
def try_scenario(
    ctx: typer.Context,
    scenario_id: Annotated[str, typer.Argument(metavar="SCENARIO", help="The id of a scenario.")],
    target: Annotated[str, typer.Option(help="A model as provider/name, or connector/<id>.")],
    persona: Annotated[str | None, typer.Option(help="The id of a persona; default: a generic user.")] = None,
    as_json: AsJson = False,
    *,
    settings: Json,
) -> None:
    """Run one scenario against one target, and show the conversation."""
    session = ctx.ensure_object(Session)
    provider, slash, name = target.partition("/")
    if not slash or not name:
        raise UsageError("--target: expected a model such as openai/gpt-6.1-terra, or connector/<id>")
    target_field = {"connectorId": name} if provider == "connector" else {"model": target}
    warn_about_models(session, {"models": [target], **settings})
    playground_run = {"scenarioId": scenario_id, **target_field, **without_none(personaId=persona), **settings}
    with session.connect() as client:
        *_, run = follow(client, client.create_playground_run(playground_run)["run"], session.sleep)
        probe = client.get_probe(f"{run['id']}-0")
    if as_json:
        session.print_json(probe)
    else:
        _print_probe(session, probe)
    if probe["error"]:
        raise typer.Exit(1)


@with_settings("UpdateSettings", only=_DEFAULT_MODELS)
def settings(ctx: typer.Context, as_json: AsJson = False, *, settings: Json) -> None:
    """Show or set the default models: to judge, play users, embed, analyze, summarize. An empty name removes one."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        changes = {name: value or None for name, value in settings.items()}
        current = client.update_settings(changes) if changes else client.get_settings()
    if as_json:
        session.print_json(current)
        return
    for name, value in current.items():
        shown = value.get("url") or _limits(value) if isinstance(value, dict) else value
        session.out.print(f"{name}: {shown or '-'}", markup=False, soft_wrap=True)


def _limits(budgets: Json) -> str:
    fields = (("day", "dayUsd"), ("month", "monthUsd"))
    return ", ".join(f"{name} {format_usd(budgets[field])}" for name, field in fields if budgets.get(field))


def _print_probe(session: Session, probe: Json) -> None:
    print_messages(session, probe["messages"])
    print_result(session, probe["result"])
    if probe["error"]:
        session.remark(f"error: {probe['error']['code']}: {probe['error']['message']}")
