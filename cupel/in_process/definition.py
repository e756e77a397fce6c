"""Loads a definition with its scenarios, personas and connectors, by the rules of the API but without a stack."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from cupel.errors import UsageError
from cupel.files import DefinitionFile, definition_from_mapping, read_definition
from cupel.json_types import Json
from cupel_core.contract.common import RequestModel
from cupel_core.contract.definition_content import DefinitionContent
from cupel_core.contract.scenarios import CreateScenario
from cupel_core.definitions import assertions
from cupel_core.definitions.validation import validate_content
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.matrix import LevelOptionChoice, Matrix
from cupel_core.domain.definitions.scenarios import MAX_SCENARIOS, Scenario, scenario_id
from cupel_core.domain.resources.connectors import Connector, ConnectorType
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.text.validation_messages import field_message
from cupel_core.errors import Invalid
from cupel_core.providers.addresses import header_errors, url_error
from cupel_core.providers.connectors.config import config_errors

type DefinitionSource = str | Path | Mapping[str, Any]


class EvaluationCase(NamedTuple):
    scenario: Scenario
    persona: Persona | None


class _FileSection(RequestModel):
    model_config = ConfigDict(strict=True)


class _PersonaSection(_FileSection):
    name: str
    description: str | None = None
    system_prompt: str | None = None
    headers: dict[str, str] | None = None
    connector_urls: list[str] | None = None


class _ConnectorSection(_FileSection):
    name: str
    type: str
    base_url: str
    headers: dict[str, str] | None = None
    config: dict[str, Any] | None = None


@dataclass(frozen=True)
class LoadedDefinition:
    """Personas and connectors use their names as ids, because nothing is stored."""

    name: str
    content: Content
    scenarios: tuple[Scenario, ...]
    personas: Mapping[str, Persona]
    connectors: Mapping[str, Connector]

    def with_scenarios(self, chosen: Sequence[str | Mapping[str, Any]]) -> "LoadedDefinition":
        """Only these scenarios, each a name or the fields of a scenario."""
        known = {scenario.name: scenario for scenario in self.scenarios}
        scenarios = [_choose_scenario(known, each, f"scenarios.{position}") for position, each in enumerate(chosen)]
        if not scenarios:
            raise UsageError("scenarios: must not be empty")
        return replace(self, scenarios=tuple(_with_ids(scenarios)))

    def with_personas(self, chosen: Sequence[str | Mapping[str, Any]]) -> "LoadedDefinition":
        """Replace the personas of every scenario by these, each a name or the fields of a persona."""
        personas = [
            each if isinstance(each, str) else parse_persona(each, f"personas.{position}")
            for position, each in enumerate(chosen)
        ]
        known = {**self.personas, **{each.name: each for each in personas if isinstance(each, Persona)}}
        names = tuple(each if isinstance(each, str) else each.name for each in personas)
        return replace(
            self, personas=known, scenarios=tuple(replace(each, persona_ids=names) for each in self.scenarios)
        )

    def cases(self, positions: Sequence[int]) -> Iterator[EvaluationCase]:
        """The scenarios at these positions, each once per persona, or once without a persona."""
        for scenario in (self.scenarios[position] for position in positions):
            for name in scenario.persona_ids or (None,):
                yield EvaluationCase(scenario, None if name is None else self._persona(scenario, name))

    def _persona(self, scenario: Scenario, name: str) -> Persona:
        if name not in self.personas:
            raise UsageError(f"personaIds: unknown persona {name} in scenario {scenario.name}")
        return self.personas[name]


def load_definition(definition: DefinitionSource) -> LoadedDefinition:
    """Load and validate a definition. UsageError names the invalid field."""
    file = definition_from_mapping(definition) if isinstance(definition, Mapping) else read_definition(Path(definition))
    content = _parse_content(file.definition["content"])
    scenarios = (
        _generated_scenarios(content, file) if file.generate is not None else _explicit_scenarios(file.scenarios)
    )
    personas = [parse_persona(body, f"personas.{position}") for position, body in enumerate(file.personas)]
    connectors = [parse_connector(body, f"connectors.{position}") for position, body in enumerate(file.connectors)]
    return LoadedDefinition(
        name=file.definition["name"],
        content=content,
        scenarios=tuple(_with_ids(scenarios)),
        personas={persona.name: persona for persona in personas},
        connectors={connector.name: connector for connector in connectors},
    )


def parse_persona(body: Mapping[str, Any], field: str) -> Persona:
    section = _validate(_PersonaSection, body, field)
    urls = tuple(section.connector_urls or ())
    for position, url in enumerate(urls):
        if problem := url_error(url):
            raise UsageError(f"{field}.connectorUrls.{position}: {problem}")
    headers = _headers(section.headers, field)
    return Persona(section.name, section.name, section.description, section.system_prompt, headers, connector_urls=urls)


def parse_connector(body: Mapping[str, Any], field: str) -> Connector:
    section = _validate(_ConnectorSection, body, field)
    if section.type not in set(ConnectorType):
        raise UsageError(f"{field}.type: must be one of {', '.join(ConnectorType)}")
    if problem := url_error(section.base_url):
        raise UsageError(f"{field}.baseUrl: {problem}")
    kind, config = ConnectorType(section.type), section.config or {}
    for name, message in config_errors(kind, config):
        raise UsageError(f"{field}.config.{name}: {message}")
    return Connector(section.name, section.name, kind, section.base_url, _headers(section.headers, field), config)


def _headers(headers: dict[str, str] | None, field: str) -> dict[str, str]:
    for name, message in header_errors(headers or {}):
        raise UsageError(f"{field}.headers: {name} {message}")
    return headers or {}


def _parse_content(data: Json) -> Content:
    specified = _validate(DefinitionContent, data, "content").specified()
    try:
        return validate_content(specified)
    except Invalid as error:
        raise UsageError(error.detail) from None


def _explicit_scenarios(items: Sequence[Mapping[str, Any]]) -> list[Scenario]:
    return [parse_scenario(item, f"scenarios.{position}") for position, item in enumerate(items)]


def parse_scenario(item: Mapping[str, Any], field: str) -> Scenario:
    scenario = _validate(CreateScenario, item, field)
    for error in assertions.assertion_errors(scenario.assertions, f"{field}.assertions"):
        raise UsageError(f"{error.field}: {error.message}")
    return scenario.to_scenario()


def _choose_scenario(known: Mapping[str, Scenario], chosen: str | Mapping[str, Any], field: str) -> Scenario:
    if not isinstance(chosen, str):
        return parse_scenario(chosen, field)
    if chosen not in known:
        raise UsageError(f"{field}: the definition has no scenario named {chosen!r}")
    return known[chosen]


def _generated_scenarios(content: Content, file: DefinitionFile) -> list[Scenario]:
    generation = cast(Json, file.generate)
    if generation["mode"] != "matrix":
        raise UsageError("generate.mode: without a stack, the only mode is matrix; other modes need a stack")
    options, seed = generation.get("options", LevelOptionChoice.FIRST), generation.get("seed", 0)
    if options not in set(LevelOptionChoice):
        raise UsageError(f"generate.options: must be one of {', '.join(LevelOptionChoice)}")
    if not isinstance(seed, int):
        raise UsageError("generate.seed: must be a whole number")
    if content.template is None:
        raise UsageError("generate: requires a template in content")
    matrix = Matrix(content, LevelOptionChoice(options), seed)
    if matrix.size > MAX_SCENARIOS:
        raise UsageError(f"generate: {matrix.size:,} combinations exceed the limit of {MAX_SCENARIOS:,} scenarios")
    return list(matrix)


def _with_ids(scenarios: Sequence[Scenario]) -> Iterator[Scenario]:
    """Scenarios with ids by position, so that simulated models answer the same in every evaluation."""
    for number, scenario in enumerate(scenarios, start=1):
        yield replace(scenario, id=scenario_id("local", number), name=scenario.name or f"scenario {number}")


def _validate[T: BaseModel](model: type[T], data: Mapping[str, Any], field: str) -> T:
    try:
        return model.model_validate(dict(data))
    except ValidationError as error:
        problems = [
            f"{_path(field, each['loc'])}: {field_message(each['msg'])}" for each in error.errors(include_url=False)
        ]
        raise UsageError("; ".join(problems[:5])) from None


def _path(field: str, location: tuple[int | str, ...]) -> str:
    return ".".join(map(str, (field, *location)))
