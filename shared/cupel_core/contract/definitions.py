"""What is asked and told about definitions and their scenarios."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from cupel_core.contract.common import Answer, Request, Time
from cupel_core.contract.definition_content import ContentBody
from cupel_core.contract.definition_content import Words as Words
from cupel_core.contract.scenarios import ScenarioItem
from cupel_core.definitions.catalog import Definition, Labels
from cupel_core.domain.definitions.definitions import Head
from cupel_core.domain.definitions.generations import Generation, GenerationStatus, Mode
from cupel_core.domain.definitions.matrix import Options
from cupel_core.domain.definitions.scenario_files import Format
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.turns.conversation import FailureMode
from cupel_core.domain.turns.model_request import Role
from cupel_core.errors import FieldError
from cupel_core.generation.generations import GenerationSpec

MAX_ITEMS = 1_000


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def _each_once(texts: list[str]) -> list[str]:
    return list(dict.fromkeys(texts))


Name = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=200), AfterValidator(_not_blank)]
Folder = Annotated[str, StringConstraints(strict=True, max_length=200)]
Tag = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=100)]
Tags = Annotated[list[Tag], Field(max_length=50), AfterValidator(_each_once)]
Flag = Annotated[bool, Field(strict=True)]


class DefinitionRequest(Request):
    name: Name
    folder: Folder | None = None
    tags: Annotated[Tags, Field(default_factory=list)]
    content: ContentBody

    def labels(self) -> Labels:
        return Labels(self.name, self.folder, tuple(self.tags))


class DefinitionChange(Request):
    """Fields that are left out stay as they are; a null folder is none. New content makes the next version."""

    name: Name | None = None
    folder: Folder | None = None
    tags: Tags | None = None
    content: ContentBody | None = None

    def labels(self) -> Labels:
        folder = self.folder or "" if "folder" in self.model_fields_set else None
        return Labels(self.name, folder, None if self.tags is None else tuple(self.tags))


class ForkRequest(DefinitionChange):
    """The content's fields override the parent's; all others are inherited."""

    version: Annotated[int | None, Field(strict=True, ge=1, description="Of the parent; the latest unless told")] = None


class Told(Answer):
    """Something about a field that is allowed and probably not meant."""

    field: str
    message: str

    @classmethod
    def of(cls, warning: FieldError) -> "Told":
        return cls(field=warning.field, message=warning.message)


class HeadAnswer(Answer):
    id: str
    name: str
    folder: str | None
    tags: list[str]
    version: int
    parent_id: str | None
    parent_version: int | None
    created_at: Time
    updated_at: Time

    @classmethod
    def of(cls, head: Head) -> "HeadAnswer":
        return cls(**_head_fields(head))


class DefinitionAnswer(HeadAnswer):
    content: ContentBody
    scenario_count: int
    warnings: list[Told]

    @classmethod
    def of_definition(cls, definition: Definition) -> "DefinitionAnswer":
        return cls(
            **{**_head_fields(definition.head), "version": definition.version},
            content=ContentBody.model_validate(definition.content.to_json()),
            scenario_count=definition.scenario_count,
            warnings=[Told.of(warning) for warning in definition.warnings],
        )


class DefinitionList(Answer):
    items: list[HeadAnswer]
    next_cursor: str | None


def _head_fields(head: Head) -> dict[str, Any]:
    return {
        "id": head.id,
        "name": head.name,
        "folder": head.folder,
        "tags": list(head.tags),
        "version": head.version,
        "parent_id": head.parent and head.parent.definition_id,
        "parent_version": head.parent and head.parent.number,
        "created_at": head.created_at,
        "updated_at": head.updated_at,
    }


class ScenariosRequest(Request):
    items: Annotated[list[ScenarioItem], Field(min_length=1, max_length=MAX_ITEMS)]


class ImportRequest(Request):
    """CSV columns: `prompt` or `messages` (JSON), `name`, `dimension:<name>`, `metadata:<key>`, any other field of an
    item (`assertions` as JSON, `personaIds` separated by commas), or a dimension's name. JSONL: an item per line. All
    lines are imported, or none."""

    format: Format
    content: Annotated[str, Field(strict=True, min_length=1, description="The text of the file")]
    replace: Annotated[Flag, Field(description="Whether the definition's other scenarios go")] = False


class AddedAnswer(Answer):
    ids: Annotated[list[str], Field(description="Of the new scenarios, in order")]
    total: Annotated[int, Field(description="How many scenarios the definition has now")]


class MessageAnswer(Answer):
    role: Role
    content: str


class ScenarioAnswer(Answer):
    id: str
    name: str
    messages: list[MessageAnswer]
    dimensions: dict[str, float | int]
    metadata: dict[str, Any]
    instructions: str | None = None
    max_messages: int | None = None
    success_criteria: str | None = None
    failure_criteria: str | None = None
    failure_criteria_mode: FailureMode = FailureMode.ON_MAX_MESSAGES
    assertions: Annotated[list[dict[str, Any]], Field(default_factory=list)]
    persona_ids: Annotated[list[str], Field(default_factory=list)]

    @classmethod
    def of(cls, scenario: Scenario) -> "ScenarioAnswer":
        return cls.model_validate(scenario.to_json())


class ScenarioList(Answer):
    items: list[ScenarioAnswer]
    next_cursor: str | None


class GenerationRequest(Request):
    """`matrix` renders the template for every combination of levels; in mode `llm`, `model` writes a text for each."""

    mode: Mode
    options: Options = Options.FIRST
    seed: Annotated[int | None, Field(strict=True, ge=0, lt=2**53, description="Drawn when left out")] = None
    model: Annotated[str | None, Field(strict=True, min_length=3, max_length=256, description="provider/name")] = None
    replace: Annotated[Flag, Field(description="Whether the definition's other scenarios go")] = False

    def spec(self) -> GenerationSpec:
        return GenerationSpec(self.mode, self.options, self.seed, self.model, self.replace)


class GenerationProgress(Answer):
    total: int
    completed: int


class GenerationAnswer(Answer):
    id: str
    definition_id: str
    definition_version: int
    mode: Mode
    options: Options
    seed: int
    model: str | None
    replace: bool
    status: GenerationStatus
    progress: GenerationProgress
    error: str | None
    created_at: Time
    updated_at: Time

    @classmethod
    def of(cls, generation: Generation) -> "GenerationAnswer":
        progress = GenerationProgress(total=generation.total, completed=generation.completed)
        names = set(cls.model_fields) - {"progress"}
        return cls(progress=progress, **{name: getattr(generation, name) for name in names})
