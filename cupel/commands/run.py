"""`cupel run` and `cupel watch`: start a run and follow it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cupel.commands.options import AsJson, RunId, own_name
from cupel.commands.show import report
from cupel.documents import Json
from cupel.errors import WrongUse
from cupel.session import Session
from cupel.watching import watch as follow_to_the_end
from shared.domain.runs import Priority, RunStatus

if TYPE_CHECKING:
    from cupel.client import Client

INTERRUPTED = 130
"""What shells answer for a command ended by Ctrl-C."""


def run(
    ctx: typer.Context,
    definition: Annotated[str, typer.Argument(help="A definition file (YAML), or the id of a definition.")],
    models: Annotated[list[str], typer.Option(help="Models as provider/name; comma-separated, or several times.")],
    sample: Annotated[int, typer.Option(min=1, max=100, help="Percentage of the scenarios.")] = 100,
    seed: Annotated[int | None, typer.Option(help="Seed of the sample; drawn when not given.")] = None,
    repeats: Annotated[int, typer.Option(min=1, max=100, help="Conversations per model and scenario.")] = 1,
    priority: Annotated[Priority | None, typer.Option(help="Before, among or after other runs.")] = None,
    temperature: Annotated[float | None, typer.Option(min=0, max=2, help="The models' default when not given.")] = None,
    max_turns: Annotated[int | None, typer.Option(min=1, help="Turns of a conversation at most.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show progress, wait for the end and show results.")] = False,
    as_json: AsJson = False,
) -> None:
    """Start a run of a definition."""
    session = ctx.ensure_object(Session)
    config = {"temperature": temperature, "maxTurns": max_turns}
    specification = {
        "models": split(models),
        "samplePercentage": sample,
        "repeats": repeats,
        **({"sampleSeed": seed} if seed is not None else {}),
        **({"priority": priority} if priority else {}),
        "config": {name: value for name, value in config.items() if value is not None},
    }
    with session.connect() as client:
        definition_id = definition_id_of(session, client, definition)
        started = client.start_run({"definitionId": definition_id, **specification})
        session.remark(f"run {started['run']['id']}: {started['jobCount']:,} probes")
        if watch:
            _watch(session, client, started["run"], as_json=as_json, more={"jobCount": started["jobCount"]})
        elif as_json:
            session.print_json(started)
        else:
            session.out.print(f"{own_name()} watch {started['run']['id']}", markup=False, soft_wrap=True)


def watch(ctx: typer.Context, run_id: RunId, as_json: AsJson = False) -> None:
    """Follow a run to its end and show its results."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        _watch(session, client, client.run(run_id), as_json=as_json, more={})


def split(models: list[str]) -> list[str]:
    names = [name.strip() for option in models for name in option.split(",")]
    if not all(names):
        raise WrongUse("--models: expected names such as openai/gpt-5-mini, separated by commas")
    return names


def definition_id_of(session: Session, client: "Client", definition: str) -> str:
    """Files win over ids, so that a file may have any name."""
    if definition.startswith("def_") and not Path(definition).exists():
        return definition
    from cupel.files import read_definition
    from cupel.publication import publish

    published = publish(client, read_definition(Path(definition)), session.sleep)
    for warning in published.get("warnings") or ():
        session.remark(f"{definition}: warning: {_text(warning)}")
    session.remark(f"definition {published['id']} ({published['name']})")
    return str(published["id"])


def _text(warning: str | Json) -> str:
    return warning if isinstance(warning, str) else f"{warning['field']}: {warning['message']}"


def _watch(session: Session, client: "Client", run: Json, *, as_json: bool, more: Json) -> None:
    try:
        run = follow_to_the_end(session, client, run)
    except KeyboardInterrupt:
        session.remark(f"the run goes on; come back with: {own_name()} watch {run['id']}")
        raise typer.Exit(INTERRUPTED) from None
    report(session, client, run, as_json=as_json, more=more)
    if not as_json:
        _print_next(session, client, run)
    if run["status"] != RunStatus.COMPLETED:
        raise typer.Exit(1)


def _print_next(session: Session, client: "Client", run: Json) -> None:
    name, run_id = own_name(), run["id"]
    lines = [
        "",
        f"API    {client.api_url}/v1",
        f"token  {client.source}",
        f"next   {name} show {run_id}",
        f"       {name} transcripts {run_id} --model {run['config']['models'][0]}",
        f"       {name} export {run_id} --format csv --output {run_id}.csv",
    ]
    for line in lines:
        session.out.print(line, markup=False, soft_wrap=True)
