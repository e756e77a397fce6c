"""`cupel evals run`, `cupel try` and `cupel settings`: eval runs, playground runs, and evaluation settings."""

from typing import Annotated

import typer

from cupel.commands.confirmation import start_confirmed
from cupel.commands.estimate import print_estimate
from cupel.commands.gate_options import GateOptions, with_gates
from cupel.commands.options import (
    AllowUnpriced,
    AsJson,
    Budget,
    Concurrency,
    EmbeddingModel,
    JudgeModel,
    MakeReport,
    MaxAttempts,
    Metadata,
    PersonaModel,
    Repeats,
    RetryDelay,
    RunName,
    Stagger,
    StartAnyway,
    SummarizerModel,
    Tags,
    Watch,
    budget_fields,
    label_fields,
)
from cupel.commands.resources import evals
from cupel.commands.run import watch_or_print
from cupel.commands.show import print_messages, print_result
from cupel.commands.targets import run_config, warn_about_unlisted_models
from cupel.errors import UsageError
from cupel.json_types import Json, without_none
from cupel.session import Session
from cupel.watch import follow
from cupel_core.domain.text.figures import format_usd


@evals.command("run", help="Start a run of an eval: each of its scenarios with each of its personas.")
@with_gates
def run_eval(
    ctx: typer.Context,
    eval_id: Annotated[str, typer.Argument(metavar="EVAL", help="The id of an eval.")],
    repeats: Repeats = 1,
    concurrency: Concurrency = None,
    stagger: Stagger = None,
    max_attempts: MaxAttempts = None,
    retry_delay_seconds: RetryDelay = None,
    judge_model: JudgeModel = None,
    persona_model: PersonaModel = None,
    summarizer_model: SummarizerModel = None,
    report: MakeReport = False,
    budget: Budget = None,
    allow_unpriced: AllowUnpriced = False,
    yes: StartAnyway = False,
    name: RunName = None,
    tag: Tags = None,
    metadata: Metadata = None,
    watch: Watch = False,
    as_json: AsJson = False,
    *,
    gates: GateOptions,
) -> None:
    session = ctx.ensure_object(Session)
    gates.check_waits_for_end(is_waiting=watch)
    config = without_none(
        maxConcurrency=concurrency,
        staggerMs=stagger,
        maxAttempts=max_attempts,
        retryDelaySeconds=retry_delay_seconds,
        judgeModel=judge_model,
        personaModel=persona_model,
        summarizerModel=summarizer_model,
    )
    limits = budget_fields(budget, allow_unpriced=allow_unpriced)
    own = without_none(report=report or None)
    options = {"repeats": repeats, "config": config, **limits, **label_fields(name, tag, metadata), **own}
    with session.connect() as client:
        started = start_confirmed(session, lambda agreed: client.create_eval_run(eval_id, options | agreed), yes=yes)
        # Afterwards, because the response names the models of the eval and the workspace too.
        config = started["run"]["config"]
        graders = (config.get(name) for name in ("judgeModel", "personaModel", "embeddingModel", "summarizerModel"))
        warn_about_unlisted_models(session, (*config["models"], *graders))
        watch_or_print(session, client, started, gates if watch else None, as_json=as_json)


@evals.command("estimate", help="Estimate what a run of an eval would cost; nothing is started.")
def estimate_eval(
    ctx: typer.Context,
    eval_id: Annotated[str, typer.Argument(metavar="EVAL", help="The id of an eval.")],
    repeats: Repeats = 1,
    judge_model: JudgeModel = None,
    persona_model: PersonaModel = None,
    summarizer_model: SummarizerModel = None,
    report: MakeReport = False,
    as_json: AsJson = False,
) -> None:
    session = ctx.ensure_object(Session)
    config = without_none(judgeModel=judge_model, personaModel=persona_model, summarizerModel=summarizer_model)
    options = {"repeats": repeats, "config": config, **without_none(report=report or None)}
    with session.connect() as client:
        estimated = client.estimate_eval_run(eval_id, options)
    print_estimate(session, estimated, as_json=as_json)


def try_scenario(
    ctx: typer.Context,
    scenario_id: Annotated[str, typer.Argument(metavar="SCENARIO", help="The id of a scenario.")],
    target: Annotated[str, typer.Option(help="A model as provider/name, or connector/<id>.")],
    persona: Annotated[str | None, typer.Option(help="The id of a persona; default: a generic user.")] = None,
    judge_model: JudgeModel = None,
    persona_model: PersonaModel = None,
    as_json: AsJson = False,
) -> None:
    """Run one scenario against one target, and show the conversation."""
    session = ctx.ensure_object(Session)
    provider, slash, name = target.partition("/")
    if not slash or not name:
        raise UsageError("--target: expected a model such as openai/gpt-6.1-terra, or connector/<id>")
    target_field = {"connectorId": name} if provider == "connector" else {"model": target}
    config = run_config(session, [target], judge_model=judge_model, persona_model=persona_model)
    playground_run = {"scenarioId": scenario_id, **target_field, **without_none(personaId=persona), "config": config}
    with session.connect() as client:
        *_, run = follow(client, client.create_playground_run(playground_run)["run"], session.sleep)
        probe = client.get_probe(f"{run['id']}-0")
    if as_json:
        session.print_json(probe)
    else:
        _print_probe(session, probe)
    if probe["error"]:
        raise typer.Exit(1)


def settings(
    ctx: typer.Context,
    judge_model: JudgeModel = None,
    persona_model: PersonaModel = None,
    embedding_model: EmbeddingModel = None,
    analysis_model: Annotated[
        str | None, typer.Option(help="Model that writes the narratives of deep analyses; without one, rules do.")
    ] = None,
    summarizer_model: SummarizerModel = None,
    as_json: AsJson = False,
) -> None:
    """Show or set the default models: to judge, play users, embed, analyze, summarize. An empty name removes one."""
    session = ctx.ensure_object(Session)
    options = without_none(
        judgeModel=judge_model,
        personaModel=persona_model,
        embeddingModel=embedding_model,
        analysisModel=analysis_model,
        summarizerModel=summarizer_model,
    )
    with session.connect() as client:
        changes = {name: value or None for name, value in options.items()}
        current = client.update_settings(changes) if changes else client.get_settings()
    if as_json:
        session.print_json(current)
        return
    for name, value in current.items():
        shown = value.get("url") or _limits(value) if isinstance(value, dict) else value
        session.out.print(f"{name}: {shown or '-'}", markup=False, soft_wrap=True)


def _limits(budgets: Json) -> str:
    """`day $20.00, month $300.00`; empty without a limit."""
    fields = (("day", "dayUsd"), ("month", "monthUsd"))
    return ", ".join(f"{name} {format_usd(budgets[field])}" for name, field in fields if budgets.get(field))


def _print_probe(session: Session, probe: Json) -> None:
    print_messages(session, probe["messages"])
    print_result(session, probe["result"])
    if probe["error"]:
        session.remark(f"error: {probe['error']['code']}: {probe['error']['message']}")
