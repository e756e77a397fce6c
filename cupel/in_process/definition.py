"""Loads the definition of an evaluation and its operation profile by the rules of the API but without a stack.

Images and PDFs are read from the definition's folder, or from data URLs.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

from cupel import definition_rules
from cupel.definition_rules import shape_problems
from cupel.errors import RefusedField, UsageError
from cupel.files import DefinitionFile, definition_from_mapping, read_definitions
from cupel.in_process.accounts import AccountResolver
from cupel.json_types import Json
from cupel.local_files import LocalFiles
from cupel.source_files import SourceFile
from cupel_core.contract.definition_content import DefinitionContent
from cupel_core.contract.scenarios import CreateScenario
from cupel_core.domain.codec import decode
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.matrix import LevelOptionChoice, Matrix
from cupel_core.domain.definitions.scenarios import MAX_SCENARIOS, Scenario, scenario_id
from cupel_core.domain.files.formats import FileInfo, inspect
from cupel_core.domain.files.references import References
from cupel_core.domain.pipeline.profiles import Pipeline
from cupel_core.domain.pipeline.run_profile import RunProfile
from cupel_core.domain.resources.connectors import Connector, ConnectorType
from cupel_core.domain.resources.personas import Persona
from cupel_core.providers.account import Account

type ProfileSource = str | Path | Mapping[str, Any]
_PROFILE_OPTION = "profile"


class AttachedFiles:
    def __init__(self, contents: Mapping[str, bytes] | None = None) -> None:
        self.contents = dict(contents or {})
        self._references = References(self._find)

    def in_content(self, content: Content) -> Content:
        prompts = (self._references.prompt(each, f"content.prompts.{n}.") for n, each in enumerate(content.prompts))
        return replace(content, prompts=tuple(prompts))

    def in_scenario(self, scenario: Scenario, place: str) -> Scenario:
        return self._references.scenario(scenario, place)

    def add(self, contents: Mapping[str, bytes]) -> None:
        self.contents |= contents

    def take_problems(self) -> list[RefusedField]:
        self.contents |= {file_id: new.content for file_id, new in self._references.new_files.items()}
        problems = [RefusedField(*each) for each in self._references.problems]
        self._references.problems.clear()
        return problems

    async def read(self, file_ids: Iterable[str]) -> Mapping[str, bytes]:
        return {file_id: self.contents[file_id] for file_id in file_ids if file_id in self.contents}

    def _find(self, file_id: str) -> FileInfo | None:
        content = self.contents.get(file_id)
        return None if content is None else inspect(content)


type DefinitionSource = str | Path | Mapping[str, Any] | Sequence[str | Path]
"""A definition file, its contents, or several files that ask the same scenarios in different ways."""


class EvaluationCase(NamedTuple):
    scenario: Scenario
    persona: Persona | None


@dataclass(frozen=True)
class LoadedDefinition:
    """Holds a definition whose personas and connectors use their names as ids, because nothing is stored."""

    name: str
    content: Content
    scenarios: tuple[Scenario, ...]
    personas: Mapping[str, Persona]
    connectors: Mapping[str, Connector]
    folder: Path = Path()
    allow_code: bool = False
    files: AttachedFiles = field(default_factory=AttachedFiles, compare=False)

    def with_scenarios(self, chosen: Sequence[str | Mapping[str, Any]]) -> "LoadedDefinition":
        known = {scenario.name: scenario for scenario in self.scenarios}
        scenarios = [self._choose(known, each, f"scenarios.{position}") for position, each in enumerate(chosen)]
        if not scenarios:
            raise UsageError("scenarios: must not be empty")
        return replace(self, scenarios=tuple(_with_ids(scenarios)))

    def _choose(self, known: Mapping[str, Scenario], chosen: str | Mapping[str, Any], place: str) -> Scenario:
        if isinstance(chosen, str):
            if chosen not in known:
                raise UsageError(f"{place}: the definition has no scenario named {chosen!r}")
            return known[chosen]
        local = LocalFiles(self.folder)
        item = local.in_messages(dict(chosen), f"{place}.")
        _raise_if_any(local.problems)
        self.files.add({file_id: each.content for file_id, each in local.files.items()})
        scenario = self.files.in_scenario(parse_scenario(item, place, allow_code=self.allow_code), f"{place}.")
        _raise_if_any(self.files.take_problems())
        return scenario

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
        for scenario in (self.scenarios[position] for position in positions):
            for name in scenario.persona_ids or (None,):
                yield EvaluationCase(scenario, None if name is None else self._persona(scenario, name))

    def _persona(self, scenario: Scenario, name: str) -> Persona:
        if name not in self.personas:
            known = ", ".join(self.personas) or "none"
            raise UsageError(f'personaIds of "{scenario.name}": unknown persona {name}; known personas: {known}')
        return self.personas[name]


def load_definition(definition: DefinitionSource, *, allow_code: bool = False) -> LoadedDefinition:
    """Load and validate a definition. Raises UsageError, naming every invalid field."""
    paths = () if isinstance(definition, Mapping) else _paths(definition)
    file = (
        definition_from_mapping(definition, allow_code=allow_code)
        if isinstance(definition, Mapping)
        else read_definitions(paths, allow_code=allow_code)
    )
    for warning in file.source.warnings:
        warnings.warn(warning, stacklevel=2)
    attached = AttachedFiles({file_id: local.content for file_id, local in file.files.items()})
    content = attached.in_content(
        Content.from_json(DefinitionContent.model_validate(file.definition["content"]).specified())
    )
    scenarios = (
        _generated_scenarios(content, file)
        if file.generate is not None
        else [
            attached.in_scenario(CreateScenario.model_validate(item).to_scenario(), f"scenarios.{number}.")
            for number, item in enumerate(file.scenarios or ())
        ]
    )
    if problems := attached.take_problems():
        raise file.source.refusal(problems)
    return LoadedDefinition(
        name=file.definition["name"],
        content=content,
        scenarios=tuple(_with_ids(scenarios)),
        personas={body["name"]: _persona(body) for body in file.personas},
        connectors={body["name"]: _connector(body) for body in file.connectors},
        folder=paths[0].parent if paths else Path(),
        allow_code=allow_code,
        files=attached,
    )


def _paths(definition: str | Path | Sequence[str | Path]) -> list[Path]:
    given = [definition] if isinstance(definition, str | Path) else definition
    if not isinstance(given, Sequence) or not given or not all(isinstance(each, str | Path) for each in given):
        kind = type(definition).__name__
        raise UsageError(f"definition: must be the path of a file, several paths, or a mapping, not {kind}")
    return [Path(each) for each in given]


def parse_persona(body: Mapping[str, Any], field: str) -> Persona:
    _raise_if_any(definition_rules.persona_problems(body, field))
    return _persona(body)


def parse_connector(body: Mapping[str, Any], field: str) -> Connector:
    _raise_if_any(definition_rules.connector_problems(body, field))
    return _connector(body)


def parse_scenario(item: Mapping[str, Any], field: str, *, allow_code: bool = False) -> Scenario:
    _raise_if_any(definition_rules.scenario_problems(item, field, allow_code=allow_code))
    return CreateScenario.model_validate(dict(item)).to_scenario()


def _raise_if_any(problems: Iterable[RefusedField]) -> None:
    if listed := "; ".join(f"{problem.field}: {problem.message}" for problem in problems):
        raise UsageError(listed)


def _persona(body: Mapping[str, Any]) -> Persona:
    section = definition_rules.PersonaSection.model_validate(dict(body))
    urls = tuple(section.connector_urls or ())
    return Persona(
        section.name,
        section.name,
        section.description,
        section.system_prompt,
        section.headers or {},
        connector_urls=urls,
    )


def _connector(body: Mapping[str, Any]) -> Connector:
    section = definition_rules.ConnectorSection.model_validate(dict(body))
    kind, headers = ConnectorType(section.type), section.headers or {}
    return Connector(section.name, section.name, kind, section.base_url, headers, section.config or {})


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
    """Yield scenarios with ids by position, so that simulated models answer the same in every evaluation."""
    for number, scenario in enumerate(scenarios, start=1):
        yield replace(scenario, id=scenario_id("local", number), name=scenario.name or f"scenario {number}")


def load_profile(
    source: ProfileSource | None, accounts: AccountResolver, targets: Iterable[Account]
) -> RunProfile | None:
    """Return the profile, or None if there is none or it is disabled. Raises UsageError, naming every invalid field."""
    if source is None:
        return None
    # The models of the contract take a while to import.
    from cupel_core.contract.profiles import CreateProfile
    from cupel_core.resources.profile_validation import profile_issues

    file = SourceFile(_PROFILE_OPTION, dict(source)) if isinstance(source, Mapping) else _read_profile(Path(source))
    body = {"name": Path(file.name).stem[:200], **file.mapping()}
    if problems := [_inside_profile(each) for each in shape_problems(CreateProfile, body, _PROFILE_OPTION)]:
        raise file.refusal(problems)
    document = CreateProfile.model_validate(body)
    if issues := profile_issues("", document.content(), partial(_account_of, accounts)):
        raise file.refusal(RefusedField(*issue) for issue in issues)
    if not document.enabled:
        return None
    profile = RunProfile(document.name, document.name, 1, decode(Pipeline, document.content()))
    if profile.changes_prompt and any(_has_thread(account) for account in targets):
        message = "its operations change the prompt, which a LangGraph agent does not read: it keeps its own thread"
        raise UsageError(f"{_PROFILE_OPTION}: {message}")
    return profile


def _read_profile(path: Path) -> SourceFile:
    try:
        return SourceFile.read(path)
    except UsageError as error:
        raise UsageError(f"{_PROFILE_OPTION}: {error}") from None


def _inside_profile(problem: RefusedField) -> RefusedField:
    return RefusedField(problem.field.removeprefix(f"{_PROFILE_OPTION}."), problem.message)


def _account_of(accounts: AccountResolver, provider: str) -> Account:
    return accounts.for_model(f"{provider}/*", _PROFILE_OPTION)


def _has_thread(account: Account) -> bool:
    return account.connector is not None and account.connector.type is ConnectorType.LANGGRAPH
