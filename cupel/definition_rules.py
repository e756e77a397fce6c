"""Checks a definition file by the API's rules before anything is sent, and reports every problem at once."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from cupel.errors import RefusedField
from cupel_core.base.errors import Invalid
from cupel_core.contract.common import RequestModel, field_names
from cupel_core.contract.definition_content import DefinitionContent
from cupel_core.contract.scenarios import CreateScenario
from cupel_core.definitions import assertions
from cupel_core.definitions.validation import validate_content
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.fit import Misfit, misfits, repeated_names
from cupel_core.domain.resources.connectors import ConnectorType
from cupel_core.domain.text.templates import normalize_name
from cupel_core.domain.text.validation_messages import error_message
from cupel_core.providers.addresses import header_errors, url_error
from cupel_core.providers.connectors.config import config_errors, secret_errors

type Section = Mapping[str, Any]


class _FileSection(RequestModel):
    model_config = ConfigDict(strict=True)


class PersonaSection(_FileSection):
    name: str
    description: str | None = None
    system_prompt: str | None = None
    headers: dict[str, str] | None = None
    connector_urls: list[str] | None = None


class ConnectorSection(_FileSection):
    name: str
    type: str
    base_url: str
    headers: dict[str, str] | None = None
    config: dict[str, Any] | None = None


def content_paths() -> dict[str, str]:
    return {name: f"content.{name}" for name in field_names(DefinitionContent)}


def content_problems(
    data: Section, field: str = "content", *, allow_code: bool = False, has_scenarios: bool = False
) -> Iterator[RefusedField]:
    problems = tuple(shape_problems(DefinitionContent, data, field))
    yield from problems
    if problems:
        return
    try:
        content = DefinitionContent.model_validate(dict(data)).specified()
        validate_content(content, allow_code=allow_code, has_scenarios=has_scenarios)
    except Invalid as error:
        yield from (RefusedField(each.field, each.message) for each in error.errors)


def scenario_problems(item: Section, field: str, *, allow_code: bool = False) -> Iterator[RefusedField]:
    problems = tuple(shape_problems(CreateScenario, item, field))
    yield from problems
    if not problems:
        given = item.get("assertions") or ()
        for error in assertions.assertion_errors(given, f"{field}.assertions", allow_code=allow_code):
            yield RefusedField(error.field, error.message)


_BRACES = re.compile(r"\{\{\s*([^\W\d_][\w \-]{0,99})[^{}]*\}\}")
_MAX_SHOWN = 60


def fit_problems(document: Section) -> Iterator[RefusedField]:
    data, scenarios = document.get("content") or {}, document.get("scenarios") or []
    content = Content.from_json(DefinitionContent.model_validate(dict(data)).specified())
    yield from _brace_problems(content, scenarios)
    for repeated in repeated_names(item.get("name") for item in scenarios):
        yield RefusedField(f"scenarios.{repeated.position}.name", repeated.message)
    for position, item in enumerate(scenarios):
        if content.prompts or content.assertions or item.get("assertions"):
            scenario = CreateScenario.model_validate(dict(item)).to_scenario()
            yield from (_misfit_problem(misfit, position) for misfit in misfits(content, scenario))


def _brace_problems(content: Content, scenarios: Sequence[Section]) -> Iterator[RefusedField]:
    """Refuse `{{topic}}` in a prompt if it is a variable of a scenario: prompts name it in brackets.

    Other words in braces are sent as they are written.
    """
    found = [(field, match) for field, text in _prompt_texts(content) for match in _BRACES.finditer(text)]
    if not found:
        return
    variables = (CreateScenario.model_validate(dict(each)).to_scenario().variables for each in scenarios)
    names = {normalize_name(name): name for each in variables for name in each}
    for field, match in found:
        if name := names.get(normalize_name(match[1])):
            yield RefusedField(
                f"content.{field}",
                f"{match[0][:_MAX_SHOWN]} would be sent as it is written: in a prompt, the value of {name} is "
                f"[{name}], without a filter",
            )


def _prompt_texts(content: Content) -> Iterator[tuple[str, str]]:
    yield "system", content.system or ""
    for number, prompt in enumerate(content.prompts):
        yield f"prompts.{number}.system", prompt.system or ""
        for message in prompt.messages:
            yield f"prompts.{number}", message.spoken_text


def _misfit_problem(misfit: Misfit, position: int) -> RefusedField:
    if misfit.is_shared:
        return RefusedField(f"content.{misfit.field}", f"scenario {position + 1} {misfit.message}")
    owner = "the scenario " if misfit.field else ""
    return RefusedField(f"scenarios.{position}.{misfit.field}".rstrip("."), f"{owner}{misfit.message}")


def persona_problems(body: Section, field: str) -> Iterator[RefusedField]:
    problems = tuple(shape_problems(PersonaSection, body, field))
    yield from problems
    if problems:
        return
    for position, url in enumerate(body.get("connectorUrls") or ()):
        if problem := url_error(url):
            yield RefusedField(f"{field}.connectorUrls.{position}", problem)
    yield from _header_problems(body, field)


def connector_problems(body: Section, field: str) -> Iterator[RefusedField]:
    problems = tuple(shape_problems(ConnectorSection, body, field))
    yield from problems
    if problems:
        return
    if problem := url_error(body["baseUrl"]):
        yield RefusedField(f"{field}.baseUrl", problem)
    if body["type"] not in set(ConnectorType):
        yield RefusedField(f"{field}.type", f"must be one of {', '.join(ConnectorType)}")
    else:
        for name, message in config_errors(ConnectorType(body["type"]), body.get("config") or {}):
            yield RefusedField(f"{field}.config.{name}", message)
        for name, message in secret_errors(ConnectorType(body["type"]), body.get("headers") or {}):
            yield RefusedField(f"{field}.headers.{name}", message)
    yield from _header_problems(body, field)


def shape_problems(model: type[BaseModel], data: Section, field: str) -> Iterator[RefusedField]:
    try:
        model.model_validate(dict(data))
    except ValidationError as error:
        for each in error.errors(include_url=False):
            yield RefusedField(".".join(map(str, (field, *each["loc"]))), f"{error_message(each)}{_quoting(each)}")


def _quoting(error: ErrorDetails) -> str:
    """Return the remedy for a text without quotes that YAML does not read as one, such as 5 or no."""
    value = error["input"]
    if error["type"] != "string_type" or not isinstance(value, bool | int | float):
        return ""
    words = "yes and on" if value else "no and off"
    return f", which is how YAML reads {words}; put it in quotes" if isinstance(value, bool) else "; put it in quotes"


def _header_problems(body: Section, field: str) -> Iterator[RefusedField]:
    return (
        RefusedField(f"{field}.headers", f"{name} {message}")
        for name, message in header_errors(body.get("headers") or {})
    )
