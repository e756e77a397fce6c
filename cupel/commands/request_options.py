"""Derives options of commands from the fields of requests, with the contract's types, limits, defaults and most
texts."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, NamedTuple, get_args

import typer
from typer.models import OptionInfo

from cupel.commands.options import metadata_of, parse_usd
from cupel.commands.suggestions import complete_model
from cupel.commands.targets import parameters_of, read_targets, split_models
from cupel.errors import UsageError
from cupel.json_types import Json
from cupel.request_fields import RequestField, fields_of, words_of
from cupel_core.domain.limits.backoff import BASE_SECONDS, MAX_ATTEMPTS
from cupel_core.domain.runs.pace import IN_PROCESS_CONCURRENCY, SCALE_RUN_PACE


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--system-file: {file}: cannot be read: {error}") from None


def _read_format(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(f"--format: is not JSON: {error}") from None


class FieldOption(NamedTuple):
    names: str = ""
    help: str = ""
    metavar: str | None = None
    type: Any = None
    parser: Callable[[str], Any] | None = None
    read: Callable[[Any], Any] | None = None
    default: Any = None


_METADATA = FieldOption(type=list[str], metavar="KEY=VALUE", read=metadata_of)
_TAGS = FieldOption("--tag", metavar="TAG")
_TARGETS = "Targets: provider/name or connector/…; comma-separated or repeated."
_OPTIONS = {
    "models": FieldOption("--models", _TARGETS, read=split_models),
    "RerunRun.models": FieldOption("--models", f"Other {_TARGETS[0].lower()}{_TARGETS[1:]}", read=split_models),
    "CreateScaleRun.models": FieldOption("--model", _TARGETS, read=lambda models: split_models(models, "--model")),
    "targets": FieldOption(
        "--targets",
        "Instead of --models: a file with labels and parameters.",
        metavar="FILE",
        type=str,
        read=read_targets,
    ),
    "params": FieldOption(
        "--param",
        "Parameter, such as maxOutputTokens=500; repeatable.",
        metavar="NAME=VALUE",
        type=list[str],
        read=parameters_of,
    ),
    "temperature": FieldOption(help="Sampling temperature; default: the model's."),
    "profileId": FieldOption("--profile", "Operation profile by name or id; in process, its file.", metavar="NAME"),
    "repeats": FieldOption(help="Conversations per target, scenario and persona."),
    "personaModel": FieldOption(help="Model that simulates the user; default: the judge."),
    "samplePercentage": FieldOption("--sample", "Percentage of the scenarios to run."),
    "sampleSeed": FieldOption("--seed"),
    "maxTurns": FieldOption(help="Maximum turns per conversation."),
    "count": FieldOption("--count -n", default=10),
    "personaIds": FieldOption("--persona", metavar="PERSONA"),
    "judgeMaxOutputTokens": FieldOption(help="Limits replies of judges and personas."),
    "summarizerModel": FieldOption(help="Model that writes summaries of reports; default: the judge."),
    "CreateScaleRun.judgeModel": FieldOption(help="Model that judges; default: the workspace's."),
    "embeddingModel": FieldOption(help="Model for assertions of type similar."),
    "UpdateSettings.personaModel": FieldOption(help="Model that simulates the user; default: the judge model."),
    "UpdateSettings.judgeModel": FieldOption(help="Model that judges criteria and assertions."),
    "UpdateSettings.analysisModel": FieldOption(
        help="Model that writes the narratives of deep analyses; without one, rules do."
    ),
    "maxBudgetUsd": FieldOption(
        "--budget", "US dollars the run may spend; then it is paused.", metavar="USD", parser=parse_usd
    ),
    "allowUnpriced": FieldOption(help="Also call models without a price."),
    "maxConcurrency": FieldOption(
        "--concurrency",
        f"Conversations at the same time; default: as the providers allow, {IN_PROCESS_CONCURRENCY} in process.",
    ),
    "CreateScaleRun.maxConcurrency": FieldOption(
        "--concurrency", f"Conversations at the same time; default: {SCALE_RUN_PACE.max_concurrency}."
    ),
    "staggerMs": FieldOption("--stagger", "Milliseconds between two starts of a worker.", metavar="MIN MAX"),
    "maxAttempts": FieldOption(help=f"Attempts of a call to a target; default: {MAX_ATTEMPTS}."),
    "retryDelaySeconds": FieldOption(
        help=f"Longest wait before the second attempt of a call, which triples; default: {BASE_SECONDS}."
    ),
    "callTimeoutSeconds": FieldOption(help="Longest wait for one call to a target."),
    "priority": FieldOption(help="Priority relative to other runs."),
    "experimentId": FieldOption("--experiment", "Make it a run of this experiment.", metavar="EXPERIMENT"),
    "report": FieldOption(help="Make a report when the run completes."),
    "RerunRun.report": FieldOption(help="Whether a report is made when the run completes; default: as before."),
    "CreateScaleRun.report": FieldOption(help="Whether a report is made when the run completes."),
    "trial": FieldOption(help="Try the report's revised prompt, for at most the run's cost and two further calls."),
    "name": FieldOption(help="Name of the run; need not be unique."),
    "tags": _TAGS._replace(help="Tag of the run, for filters; repeatable."),
    "metadata": _METADATA._replace(help="Your own data about the run; repeatable."),
    "systemPrompt": FieldOption(
        "--system-file", "File with the system prompt.", metavar="FILE", type=Path, read=_read_text
    ),
    "userMessage": FieldOption("--message", "The user's first message; default: the simulated user begins."),
    "maxOutputTokens": FieldOption(help="Tokens of one answer of the target, at most."),
    "format": FieldOption(
        "--format",
        'What the last answer must be like, such as {"maxWords": 80}.',
        metavar="JSON",
        type=str,
        read=_read_format,
    ),
    "ExperimentFields.name": FieldOption(help="Its name."),
    "ExperimentFields.hypothesis": FieldOption(help="What is expected, in words."),
    "ExperimentFields.nullHypothesis": FieldOption(help="What holds if the hypothesis does not, in words."),
    "ExperimentFields.description": FieldOption(help="Further notes about it."),
    "ExperimentFields.target": FieldOption(help="The target that the expectation is about; default: all."),
    "ExperimentFields.metric": FieldOption(help="What is compared; default: decisions if there are any."),
    "ExperimentFields.baselineRunId": FieldOption("--baseline", metavar="RUN"),
    "ExperimentFields.controlledVariables": FieldOption("--controlled-variable"),
    "ExperimentFields.tags": _TAGS._replace(help="Tag of the experiment; repeatable."),
    "CreateLabelSet.count": FieldOption("--count -n"),
    "CreateLabelSet.model": FieldOption("--model", "Draw only from this target or model."),
    "CreateLabelSet.promptId": FieldOption("--prompt", "Draw only from this prompt of the definition."),
    "CreateLabelSet.rescoreId": FieldOption("--rescore", "Draw by the verdicts of this rescore.", metavar="RESCORE"),
    "CreateLabelSet.instructions": FieldOption(help="Tell labellers when a transcript passes."),
    "SaveLabel.labelSetId": FieldOption("--label-set", metavar="ID"),
}
WITHOUT_OPTION = {
    "definitionId": "the command has an argument for it",
    "confirmedUsd": "the command asks, unless --yes is given",
    "connectorId": "a target may be connector/<id>",
    "evaluators": "--without and --evaluator-url set it",
    "evaluator": "the command does not take headers, which may be secret",
    "budgets": "`cupel budget set` sets it",
}
"""Maps fields without an option to the reason."""
TARGETS, SAMPLE, GRADING, LIMITS, OUTPUT, CI = "Targets", "Sample", "Grading", "Limits and cost", "Output", "CI"
_FIRST = (
    *("--name", "--cron", "--rate", "--at", "--timezone", "--eval"),
    *("--models", "--model", "--system-file", "--message", "--goal", "--count"),
    *("--sample", "--repeats", "--judge-model", "--budget", "--in-process", "--watch", "--fail-under", "--junit"),
    "--json",
)
"""The help lists these frequent options first, followed by those that are in no panel."""
_PANELS = {
    TARGETS: ("--targets", "--param", "--temperature", "--max-output-tokens", "--profile", "--profile-version"),
    SAMPLE: ("--seed", "--definition-version", "--max-turns", "--persona", "--new"),
    GRADING: (
        *("--persona-model", "--embedding-model", "--summarizer-model", "--evaluator-url", "--without", "--format"),
        "--allow-code",
    ),
    LIMITS: (
        *("--allow-unpriced", "--yes", "--price", "--estimate", "--concurrency", "--stagger", "--priority"),
        *("--max-attempts", "--retry-delay-seconds", "--call-timeout-seconds", "--judge-max-output-tokens"),
        *("--cache", "--cache-ttl", "--resume"),
    ),
    OUTPUT: (
        *("--run-name", "--name", "--tag", "--metadata", "--experiment", "--report", "--trial", "--matrix", "--deep"),
        "--analysis-model",
    ),
    CI: (
        *("--confidence", "--allow-errors", "--errors-as", "--allow-left-out-checks", "--fail-if-worse-than"),
        *("--not-worse-than", "--margin", "--alpha", "--allow-inconclusive"),
    ),
}
_PANEL_OF = {name: panel for panel, names in _PANELS.items() for name in names}
_RANKS = {name: -rank for rank, name in enumerate([*reversed(_PANEL_OF), *reversed(_FIRST)])}
_MIN_OPTIONS_OF_PANELS = 20
_MAX_SHOWN = 10**9
"""Higher limits would only widen the help; the API states them."""
_TYPES = {"integer": int, "number": float, "boolean": bool, "texts": list[str], "pair": tuple[int, int]}
_METAVARS = {bool: "", int: "N", float: "N", str: "TEXT", list[str]: "TEXT", Path: "FILE"}


def option_of(model: str, field: str) -> FieldOption:
    name = field.rpartition(".")[2]
    option = _OPTIONS.get(f"{model}.{name}") or _OPTIONS.get(name) or FieldOption()
    return option if option.names else option._replace(names=f"--{words_of(name, '-')}")


def options_of(name: str) -> list[str]:
    declared = [option.names for field, option in _OPTIONS.items() if field.rpartition(".")[2] == name]
    return [each.split()[0] for each in (*declared, f"--{words_of(name, '-')}") if each]


def with_settings(
    model: str,
    *,
    only: Collection[str] = (),
    without: Collection[str] = (),
    names: Mapping[str, str] | None = None,
    fields: Mapping[str, RequestField] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace the parameter `settings` of a command by an option for each field of a request.

    The command gets the given fields as the request has them. `names` are other names of options, and `fields` other
    fields than those of the contract.
    """
    known = fields_of(model) if fields is None else fields
    left_out = {*WITHOUT_OPTION, *without}
    chosen = {field: each for field, each in known.items() if (field in only if only else field not in left_out)}
    options = {}
    for field in chosen:
        option = option_of(model, field)
        options[field] = option._replace(names=(names or {}).get(field, option.names))
    return _decorator(chosen, options)


def _decorator(
    fields: Mapping[str, RequestField], options: Mapping[str, FieldOption]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    parameters = {_parameter_name(option): field for field, option in options.items()}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        *own, last = (each for each in signature(command).parameters.values() if each.name != "settings")
        added = [_parameter(name, fields[field], options[field]) for name, field in parameters.items()]
        arranged = _arrange([*own, *added, last])

        @wraps(command)
        def with_options(**arguments: Any) -> None:
            given = {field: arguments.pop(name) for name, field in parameters.items()}
            command(**arguments, settings=_body(fields, options, given))

        # Typer reads the options of a command from both.
        vars(with_options)["__signature__"] = Signature(arranged)
        with_options.__annotations__ = {each.name: each.annotation for each in arranged}
        return with_options

    return decorate


def _body(fields: Mapping[str, RequestField], options: Mapping[str, FieldOption], given: Json) -> Json:
    if given.get("models") is not None and given.get("targets") is not None:
        option = options["models"].names
        raise UsageError(f"{option}: specify either {option} or --targets, a file")
    body: Json = {"config": {}} if any("." in field for field in fields) else {}
    for field, value in given.items():
        if value in (None, [], ()) or (value is False and fields[field].is_flag):
            continue
        read = options[field].read
        outer, _, inner = field.rpartition(".")
        (body[outer] if outer else body)[inner] = read(value) if read else value
    return body


def _parameter_name(option: FieldOption) -> str:
    return option.names.split()[0].removeprefix("--").replace("-", "_")


def _parameter(name: str, field: RequestField, option: FieldOption) -> Parameter:
    kind = option.type or _kind(name, field)
    is_number = kind in (int, float) and option.parser is None
    description = f"{field.description}." if field.description else f"Sets {words_of(name, ' ')}."
    declarations = option.names.split()
    if kind is bool and not field.is_flag:
        declarations = [f"{declarations[0]}/--no-{name.replace('_', '-')}"]
    info = typer.Option(
        *declarations,
        help=option.help or description,
        metavar=option.metavar or ("MODEL" if _is_model(name) else "|".join(field.choices) or None),
        parser=option.parser,
        autocompletion=complete_model if _is_model(name) else None,
        case_sensitive=False,
        min=field.minimum if is_number else None,
        max=field.maximum if is_number and (field.maximum or 0) <= _MAX_SHOWN else None,
    )
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=_default(field, option), annotation=Annotated[kind | None, info]
    )


def _kind(name: str, field: RequestField) -> Any:
    if field.choices:
        return StrEnum(name.title(), {each: each for each in field.choices})
    return _TYPES.get(field.type, str)


def _is_model(name: str) -> bool:
    return name in ("model", "models") or name.endswith("_model")


def _default(field: RequestField, option: FieldOption) -> Any:
    """Return the value to send without the option: a number or true, unless the field may be null."""
    if option.default is None and (field.nullable or field.choices or field.is_flag):
        return False if field.is_flag else None
    return field.default if option.default is None else option.default


def _arrange(parameters: Sequence[Parameter]) -> list[Parameter]:
    if sum(_option_info(each) is not None for each in parameters) < _MIN_OPTIONS_OF_PANELS:
        return [_shown(each, has_panels=False) for each in parameters]
    return sorted((_shown(each, has_panels=True) for each in parameters), key=_rank)


def _shown(parameter: Parameter, *, has_panels: bool) -> Parameter:
    by_name = parameter.replace(kind=Parameter.KEYWORD_ONLY)
    info = _option_info(parameter)
    if info is None:
        return by_name
    shown = copy(info)
    kind = get_args(parameter.annotation)[0]
    shown.metavar = _METAVARS.get(_without_none(kind)) if info.metavar is None and info.parser is None else info.metavar
    if has_panels and parameter.default is not Parameter.empty:
        shown.rich_help_panel = _PANEL_OF.get(_option_name(parameter))
    return by_name.replace(annotation=Annotated[kind, shown])


def _rank(parameter: Parameter) -> tuple[int, int]:
    info = _option_info(parameter)
    if info is None:
        return -1, 0
    panel = [None, *_PANELS].index(info.rich_help_panel)
    return panel, _RANKS.get(_option_name(parameter), 1)


def _option_info(parameter: Parameter) -> OptionInfo | None:
    return next((each for each in get_args(parameter.annotation)[1:] if isinstance(each, OptionInfo)), None)


def _option_name(parameter: Parameter) -> str:
    info = _option_info(parameter)
    # The first declaration of an annotated option is where a default would be without the annotation.
    first = info.default if info else None
    return first.partition("/")[0] if isinstance(first, str) else f"--{parameter.name.replace('_', '-')}"


def _without_none(kind: Any) -> Any:
    given = [each for each in get_args(kind) if each is not type(None)]
    return given[0] if isinstance(kind, UnionType) and len(given) == 1 else kind
