"""`cupel evals run`, `cupel try` and `cupel settings`: runs of what is kept, one scenario tried out, and who judges."""

from typing import Annotated

import typer

from cupel.commands.gate_options import AllowErrors, Ending, FailUnder, JunitFile
from cupel.commands.options import AsJson, EmbeddingModel, JudgeModel, PersonaModel, Repeats, Watch, given
from cupel.commands.resources import evals
from cupel.commands.run import go_on
from cupel.commands.show import print_messages, print_result
from cupel.errors import WrongUse
from cupel.json_types import Json
from cupel.session import Session
from cupel.watch import follow


@evals.command("run", help="Start a run of an eval: its scenarios, each with its personas.")
def run_eval(
    ctx: typer.Context,
    eval_id: Annotated[str, typer.Argument(help="The id of an eval.")],
    repeats: Repeats = 1,
    judge_model: JudgeModel = None,
    persona_model: PersonaModel = None,
    watch: Watch = False,
    fail_under: FailUnder = None,
    allow_errors: AllowErrors = None,
    junit: JunitFile = None,
    as_json: AsJson = False,
) -> None:
    session = ctx.ensure_object(Session)
    ending = Ending.of(fail_under, allow_errors, junit, ends=watch)
    options = {"repeats": repeats, "config": given(judgeModel=judge_model, personaModel=persona_model)}
    with session.connect() as client:
        go_on(session, client, client.run_eval(eval_id, options), ending if watch else None, as_json=as_json)


def try_out(
    ctx: typer.Context,
    scenario_id: Annotated[str, typer.Argument(help="The id of a scenario.")],
    target: Annotated[str, typer.Option(help="A model as provider/name, or connector/<id>.")],
    persona: Annotated[str | None, typer.Option(help="Its id; nobody in particular when not given.")] = None,
    judge_model: JudgeModel = None,
    persona_model: PersonaModel = None,
    as_json: AsJson = False,
) -> None:
    """Try one scenario with one target, and show what was said."""
    session = ctx.ensure_object(Session)
    provider, slash, name = target.partition("/")
    if not slash or not name:
        raise WrongUse("--target: expected a model such as openai/gpt-5-mini, or connector/<id>")
    whom = {"connectorId": name} if provider == "connector" else {"model": target}
    config = given(judgeModel=judge_model, personaModel=persona_model)
    trial = {"scenarioId": scenario_id, **whom, **given(personaId=persona), "config": config}
    with session.connect() as client:
        *_, run = follow(client, client.try_out(trial)["run"], session.sleep)
        probe = client.probe(f"{run['id']}-0")
    if as_json:
        session.print_json(probe)
    else:
        _show(session, probe)
    if probe["error"]:
        raise typer.Exit(1)


def settings(
    ctx: typer.Context,
    judge_model: JudgeModel = None,
    persona_model: PersonaModel = None,
    embedding_model: EmbeddingModel = None,
    as_json: AsJson = False,
) -> None:
    """Show who judges unless a run or an eval says otherwise, or set it; an empty name unsets."""
    session = ctx.ensure_object(Session)
    wanted = given(judgeModel=judge_model, personaModel=persona_model, embeddingModel=embedding_model)
    with session.connect() as client:
        changes = {name: value or None for name, value in wanted.items()}
        told = client.configure(changes) if changes else client.settings()
    if as_json:
        session.print_json(told)
        return
    for name, value in told.items():
        shown = value.get("url") if isinstance(value, dict) else value
        session.out.print(f"{name}: {shown or '-'}", markup=False, soft_wrap=True)


def _show(session: Session, probe: Json) -> None:
    print_messages(session, probe["messages"])
    print_result(session, probe["result"])
    if probe["error"]:
        session.remark(f"error: {probe['error']['code']}: {probe['error']['message']}")
