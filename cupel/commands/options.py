import sys
from collections.abc import Sequence
from math import inf, nan
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from cupel.commands.suggestions import complete_model, parse_time
from cupel.errors import UsageError
from cupel.request_fields import fields_of


def model_option(name: str, *, help_text: str) -> Any:
    return typer.Option(name, autocompletion=complete_model, help=help_text)


RunId = Annotated[str, typer.Argument(metavar="RUN", help="The id of a run, such as run_01jd3v….")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, and nothing else, to standard output.")]
Ids = Annotated[bool, typer.Option("--ids", help="Also show the ids of what is shown by name.")]
After = Annotated[
    str | None,
    typer.Option("--after", parser=parse_time, metavar="TIME", help="Only what was created since this date or time."),
]
Before = Annotated[
    str | None, typer.Option("--before", parser=parse_time, metavar="TIME", help="Only what was created earlier.")
]
OldestFirst = Annotated[bool, typer.Option("--oldest-first", help="Reverse the order.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Model = Annotated[str | None, model_option("--model", help_text="Only this target, by its label or model.")]
RescoreId = Annotated[
    str | None, typer.Option("--rescore", help="A rescore, such as rsc_01jd3v…; default: the run's own scoring.")
]
GroupBy = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="NAME",
        help="Figures by `persona`, by a dimension, or by a field of the scenarios' metadata, such as a column.",
    ),
]
Prompt = Annotated[str | None, typer.Option("--prompt", help="Only this prompt of the definition, by its id.")]
Watch = Annotated[bool, typer.Option("--watch", help="Wait for the run to end, and show its results.")]


def parse_usd(text: str) -> float:
    try:
        usd = float(text)
    except ValueError:
        usd = nan
    least = fields_of("CreateRun")["maxBudgetUsd"].minimum or 0.0
    if not least <= usd < inf:
        raise typer.BadParameter(f'"{text}" is not an amount in US dollars of at least {least:f}')
    return usd


CallUnpriced = Annotated[
    bool, typer.Option("--allow-unpriced", help="Call models whose price is unknown although there is a budget.")
]


StartAnyway = Annotated[bool, typer.Option("--yes", help="Start even if it may exceed --budget.")]


def metadata_of(options: list[str] | None) -> dict[str, str]:
    """Return the values of --metadata. Raises UsageError for one that is not `key=value`."""
    return dict(map(_metadata_entry, options or ()))


def _metadata_entry(option: str) -> tuple[str, str]:
    key, equals, value = option.partition("=")
    if not key or not equals:
        raise UsageError(f"--metadata: {option}: expected KEY=VALUE, such as commit=6f1b2c9")
    return key, value


def creation_filters(after: str | None, before: str | None, *, oldest_first: bool) -> dict[str, str | None]:
    return {"created_after": after, "created_before": before, "sort": "createdAt" if oldest_first else None}


def refuse_group_options(ctx: typer.Context) -> None:
    """Raise UsageError for options before a subcommand, which would have no effect."""
    for parameter in ctx.command.params:
        source, option = ctx.get_parameter_source(parameter.name or ""), parameter.opts[0]
        if source is None or source.name != "COMMANDLINE":
            continue
        raise UsageError(f"{option}: put it after the subcommand: {ctx.info_name} {ctx.invoked_subcommand} {option}")


def confirm(question: str, *, yes: bool) -> None:
    """Ask on standard error unless `yes`; anything but a yes ends the command with 1."""
    if not yes:
        typer.confirm(question, abort=True, err=True)


def command_name() -> str:
    """Return how to call this command from here: `cupel`, or its path if it is installed below the current folder."""
    program = Path(sys.argv[0])
    if program.name == "cupel" and program.resolve().is_relative_to(Path.cwd().resolve()):
        return str(program.resolve().relative_to(Path.cwd().resolve()))
    return "cupel"


class InProcessOptions(NamedTuple):
    resume: str | None = None
    cache: bool = False
    cache_ttl: float | None = None
    allow_code: bool = False
    matrix: bool = False
    deep: bool = False
    analysis_model: str | None = None
    prices: Sequence[str] = ()


Prices = Annotated[
    list[str] | None,
    typer.Option(
        "--price",
        metavar="MODEL=INPUT,OUTPUT",
        help="With --in-process: $ per million tokens, such as custom/small=0.4,1.6; `custom/*` is every other model. "
        "Repeatable; CUSTOM_PRICES has those of a provider.",
    ),
]
