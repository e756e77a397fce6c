"""Options and arguments shared by several commands."""

import sys
from collections.abc import Sequence
from math import inf, nan
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from cupel.commands.suggestions import complete_model, parse_time
from cupel.errors import UsageError
from cupel.json_types import Json, without_none
from cupel_core.domain.limits.backoff import BASE_SECONDS, MAX_ATTEMPTS, MOST_ATTEMPTS, MOST_DELAY_SECONDS
from cupel_core.domain.runs.run import Priority


def model_option(name: str, *, help_text: str) -> Any:
    """An option that takes a model, or several separated by commas."""
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
Models = Annotated[
    list[str] | None,
    model_option("--models", help_text="Targets: provider/name or connector/…; comma-separated or repeated."),
]
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
TargetsFile = Annotated[
    str | None,
    typer.Option(
        "--targets",
        metavar="FILE",
        help="Instead of --models: targets with labels and parameters, in YAML or JSON; or a list as JSON.",
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--param", metavar="NAME=VALUE", help="Parameter of the targets, such as maxOutputTokens=500; may be repeated."
    ),
]
Watch = Annotated[bool, typer.Option("--watch", help="Show progress, wait for the run to end, and show its results.")]
Sample = Annotated[int, typer.Option("--sample", min=1, max=100, help="Percentage of the scenarios to run.")]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Seed of the sample; default: random.")]
DefinitionVersion = Annotated[
    int | None,
    typer.Option("--definition-version", min=1, help="Version of the definition, by its id; default: the latest."),
]
RunPriority = Annotated[Priority | None, typer.Option("--priority", help="Priority relative to other runs.")]
Temperature = Annotated[
    float | None, typer.Option("--temperature", min=0, max=2, help="Sampling temperature; default: the model's.")
]
MaxTurns = Annotated[int | None, typer.Option("--max-turns", min=1, help="Maximum turns per conversation.")]
ProfileName = Annotated[
    str | None,
    typer.Option(
        "--profile",
        metavar="NAME",
        help="An operation profile of the workspace, by its name or id; with --in-process its file.",
    ),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        "--concurrency", min=1, max=1_000, help="Conversations at the same time; default: as the providers allow."
    ),
]
Stagger = Annotated[
    tuple[int, int] | None,
    typer.Option("--stagger", metavar="MIN MAX", help="Milliseconds between two starts of a worker: from MIN to MAX."),
]
MaxAttempts = Annotated[
    int | None,
    typer.Option(
        "--max-attempts",
        min=1,
        max=MOST_ATTEMPTS,
        help=f"Attempts of one call to a target, with the first; default: {MAX_ATTEMPTS}.",
    ),
]
RetryDelay = Annotated[
    float | None,
    typer.Option(
        "--retry-delay-seconds",
        min=0,
        max=MOST_DELAY_SECONDS,
        help=f"Longest wait before the second attempt of a call to a target, which triples; default: {BASE_SECONDS}.",
    ),
]
Repeats = Annotated[
    int, typer.Option("--repeats", min=1, max=1_000, help="Conversations per target, scenario and persona.")
]
JudgeModel = Annotated[
    str | None,
    typer.Option(
        "--judge-model", autocompletion=complete_model, help="Model that judges criteria and model-graded assertions."
    ),
]
JudgeMaxOutputTokens = Annotated[
    int | None,
    typer.Option(
        "--judge-max-output-tokens",
        min=1,
        max=10_000_000,
        help="Tokens of each reply of a judge or a simulated user, at most.",
    ),
]
PersonaModel = Annotated[
    str | None,
    typer.Option(
        "--persona-model",
        autocompletion=complete_model,
        help="Model that simulates the user; default: the judge model.",
    ),
]
SummarizerModel = Annotated[
    str | None,
    typer.Option(
        "--summarizer-model",
        autocompletion=complete_model,
        help="Model that writes the summaries of reports; default: the judge model.",
    ),
]
MakeReport = Annotated[bool, typer.Option("--report", help="Make a report when the run completes.")]
EmbeddingModel = Annotated[
    str | None,
    typer.Option(
        "--embedding-model", autocompletion=complete_model, help="Embedding model for assertions of type similar."
    ),
]

_MIN_USD = 0.000001


def parse_usd(text: str) -> float:
    """An amount that may be spent."""
    try:
        usd = float(text)
    except ValueError:
        usd = nan
    if not _MIN_USD <= usd < inf:
        raise typer.BadParameter(f'"{text}" is not an amount in US dollars of at least {_MIN_USD:f}')
    return usd


Budget = Annotated[
    float | None,
    typer.Option(
        "--budget", parser=parse_usd, metavar="USD", help="What the run may spend, in US dollars; then it is paused."
    ),
]
AllowUnpriced = Annotated[
    bool, typer.Option("--allow-unpriced", help="With --budget: also call models whose price is unknown.")
]
CallUnpriced = Annotated[
    bool, typer.Option("--allow-unpriced", help="Call models whose price is unknown although there is a budget.")
]


StartAnyway = Annotated[
    bool, typer.Option("--yes", help="With --budget: start without asking if the estimate exceeds it.")
]


def budget_fields(budget: float | None, *, allow_unpriced: bool) -> Json:
    """The fields of a request for the given options."""
    return without_none(maxBudgetUsd=budget, allowUnpriced=allow_unpriced or None)


RunName = Annotated[str | None, typer.Option("--name", help="Name of the run; need not be unique.")]
Tags = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG", help="Tag of the run, for filters; may be repeated.")
]
Metadata = Annotated[
    list[str] | None,
    typer.Option("--metadata", metavar="KEY=VALUE", help="Your own data about the run; may be repeated."),
]


def label_fields(name: str | None, tags: list[str] | None, metadata: list[str] | None) -> Json:
    """The fields of a request for the given options. UsageError for metadata that is not `key=value`."""
    return without_none(name=name, tags=tags or None, metadata=metadata_of(metadata) or None)


def metadata_of(options: list[str] | None) -> dict[str, str]:
    """The values of --metadata. UsageError for one that is not `key=value`."""
    return dict(map(_metadata_entry, options or ()))


def _metadata_entry(option: str) -> tuple[str, str]:
    key, equals, value = option.partition("=")
    if not key or not equals:
        raise UsageError(f"--metadata: {option}: expected KEY=VALUE, such as commit=6f1b2c9")
    return key, value


def creation_filters(after: str | None, before: str | None, *, oldest_first: bool) -> dict[str, str | None]:
    """The arguments of the client's lists for these options."""
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
    """How to call this command from here: `cupel`, or its path if it is installed below the current folder."""
    program = Path(sys.argv[0])
    if program.name == "cupel" and program.resolve().is_relative_to(Path.cwd().resolve()):
        return str(program.resolve().relative_to(Path.cwd().resolve()))
    return "cupel"


class InProcessOptions(NamedTuple):
    """The options of `cupel run` that only apply to evaluations in this process."""

    concurrency: int
    resume: str | None
    cache: bool
    cache_ttl: float | None
    allow_code: bool
    matrix: bool = False
    deep: bool = False
    analysis_model: str | None = None
    prices: Sequence[str] = ()
    """Such as `custom/small=0.4,1.6`."""


Prices = Annotated[
    list[str] | None,
    typer.Option(
        "--price",
        metavar="MODEL=INPUT,OUTPUT",
        help="With --in-process: price in $ per million input and output tokens, such as custom/small=0.4,1.6; "
        "`custom/*` is every other model. May be repeated. CUSTOM_PRICES has those of a provider.",
    ),
]
DEFAULT_CONCURRENCY = 10
DEFAULT_OPTIONS = InProcessOptions(DEFAULT_CONCURRENCY, None, cache=False, cache_ttl=None, allow_code=False)
