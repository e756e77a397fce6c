import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import fields
from datetime import timedelta
from math import inf
from pathlib import Path
from typing import Any, TypedDict, cast

from pydantic import ValidationError

from cupel.errors import UsageError
from cupel.in_process.accounts import ProviderAccess
from cupel.in_process.probes import Probe
from cupel.in_process.tools import ToolFunction
from cupel.request_fields import RequestField, fields_of, words_of
from cupel_core.contract.parameters import ModelParametersInput
from cupel_core.contract.run_labels import LabelFields
from cupel_core.domain.runs.labels import LabelChanges, MetadataValue
from cupel_core.domain.runs.run import ProbeStatus
from cupel_core.domain.runs.settings import RunSettings, names_of
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.runs.transcripts import ProbeError, Transcript
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.domain.text.near_names import unknown_field_message
from cupel_core.domain.text.validation_messages import error_message, shown_value

type OnStatus = Callable[[Probe, ProbeStatus], Awaitable[None] | None]
type OnStart = Callable[[Probe], Awaitable[None] | None]
type OnComplete = Callable[[Probe, Transcript], Awaitable[None] | None]
type OnError = Callable[[Probe, ProbeError], Awaitable[None] | None]

CALL_TIMEOUT_SECONDS = 120.0
DEFAULT_CACHE = Path(".cupel/answers.sqlite")
CACHE_TTL_SECONDS = 14 * 86_400.0
_OPTIONS_OF_FIELDS = {"profileId": "profile", "sampleSeed": "seed", "maxBudgetUsd": "budget_usd"}


def option_name(field: str) -> str:
    name = field.rpartition(".")[2]
    return _OPTIONS_OF_FIELDS.get(name, words_of(name, "_"))


_CALL_TIMEOUT = RequestField("number", minimum=0.001, maximum=86_400)
"""No function's time limits a call in this process, and tests need short ones."""
_NUMBERS = {
    option_name(name): field for name, field in fields_of("CreateRun").items() if field.type in ("integer", "number")
} | {"call_timeout_seconds": _CALL_TIMEOUT}
_LABELS = ("name", "tags", "metadata")
_TYPES = {
    "scenarios": "a list of names or mappings",
    "personas": "a list of names or mappings",
    "evaluator_headers": "a mapping",
    "params": "a mapping",
    "profile": "a path or a mapping",
    "providers": "a mapping",
    "tools": "a mapping",
    "resume": "a path",
    "cache": "True, False or a path",
    "progress": "True or False",
    "allow_code": "True or False",
    "allow_unpriced": "True or False",
    "cache_ttl": "a positive number of seconds, or a timedelta",
    "on_status": "a function",
    "on_start": "a function",
    "on_complete": "a function",
    "on_error": "a function",
}


class EvaluationOptions(TypedDict, total=False):
    scenarios: Sequence[str | Mapping[str, Any]] | None
    """Run only these: names of scenarios of the definition, or mappings with the fields of a scenario."""
    personas: Sequence[str | Mapping[str, Any]] | None
    """Replace the personas of every scenario: names of personas of the definition, or mappings with their fields."""
    judge_model: str | None
    persona_model: str | None
    """The model that simulates the user; default: the judge model."""
    judge_max_output_tokens: int | None
    """Limits each reply of a judge or a simulated user; default: the model's."""
    embedding_model: str | None
    analysis_model: str | None
    """The model that writes the narrative of `Evaluation.deep_analysis`."""
    evaluator_url: str | None
    evaluator_headers: Mapping[str, str] | None
    sample_percentage: int
    seed: int | None
    """The seed of the sample and of simulated models; default: random."""
    repeats: int
    temperature: float | None
    """Short for `params={"temperature": …}`."""
    profile: str | Path | Mapping[str, Any] | None
    """Defines operations around every turn: the file of an operation profile, or its fields."""
    params: Mapping[str, Any] | None
    """Parameters of every target that knows them, in the API's fields: `{"topP": 0.9, "maxOutputTokens":
    500}`."""
    max_attempts: int | None
    """Counts the attempts of one call, with the first; default: 4."""
    retry_delay_seconds: float | None
    """The longest wait before the second attempt of a call; each further one is three times as long. Default:
    0.5."""
    max_turns: int | None
    max_concurrency: int
    """Limits the concurrent conversations."""
    call_timeout_seconds: float
    budget_usd: float | None
    """Limits the spending. Once it is used up, probes are errored with the code `budget`."""
    allow_unpriced: bool
    """If true, an evaluation with a budget also calls models whose price is unknown."""
    name: str | None
    """Names the evaluation. Like `tags` and `metadata`, it has no effect on it."""
    tags: Sequence[str] | None
    metadata: Mapping[str, MetadataValue] | None
    cache: bool | str | Path | None
    """Answer repeated model calls from a cache: at this path, or in `.cupel/answers.sqlite` if True."""
    cache_ttl: float | timedelta | None
    """The time in seconds for which an answer is used; default: 14 days."""
    resume: str | Path | None
    """Finished probes are saved in this file; if it exists, only the missing ones are run."""
    progress: bool | None
    """Show progress on standard error; default: True."""
    tools: Mapping[str, ToolFunction] | None
    """Functions that are executed when a model calls the tool of their name; `params` or the definition describe the
    tools."""
    allow_code: bool
    """Run assertions of type python and javascript, and scoring functions, with the rights of this process."""
    providers: Mapping[str, ProviderAccess] | None
    """Access by provider, as `{"openai": {"api_key": …, "base_url": …}}`; omitted values come from environment
    variables."""
    on_status: OnStatus | None
    on_start: OnStart | None
    on_complete: OnComplete | None
    on_error: OnError | None


def checked_options(options: EvaluationOptions) -> EvaluationOptions:
    """Return the options that are not None, which selects the default.

    Raises UsageError for unknown options, a value of another type, and a number outside its range.
    """
    known = sorted(EvaluationOptions.__annotations__)
    unknown = [name for name in options if name not in known]
    if unknown:
        raise UsageError("; ".join(f"{name}: {unknown_field_message(_snake_case(name), known)}" for name in unknown))
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        check = _check_label if name in _LABELS else _check_value
        check(name, value)
    if "params" in given:
        given["params"] = _checked_parameters(options["params"] or {})
    return cast(EvaluationOptions, given)


def _checked_parameters(params: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return ModelParametersInput.model_validate(dict(params)).fields()
    except ValidationError as invalid:
        error = invalid.errors(include_url=False)[0]
        raise UsageError(f"{'.'.join(map(str, ('params', *error['loc'])))}: {error_message(error)}") from None


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _check_value(name: str, value: object) -> None:
    if name in _NUMBERS:
        _check_number(name, value)
    elif not _is_of_type(name, value):
        raise UsageError(f"{name}: must be {_TYPES.get(name, 'a string')}")


def _is_of_type(name: str, value: object) -> bool:
    match _TYPES.get(name):
        case "a list of names or mappings":
            return isinstance(value, Sequence) and not isinstance(value, str | bytes)
        case "a mapping":
            return isinstance(value, Mapping)
        case "a path or a mapping":
            return _is_path(value) or isinstance(value, Mapping)
        case "a path":
            return _is_path(value)
        case "True or False":
            return isinstance(value, bool)
        case "True, False or a path":
            return isinstance(value, bool) or _is_path(value)
        case "a positive number of seconds, or a timedelta":
            return _is_duration(value)
        case "a function":
            return callable(value)
    return isinstance(value, str)


def _is_path(value: object) -> bool:
    return isinstance(value, Path) or (isinstance(value, str) and bool(value))


def _is_duration(value: object) -> bool:
    if isinstance(value, timedelta):
        return value > timedelta(0)
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _check_number(name: str, value: object) -> None:
    number = _NUMBERS[name]
    low, high = number.minimum or 0, number.maximum or inf
    kind, article = (int | float, "a number") if number.type == "number" else (int, "a whole number")
    if isinstance(value, bool) or not isinstance(value, kind) or not low <= value <= high:
        found = f", not {shown}" if (shown := shown_value(value)) else ""
        raise UsageError(f"{name}: must be {article} from {_plain(low)} to {_plain(high)}{found}")


def _check_label(name: str, value: object) -> None:
    try:
        LabelFields.model_validate({name: list(value) if isinstance(value, tuple) else value})
    except ValidationError as invalid:
        error = invalid.errors(include_url=False)[0]
        raise UsageError(f"{'.'.join(map(str, error['loc']))}: {error_message(error)}") from None


def resume_path(options: EvaluationOptions) -> Path | None:
    path = options.get("resume")
    return None if path is None else Path(path)


def cache_path(options: EvaluationOptions) -> Path | None:
    match options.get("cache"):
        case None | False:
            return None
        case True:
            return DEFAULT_CACHE
        case path:
            return Path(path)


def cache_ttl_seconds(options: EvaluationOptions) -> float:
    ttl = options.get("cache_ttl")
    if isinstance(ttl, timedelta):
        return ttl.total_seconds()
    return CACHE_TTL_SECONDS if ttl is None else ttl


def sample_percentage_of(options: EvaluationOptions) -> int:
    return options.get("sample_percentage", RunSpec.sample_percentage)


def settings_of(options: EvaluationOptions) -> RunSettings:
    """Return the checked options that a run has as well, as its settings; the default of a run for those not given."""
    given: dict[str, Any] = {**options}
    temperature = {"temperature": given["temperature"]} if "temperature" in given else {}
    tags = given.get("tags")
    return RunSettings(
        **{name: given[name] for name in names_of(RunSettings) if name in given and name != "params"},
        params={**temperature, **given.get("params", {})},
        grader_config=GraderConfig(
            **{each.name: given[each.name] for each in fields(GraderConfig) if each.name in given}
        ),
        labels=LabelChanges(given.get("name"), None if tags is None else tuple(tags), given.get("metadata")),
        max_budget_usd=given.get("budget_usd"),
    )


def _plain(number: float) -> str:
    """Write the number without an exponent: 0.000001, not 1e-06."""
    return f"{number:,.6f}".rstrip("0").rstrip(".")
