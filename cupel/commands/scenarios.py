from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from cupel.commands.definitions import (
    DefinitionId,
    FromVersion,
    ToVersion,
    Version,
    compare,
    find_definition_id,
    print_diff,
)
from cupel.commands.lists import DEFAULT_LIMIT, Limit, print_list
from cupel.commands.options import AsJson, CallUnpriced, Yes, confirm, model_option, parse_usd
from cupel.counts import count_of
from cupel.errors import UsageError
from cupel.json_types import Json, without_none
from cupel.markup import escape
from cupel.message_texts import content_text
from cupel.session import Session
from cupel.source_files import SourceFile, renamed_fields
from cupel.tables import table
from cupel.terminal import NO_VALUE, shorten
from cupel_core.domain.definitions.generations import GenerationMode
from cupel_core.domain.definitions.matrix import LevelOptionChoice

app = typer.Typer(
    help="List, show, create, generate, update, delete and compare the scenarios of a definition.", no_args_is_help=True
)

ScenarioId = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="The id of a scenario, such as scn_365325gk_000001.")
]
_IMPORTED = {".csv": "csv", ".jsonl": "jsonl"}


@app.command("list")
def list_scenarios(
    ctx: typer.Context,
    definition: DefinitionId,
    version: Version = None,
    name: Annotated[str | None, typer.Option(help="Only names that contain this text.")] = None,
    limit: Limit = DEFAULT_LIMIT,
    as_json: AsJson = False,
) -> None:
    """List the scenarios of a definition, in order."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        definition_id = find_definition_id(client, definition)
        listed = client.list_scenarios(definition_id, version=version)
        where = None if name is None else lambda each: name.casefold() in each["name"].casefold()

        def count_all() -> int:
            return int(client.get_definition(definition_id, version=version)["scenarioCount"])

        total = count_all if name is None else None
        print_list(session, listed, limit, _table, as_json=as_json, where=where, total=total)


@app.command()
def show(
    ctx: typer.Context,
    definition: DefinitionId,
    scenario_id: ScenarioId,
    version: Version = None,
    as_json: AsJson = False,
) -> None:
    """Show a scenario, in the format of a definition file."""
    from cupel.definition_texts import scenario_text

    session = ctx.ensure_object(Session)
    with session.connect() as client:
        scenario = client.get_scenario(find_definition_id(client, definition), scenario_id, version=version)
    if as_json:
        session.print_json(scenario)
    else:
        session.out.print(scenario_text(scenario), markup=False, soft_wrap=True, end="")


@app.command()
def create(
    ctx: typer.Context,
    definition: DefinitionId,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="One scenario or a list of them, in YAML, JSON, JSON Lines or CSV.")
    ],
    as_json: AsJson = False,
) -> None:
    """Add scenarios from a file; makes the next version of the definition."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        definition_id = find_definition_id(client, definition)
        if (suffix := file.suffix.lower()) in _IMPORTED:
            body = {"format": _IMPORTED[suffix], "content": _read_text(file)}
            created = client.import_scenarios(definition_id, body)
        else:
            source = SourceFile.read(file)
            items, place = _items(source)
            with source.explaining(), renamed_fields(lambda field: place(field.removeprefix("items."))):
                created = client.create_scenarios(definition_id, items)
    if as_json:
        session.print_json(created)
        return
    for scenario_id in created["ids"]:
        session.out.print(scenario_id, markup=False)
    scenarios = count_of(created["total"], "scenario")
    session.remark(f"version {created['definitionVersion']} of {definition_id} has {scenarios}")


@app.command()
def generate(
    ctx: typer.Context,
    definition: DefinitionId,
    mode: Annotated[
        GenerationMode, typer.Option(help="matrix: from the template; llm: a model writes each prompt.")
    ] = GenerationMode.MATRIX,
    options: Annotated[
        LevelOptionChoice, typer.Option(help="Which of a level's phrases the text has.")
    ] = LevelOptionChoice.FIRST,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of random phrases; default: random.")] = None,
    model: Annotated[str | None, model_option("--model", help_text="The model that writes, for --mode llm.")] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace all scenarios instead of adding to them.")
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            parser=parse_usd,
            metavar="USD",
            help="What the model may cost; beyond that, it fails.",
        ),
    ] = None,
    allow_unpriced: CallUnpriced = False,
    as_json: AsJson = False,
) -> None:
    """Generate a scenario for each combination of dimension levels, and wait for them."""
    from cupel.upload import generate_and_wait

    session = ctx.ensure_object(Session)
    allowed = allow_unpriced or None
    request = without_none(
        mode=mode, options=options, seed=seed, model=model, replace=replace, allowUnpriced=allowed, maxBudgetUsd=budget
    )
    with session.connect() as client:
        definition_id = find_definition_id(client, definition)
        with session.err.status("generating"):
            generation = generate_and_wait(client, definition_id, request, session.sleep)
    if as_json:
        session.print_json(generation)
        return
    count = count_of(generation["progress"]["completed"], "scenario")
    session.out.print(f"generated {count} for {definition_id}, seed {generation['seed']}", markup=False)


@app.command()
def update(
    ctx: typer.Context,
    definition: DefinitionId,
    scenario_id: ScenarioId,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="YAML or JSON with the fields to change; null removes one.")
    ],
    as_json: AsJson = False,
) -> None:
    """Update a scenario from a file; makes the next version of the definition."""
    session = ctx.ensure_object(Session)
    source = SourceFile.read(file)
    with session.connect() as client:
        definition_id = find_definition_id(client, definition)
        with source.explaining():
            scenario = client.update_scenario(definition_id, scenario_id, source.mapping())
    if as_json:
        session.print_json(scenario)
    else:
        version = f"{definition_id} version {scenario['definitionVersion']}"
        session.out.print(f"{scenario['id']} {scenario['name']} in {version}", markup=False, soft_wrap=True)


@app.command()
def delete(
    ctx: typer.Context, definition: DefinitionId, scenario_id: ScenarioId, yes: Yes = False, as_json: AsJson = False
) -> None:
    """Delete a scenario in the next version of the definition; earlier versions keep it."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        definition_id = find_definition_id(client, definition)
        confirm(f"Delete {scenario_id}?", yes=yes)
        client.delete_scenario(definition_id, scenario_id)
    session.print_deleted(scenario_id, as_json=as_json)


@app.command()
def diff(
    ctx: typer.Context,
    definition: DefinitionId,
    from_version: FromVersion = None,
    to_version: ToVersion = None,
    as_json: AsJson = False,
) -> None:
    """Compare the scenarios of two versions of a definition."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        compared = compare(client, definition, from_version, to_version)
    print_diff(session, compared, as_json=as_json, scenarios_only=True)


def _table(scenarios: Iterable[Json]) -> Table:
    columns = table("scenario", "name", "first message", texts=["name", "first message"])
    for each in scenarios:
        first = content_text(each["messages"][0]) if each["messages"] else each.get("instructions") or NO_VALUE
        columns.add_row(*map(escape, (each["id"], shorten(each["name"], 40), shorten(first, 60))))
    return columns


def _items(source: SourceFile) -> tuple[list[Any], Callable[[str], str]]:
    """Return the scenarios of a file (one, a list, or the list `scenarios`), and a function for its names of fields.

    The function maps `2.prompt` of the list to the file's own name.
    """
    document = source.document
    if isinstance(document, list):
        return document, lambda field: field
    if isinstance(document, dict) and isinstance(document.get("scenarios"), list):
        return document["scenarios"], lambda field: f"scenarios.{field}"
    return [source.mapping()], lambda field: field.removeprefix("0").removeprefix(".")


def _read_text(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: {error}") from error
