"""`cupel run` and `cupel watch`: start a run and follow it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cupel.commands.gate_options import AllowErrors, Ending, FailUnder, JunitFile
from cupel.commands.options import (
    AsJson,
    EmbeddingModel,
    JudgeModel,
    PersonaModel,
    Repeats,
    RunId,
    Watch,
    given,
    own_name,
)
from cupel.commands.show import report
from cupel.errors import WrongUse
from cupel.json_types import Json
from cupel.junit_report import junit_of
from cupel.session import Session
from cupel.watch import watch as follow_to_the_end
from cupel_core.domain.runs.run import Priority, RunStatus

if TYPE_CHECKING:
    from cupel.client import Client

DEFAULT_CONCURRENCY = 10
INTERRUPTED = 130
"""What shells answer for a command ended by Ctrl-C."""

InProcess = Annotated[
    bool, typer.Option("--in-process", help="Here, without a stack, with keys of OPENAI_API_KEY and the like.")
]
Concurrency = Annotated[int, typer.Option(min=1, max=1_000, help="Conversations at a time, with --in-process.")]


def run(
    ctx: typer.Context,
    definition: Annotated[str, typer.Argument(help="A definition file (YAML), or the id of a definition.")],
    models: Annotated[
        list[str], typer.Option(help="Models as provider/name, or connector/…; comma-separated, or several times.")
    ],
    sample: Annotated[int, typer.Option(min=1, max=100, help="Percentage of the scenarios.")] = 100,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the sample; drawn when not given.")] = None,
    repeats: Repeats = 1,
    priority: Annotated[Priority | None, typer.Option(help="Before, among or after other runs.")] = None,
    temperature: Annotated[float | None, typer.Option(min=0, max=2, help="The models' default when not given.")] = None,
    max_turns: Annotated[int | None, typer.Option(min=1, help="Turns of a conversation at most.")] = None,
    judge_model: JudgeModel = None,
    persona_model: PersonaModel = None,
    embedding_model: EmbeddingModel = None,
    evaluator_url: Annotated[str | None, typer.Option(help="An evaluator that is asked for results too.")] = None,
    watch: Watch = False,
    in_process: InProcess = False,
    concurrency: Concurrency = DEFAULT_CONCURRENCY,
    fail_under: FailUnder = None,
    allow_errors: AllowErrors = None,
    junit: JunitFile = None,
    as_json: AsJson = False,
) -> None:
    """Start a run of a definition."""
    session = ctx.ensure_object(Session)
    ending = Ending.of(fail_under, allow_errors, junit, ends=watch or in_process)
    config = given(
        temperature=temperature,
        maxTurns=max_turns,
        judgeModel=judge_model,
        personaModel=persona_model,
        embeddingModel=embedding_model,
        evaluatorUrl=evaluator_url,
    )
    specification = {
        "models": split(models),
        "samplePercentage": sample,
        "repeats": repeats,
        **given(sampleSeed=seed, priority=priority),
        "config": config,
    }
    if in_process:
        _run_here(session, definition, specification, concurrency, ending, as_json=as_json)
    else:
        _start(session, definition, specification, ending if watch else None, as_json=as_json)


def watch(
    ctx: typer.Context,
    run_id: RunId,
    fail_under: FailUnder = None,
    allow_errors: AllowErrors = None,
    junit: JunitFile = None,
    as_json: AsJson = False,
) -> None:
    """Follow a run to its end and show its results."""
    session = ctx.ensure_object(Session)
    ending = Ending.of(fail_under, allow_errors, junit, ends=True)
    with session.connect() as client:
        _watch(session, client, client.run(run_id), ending, as_json=as_json, more={})


def _run_here(
    session: Session, definition: str, specification: Json, concurrency: int, ending: Ending, *, as_json: bool
) -> None:
    # What asks models takes longer to load than the whole of the command otherwise.
    from cupel.commands.in_process import run_here

    try:
        run_here(session, definition, specification, concurrency, ending, as_json=as_json)
    except KeyboardInterrupt:
        session.remark("given up: nothing of it is kept")
        raise typer.Exit(INTERRUPTED) from None


def _start(session: Session, definition: str, specification: Json, ending: Ending | None, *, as_json: bool) -> None:
    with session.connect() as client:
        definition_id, targets = _published(session, client, definition, specification["models"])
        started = client.start_run({"definitionId": definition_id, **specification, "models": targets})
        go_on(session, client, started, ending, as_json=as_json)


def go_on(session: Session, client: "Client", started: Json, ending: Ending | None, *, as_json: bool) -> None:
    """Waits for the end of a run that was started, or without an ending says how to."""
    session.remark(f"run {started['run']['id']}: {started['jobCount']:,} probes")
    if ending is not None:
        more = {"jobCount": started["jobCount"]}
        _watch(session, client, started["run"], ending, as_json=as_json, more=more)
    elif as_json:
        session.print_json(started)
    else:
        session.out.print(f"{own_name()} watch {started['run']['id']}", markup=False, soft_wrap=True)


def split(models: list[str]) -> list[str]:
    names = [name.strip() for option in models for name in option.split(",")]
    if not all(names):
        raise WrongUse("--models: expected names such as openai/gpt-5-mini, separated by commas")
    return names


def definition_id_of(session: Session, client: "Client", definition: str) -> str:
    return _published(session, client, definition, [])[0]


def _published(session: Session, client: "Client", definition: str, targets: list[str]) -> tuple[str, list[str]]:
    """The definition's id, and the targets with ids for the names of the file's connectors.

    Files win over ids, so that a file may have any name.
    """
    if definition.startswith("def_") and not Path(definition).exists():
        return definition, targets
    from cupel.file_resources import targets_of
    from cupel.files import read_definition
    from cupel.upload import publish

    file = read_definition(Path(definition))
    targets = targets_of(client, file, targets)
    published = publish(client, file, session.sleep)
    for warning in published.get("warnings") or ():
        session.remark(f"{definition}: warning: {_text(warning)}")
    session.remark(f"definition {published['id']} ({published['name']})")
    return str(published["id"]), targets


def _text(warning: str | Json) -> str:
    return warning if isinstance(warning, str) else f"{warning['field']}: {warning['message']}"


def _watch(session: Session, client: "Client", run: Json, ending: Ending, *, as_json: bool, more: Json) -> None:
    try:
        run = follow_to_the_end(session, client, run)
    except KeyboardInterrupt:
        session.remark(f"the run goes on; come back with: {own_name()} watch {run['id']}")
        raise typer.Exit(INTERRUPTED) from None
    results = report(session, client, run, as_json=as_json, more=more)
    if not as_json:
        _print_next(session, client, run)
    passed = ending.conclude(session, results, lambda: junit_of(client, run))
    if run["status"] != RunStatus.COMPLETED or not passed:
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
