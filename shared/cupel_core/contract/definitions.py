"""Definitions and their scenarios."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from cupel_core.contract.budgets import MaxBudgetUsd, OwnBudgetResponse
from cupel_core.contract.common import RequestModel, ResponseModel, Time, example
from cupel_core.contract.definition_content import DefinitionContent
from cupel_core.contract.fields import SINGLE_LINE, Flag, Label, ModelId, Seed, not_blank
from cupel_core.contract.left_out_checks import LeftOutCounts
from cupel_core.contract.results import MessageResponse
from cupel_core.contract.scenarios import ScenarioItem
from cupel_core.contract.tool_results import ToolResults
from cupel_core.domain.conversations.conversation import FailureCriteriaMode
from cupel_core.domain.definitions.definitions import ContentIssue, Definition, Labels
from cupel_core.domain.definitions.generations import GenerationMode, GenerationSpec, GenerationStatus, GenerationView
from cupel_core.domain.definitions.matrix import LevelOptionChoice
from cupel_core.domain.definitions.scenario_files import ImportFormat
from cupel_core.domain.definitions.scenarios import Scenario

MAX_SCENARIOS = 1_000
"""Per request."""


def _without_duplicates(texts: list[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _folder_path(text: str) -> str:
    if text and not all(name.strip() for name in text.split("/")):
        raise ValueError("must be names separated by single slashes, such as support/refunds")
    return text


Name = Annotated[
    str, StringConstraints(strict=True, min_length=1, max_length=200), AfterValidator(not_blank), SINGLE_LINE
]
Folder = Annotated[
    str,
    StringConstraints(strict=True, max_length=200),
    AfterValidator(_folder_path),
    SINGLE_LINE,
    Field(description="Names separated by single slashes, such as `support/refunds`; empty for none"),
]
Tags = Annotated[list[Label], Field(max_length=50), AfterValidator(_without_duplicates)]
VersionLabel = Annotated[Label, Field(description="A name for the version, such as `v1.2`")]
Replace = Annotated[Flag, Field(description="Replace the definition's existing scenarios")]
Scenarios = Annotated[
    list[ScenarioItem],
    Field(max_length=MAX_SCENARIOS, description="All scenarios of the version; further ones can be added"),
]


class CreateDefinition(RequestModel):
    model_config = example(
        {
            "name": "Refund policy",
            "folder": "support",
            "tags": ["refunds"],
            "content": {
                "system": "You are a support agent of an online shop.",
                "template": "A customer asks for a refund after [delay]. Answer the customer.",
                "dimensions": [
                    {
                        "name": "delay",
                        "levels": [{"score": 1, "label": "two days"}, {"score": 5, "label": "two months"}],
                    }
                ],
                "decision": {"rubric": "1 = refused, 5 = granted", "judgeModel": "openai/gpt-6.1-terra"},
                "assertions": [{"type": "contains", "value": "refund"}],
            },
            "scenarios": [{"name": "late refund", "prompt": "I want my money back.", "dimensions": {"delay": 5}}],
        }
    )

    name: Name
    folder: Folder | None = None
    tags: Annotated[Tags, Field(default_factory=list)]
    content: DefinitionContent | None = None
    scenarios: Annotated[Scenarios, Field(default_factory=list)]

    version_label: VersionLabel | None = None

    def labels(self) -> Labels:
        return Labels(self.name, self.folder, tuple(self.tags), self.version_label)

    def specified_content(self) -> dict[str, Any]:
        """The fields of the content that were sent; none without a content."""
        return self.content.specified() if self.content else {}


class DefinitionChanges(RequestModel):
    """What an update and a fork may change."""

    name: Name | None = None
    folder: Folder | None = None
    tags: Tags | None = None
    content: DefinitionContent | None = None
    version_label: VersionLabel | None = None

    def labels(self) -> Labels:
        folder = self.folder or "" if "folder" in self.model_fields_set else None
        version_label = self.version_label or "" if "version_label" in self.model_fields_set else None
        return Labels(self.name, folder, None if self.tags is None else tuple(self.tags), version_label)


class UpdateDefinition(DefinitionChanges):
    """Omitted fields keep their value; a null `folder` removes the definition from its folder. New content, scenarios
    or both create the next version; `versionLabel` names it or, without them, the latest version."""

    model_config = example({"name": "Refund policy, 2027", "content": {"maxTurns": 4}})

    scenarios: Scenarios | None = None


class ForkDefinition(DefinitionChanges):
    """Fields of `content` override the parent's; all others are inherited."""

    model_config = example(
        {"name": "Refund policy (strict)", "version": 3, "content": {"system": "You are a strict support agent."}}
    )

    version: Annotated[
        int | None, Field(strict=True, ge=1, description="Version of the parent to fork; defaults to the latest")
    ] = None


class WarningResponse(ResponseModel):
    """A warning about a field that is valid but probably not intended."""

    field: str
    message: str

    @classmethod
    def of(cls, warning: ContentIssue) -> "WarningResponse":
        return cls.from_value(warning, field=f"content.{warning.field}".rstrip("."))


class DefinitionSummaryResponse(ResponseModel):
    id: str
    name: str
    folder: str | None
    tags: list[str]
    version: int
    version_label: Annotated[str | None, Field(description="The name that was given to this version")]
    parent_id: Annotated[str | None, Field(description="The definition it was forked from")]
    parent_version: int | None
    created_at: Time
    updated_at: Time


class DefinitionResponse(DefinitionSummaryResponse):
    content: DefinitionContent
    scenario_count: Annotated[int, Field(description="Number of scenarios of this version")]
    warnings: list[WarningResponse]

    @classmethod
    def of_definition(cls, definition: Definition) -> "DefinitionResponse":
        return cls.from_value(
            definition.head,
            version=definition.version,
            content=definition.content.to_json(),
            scenario_count=definition.scenario_count,
            warnings=[WarningResponse.of(warning) for warning in definition.warnings],
        )


class DefinitionPage(ResponseModel):
    items: list[DefinitionSummaryResponse]
    next_cursor: str | None


class CreateScenarios(RequestModel):
    model_config = example(
        {
            "items": [
                {
                    "name": "late refund",
                    "prompt": "I bought this two months ago and want my money back.",
                    "dimensions": {"delay": 5},
                    "successCriteria": "The agent explains the 30-day limit.",
                }
            ]
        }
    )

    items: Annotated[list[ScenarioItem], Field(min_length=1, max_length=MAX_SCENARIOS)]


class ImportScenarios(RequestModel):
    """Either all lines are imported or none.

    CSV columns: `prompt` or `messages` (as JSON), `name`, `dimension:<name>`, `metadata:<key>`, a dimension's name, or
    any other scenario field (`assertions` as JSON, `personaIds` separated by commas). JSONL: one scenario per line.
    """

    model_config = example(
        {
            "format": "csv",
            "content": "name,prompt,dimension:delay\nlate refund,I want my money back.,5\n",
            "replace": False,
        }
    )

    format: ImportFormat
    content: Annotated[str, Field(strict=True, min_length=1, description="Content of the file as text")]
    replace: Replace = False


class ScenariosCreatedResponse(ResponseModel):
    ids: Annotated[list[str], Field(description="Ids of the new scenarios, in order")]
    total: Annotated[int, Field(description="Number of scenarios the definition has now")]
    definition_version: Annotated[int, Field(description="The version of the definition that has them")]


class ScenarioResponse(ResponseModel):
    id: str
    name: str
    messages: list[MessageResponse]
    dimensions: dict[str, float | int]
    metadata: dict[str, Any]
    instructions: Annotated[str | None, Field(description="What the simulated user wants")] = None
    follow_ups: Annotated[
        list[str], Field(default_factory=list, description="User messages after the first answer, in order")
    ]
    separate_turns: Annotated[bool, Field(description="Whether each message is a request of its own")] = False
    max_messages: int | None = None
    success_criteria: str | None = None
    failure_criteria: str | None = None
    failure_criteria_mode: FailureCriteriaMode = FailureCriteriaMode.ON_MAX_MESSAGES
    assertions: Annotated[list[dict[str, Any]], Field(default_factory=list)]
    persona_ids: Annotated[list[str], Field(default_factory=list)]
    messages_by_prompt: Annotated[
        dict[str, list[MessageResponse]],
        Field(default_factory=dict, description="By id of the definition's prompts: messages to start with instead"),
    ]
    tool_results: ToolResults = Field(default_factory=list)
    left_out_checks: LeftOutCounts

    @classmethod
    def of(cls, scenario: Scenario) -> "ScenarioResponse":
        return cls.model_validate(scenario.to_json())


class ScenarioDetailResponse(ScenarioResponse):
    definition_id: str
    definition_version: Annotated[int, Field(description="The version of the definition in which it is like this")]

    @classmethod
    def of_version(cls, scenario: Scenario, definition_id: str, version: int) -> "ScenarioDetailResponse":
        return cls(**vars(ScenarioResponse.of(scenario)), definition_id=definition_id, definition_version=version)


class ScenarioPageResponse(ResponseModel):
    items: list[ScenarioResponse]
    next_cursor: str | None


class GenerateScenarios(RequestModel):
    """Mode `matrix` renders the template for each combination of levels; in mode `llm`, `model` writes a prompt for
    each combination."""

    model_config = example({"mode": "matrix", "options": "first", "seed": 17, "replace": True})

    mode: GenerationMode
    options: Annotated[LevelOptionChoice, Field(description="Which of a level's options is used")] = (
        LevelOptionChoice.FIRST
    )
    seed: Annotated[Seed | None, Field(description="Random seed; chosen at random if omitted")] = None
    model: Annotated[ModelId | None, Field(description="Model id as `provider/name`; for mode `llm` only")] = None
    replace: Replace = False
    allow_unpriced: Annotated[
        Flag,
        Field(
            description="Whether a model whose price is unknown may write although the generation or the workspace has "
            "a budget; it costs nothing"
        ),
    ] = False
    max_budget_usd: Annotated[
        MaxBudgetUsd | None,
        Field(
            description="What the model may cost, in USD; for mode `llm` only. The generation ends with an error once "
            "less is left than the next call may cost. No limit by default"
        ),
    ] = None

    def spec(self) -> GenerationSpec:
        own = (self.allow_unpriced, self.max_budget_usd)
        return GenerationSpec(self.mode, self.options, self.seed, self.model, self.replace, *own)


class GenerationProgressResponse(ResponseModel):
    total: int
    completed: int


class GenerationBudgetResponse(OwnBudgetResponse):
    """What is used of a generation's own budget, as its worker has last reported: at most a minute ago."""


class ScenarioGenerationResponse(ResponseModel):
    id: str
    definition_id: str
    definition_version: int
    mode: GenerationMode
    options: LevelOptionChoice
    seed: int
    model: str | None
    replace: bool
    status: GenerationStatus
    progress: GenerationProgressResponse
    error: Annotated[str | None, Field(description="Why the generation failed")]
    created_at: Time
    updated_at: Time
    budget: Annotated[
        GenerationBudgetResponse | None, Field(description="Null without a budget of its own (`maxBudgetUsd`)")
    ] = None

    @classmethod
    def of(cls, view: GenerationView) -> "ScenarioGenerationResponse":
        generation, account = view
        max_usd = generation.max_budget_usd
        budget = None if max_usd is None else GenerationBudgetResponse.from_value(account, max_budget_usd=max_usd)
        return cls.from_value(generation, progress=generation, budget=budget)
