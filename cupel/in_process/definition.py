"""What is evaluated: a definition with its scenarios, personas and connectors, read by the API's rules without it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from cupel.errors import WrongUse
from cupel.files import DefinitionFile, definition_of, read_definition
from cupel.json_types import Json
from cupel_core.contract.definition_content import ContentBody
from cupel_core.contract.scenarios import ScenarioItem
from cupel_core.definitions import assertions
from cupel_core.definitions.validation import check
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.matrix import Matrix, Options
from cupel_core.domain.definitions.scenarios import MAX_SCENARIOS, Scenario, scenario_id
from cupel_core.domain.resources.connectors import Connector, ConnectorType
from cupel_core.domain.resources.personas import Persona
from cupel_core.errors import Invalid
from cupel_core.providers.addresses import header_complaints, url_complaint
from cupel_core.providers.connectors.config import complaints

type Definition = str | Path | Mapping[str, Any]


class Case(NamedTuple):
    scenario: Scenario
    persona: Persona | None


class _Body(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True, strict=True)


class _PersonaBody(_Body):
    name: str
    description: str | None = None
    system_prompt: str | None = None
    headers: dict[str, str] | None = None


class _ConnectorBody(_Body):
    name: str
    type: str
    base_url: str
    headers: dict[str, str] | None = None
    config: dict[str, Any] | None = None


@dataclass(frozen=True)
class Subject:
    """Ids are names here: nothing else has given any."""

    name: str
    content: Content
    scenarios: tuple[Scenario, ...]
    personas: Mapping[str, Persona]
    connectors: Mapping[str, Connector]

    def among(self, chosen: Sequence[str | Mapping[str, Any]]) -> "Subject":
        """These scenarios alone: those named, and those given here."""
        known = {scenario.name: scenario for scenario in self.scenarios}
        given = [_pick(known, each, f"scenarios.{place}") for place, each in enumerate(chosen)]
        if not given:
            raise WrongUse("scenarios: must not be empty")
        return replace(self, scenarios=tuple(_numbered(given)))

    def spoken_by(self, chosen: Sequence[str | Mapping[str, Any]]) -> "Subject":
        """Every scenario with these personas instead of its own."""
        given = [
            each if isinstance(each, str) else persona_of(each, f"personas.{place}")
            for place, each in enumerate(chosen)
        ]
        known = {**self.personas, **{each.name: each for each in given if isinstance(each, Persona)}}
        names = tuple(each if isinstance(each, str) else each.name for each in given)
        return replace(
            self, personas=known, scenarios=tuple(replace(each, persona_ids=names) for each in self.scenarios)
        )

    def cases(self, positions: Sequence[int]) -> Iterator[Case]:
        """Each of these scenarios once with every persona of its own, or once with nobody in particular."""
        for scenario in (self.scenarios[position] for position in positions):
            for name in scenario.persona_ids or (None,):
                yield Case(scenario, None if name is None else self._persona(scenario, name))

    def _persona(self, scenario: Scenario, name: str) -> Persona:
        if name not in self.personas:
            raise WrongUse(f"personaIds: there is no persona {name}; the scenario {scenario.name} names it")
        return self.personas[name]


def read_subject(definition: Definition) -> Subject:
    """WrongUse names what is wrong with it."""
    file = definition_of(definition) if isinstance(definition, Mapping) else read_definition(Path(definition))
    content = _content(file.definition["content"])
    scenarios = _generated(content, file) if file.generate is not None else _explicit(file.scenarios)
    personas = [persona_of(body, f"personas.{place}") for place, body in enumerate(file.personas)]
    connectors = [connector_of(body, f"connectors.{place}") for place, body in enumerate(file.connectors)]
    return Subject(
        name=file.definition["name"],
        content=content,
        scenarios=tuple(_numbered(scenarios)),
        personas={persona.name: persona for persona in personas},
        connectors={connector.name: connector for connector in connectors},
    )


def persona_of(body: Mapping[str, Any], field: str) -> Persona:
    read = _read(_PersonaBody, body, field)
    headers = _headers(read.headers, field)
    return Persona(read.name, read.name, read.description, read.system_prompt, headers)


def connector_of(body: Mapping[str, Any], field: str) -> Connector:
    read = _read(_ConnectorBody, body, field)
    if read.type not in set(ConnectorType):
        raise WrongUse(f"{field}.type: must be one of {', '.join(ConnectorType)}")
    if wrong := url_complaint(read.base_url):
        raise WrongUse(f"{field}.baseUrl: {wrong}")
    kind, config = ConnectorType(read.type), read.config or {}
    for name, message in complaints(kind, config):
        raise WrongUse(f"{field}.config.{name}: {message}")
    return Connector(read.name, read.name, kind, read.base_url, _headers(read.headers, field), config)


def _headers(headers: dict[str, str] | None, field: str) -> dict[str, str]:
    for name, message in header_complaints(headers or {}):
        raise WrongUse(f"{field}.headers: {name} {message}")
    return headers or {}


def _content(data: Json) -> Content:
    given = _read(ContentBody, data, "content").given()
    try:
        return check(given)
    except Invalid as error:
        raise WrongUse(error.detail) from None


def _explicit(items: Sequence[Mapping[str, Any]]) -> list[Scenario]:
    return [scenario_of(item, f"scenarios.{place}") for place, item in enumerate(items)]


def scenario_of(item: Mapping[str, Any], field: str) -> Scenario:
    read = _read(ScenarioItem, item, field)
    for error in assertions.errors_of(read.assertions, f"{field}.assertions"):
        raise WrongUse(f"{error.field}: {error.message}")
    return read.to_scenario()


def _pick(known: Mapping[str, Scenario], chosen: str | Mapping[str, Any], field: str) -> Scenario:
    if not isinstance(chosen, str):
        return scenario_of(chosen, field)
    if chosen not in known:
        raise WrongUse(f"{field}: the definition has no scenario of the name {chosen!r}")
    return known[chosen]


def _generated(content: Content, file: DefinitionFile) -> list[Scenario]:
    order = cast(Json, file.generate)
    if order["mode"] != "matrix":
        raise WrongUse("generate.mode: only matrix is possible without a stack; a model writes scenarios in one")
    if order.get("options", Options.FIRST) not in set(Options) or not isinstance(order.get("seed", 0), int):
        raise WrongUse(f"generate: options must be one of {', '.join(Options)}, and seed a whole number")
    if content.template is None:
        raise WrongUse("generate: the content needs a template")
    matrix = Matrix(content, Options(order.get("options", Options.FIRST)), order.get("seed", 0))
    if matrix.size > MAX_SCENARIOS:
        raise WrongUse(f"generate: {matrix.size:,} combinations are more than the {MAX_SCENARIOS:,} that are possible")
    return list(matrix)


def _numbered(scenarios: Sequence[Scenario]) -> Iterator[Scenario]:
    """With ids that stay the same as long as their order does, so that simulated models do too."""
    for number, scenario in enumerate(scenarios, start=1):
        yield replace(scenario, id=scenario_id("local", number), name=scenario.name or f"scenario {number}")


def _read[T: BaseModel](shape: type[T], data: Mapping[str, Any], field: str) -> T:
    try:
        return shape.model_validate(dict(data))
    except ValidationError as error:
        wrong = [f"{_path(field, each['loc'])}: {_words(each['msg'])}" for each in error.errors(include_url=False)]
        raise WrongUse("; ".join(wrong[:5])) from None


def _path(field: str, location: tuple[int | str, ...]) -> str:
    return ".".join(map(str, (field, *location)))


def _words(message: str) -> str:
    return message.removeprefix("Value error, ")
