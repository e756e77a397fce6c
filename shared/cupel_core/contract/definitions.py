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
    """Evaluated content; may be omitted if scenarios have prompts."""
    scenarios: Annotated[Scenarios, Field(default_factory=list)]

    version_label: VersionLabel | None = None
    """Name of the version, for people to read."""

    def labels(self) -> Labels:
        return Labels(self.name, self.folder, tuple(self.tags), self.version_label)

    def specified_content(self) -> dict[str, Any]:
        """The fields of the content that were sent; none without a content."""
        return self.content.specified() if self.content else {}


class DefinitionChanges(RequestModel):
    """Fields that an update and a fork may change."""

    name: Name | None = None
    folder: Folder | None = None
    tags: Tags | None = None
    content: DefinitionContent | None = None
    version_label: VersionLabel | None = None
    """Name of the version, for people to read."""

    def labels(self) -> Labels:
        folder = self.folder or "" if "folder" in self.model_fields_set else None
        version_label = self.version_label or "" if "version_label" in self.model_fields_set else None
        return Labels(self.name, folder, None if self.tags is None else tuple(self.tags), version_label)


class UpdateDefinition(DefinitionChanges):
    """Omitted fields keep their value; a null `folder` removes the definition from its folder. New content, scenarios
    or both create the next version; `versionLabel` names it or, without them, the latest version."""

    model_config = example({"name": "Refund policy, 2027", "content": {"maxTurns": 4}})

    content: DefinitionContent | None = None
    """Fields to replace in the next version; null unsets one."""
    scenarios: Scenarios | None = None
    """Scenarios that replace all existing ones in the next version.

    Example: [{"name": "late refund", "prompt": "I bought this two months ago and want my money back.", "dimensions":
    {"delay": 5}, "successCriteria": "The agent explains the 30-day limit."}]
    """


class ForkDefinition(DefinitionChanges):
    """Fields of `content` override the parent's; all others are inherited."""

    model_config = example(
        {"name": "Refund policy (strict)", "version": 3, "content": {"system": "You are a strict support agent."}}
    )

    content: DefinitionContent | None = None
    """Overrides of the parent's content; what is omitted is inherited."""
    version: Annotated[int | None, Field(strict=True, ge=1)] = None
    """Version of the parent to fork; defaults to the latest."""


class WarningResponse(ResponseModel):
    """A warning about a field that is valid but probably not intended."""

    field: str
    """Path of the field, such as `content.template`. Example: content.template"""
    message: str

    @classmethod
    def of(cls, warning: ContentIssue) -> "WarningResponse":
        return cls.from_value(warning, field=f"content.{warning.field}".rstrip("."))


class DefinitionSummaryResponse(ResponseModel):
    id: str
    """Example: def_01"""
    name: str
    folder: str | None
    """Folder, with `/` between its levels; null for none."""
    tags: list[str]
    """Example: ["refunds"]"""
    version: int
    """Version number, from 1. Example: 3"""
    version_label: str | None
    """The name that was given to this version."""
    parent_id: str | None
    """The definition it was forked from. Example: def_00"""
    parent_version: int | None
    """Version that the fork was made of; null if it is none. Example: 2"""
    created_at: Time
    updated_at: Time


class DefinitionResponse(DefinitionSummaryResponse):
    content: DefinitionContent
    """Evaluated content; for a fork, with what it inherits."""
    scenario_count: int
    """Number of scenarios of this version."""
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
    """Scenarios to add, at most 1,000."""


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
    """Format of the content."""
    content: Annotated[str, Field(strict=True, min_length=1)]
    """Content of the file as text."""
    replace: Replace = False


class ScenariosCreatedResponse(ResponseModel):
    ids: list[str]
    """Ids of the new scenarios, in order. Example: ["scn_01", "scn_02"]"""
    total: int
    """Number of scenarios the definition has now."""
    definition_version: int
    """The version of the definition that has them."""


class ScenarioResponse(ResponseModel):
    id: str
    """Example: scn_01"""
    name: str
    """Example: late refund"""
    messages: list[MessageResponse]
    dimensions: dict[str, float | int]
    """Score of the scenario in each dimension."""
    metadata: dict[str, Any]
    instructions: str | None = None
    """Goal of the simulated user. Example: Ask for a refund after two months."""
    follow_ups: Annotated[list[str], Field(default_factory=list)]
    """User messages after the first answer, in order."""
    separate_turns: bool = False
    """True if each message is a request of its own. Example: false"""
    max_messages: int | None = None
    """Messages of the conversation at most, those of the scenario included. Example: 8"""
    success_criteria: str | None = None
    """The judge's description of a successful conversation. Example: The agent explains the 30-day limit."""
    failure_criteria: str | None = None
    """The judge's description of a failed conversation."""
    failure_criteria_mode: FailureCriteriaMode = FailureCriteriaMode.ON_MAX_MESSAGES
    """Number of failure criteria for a failure: any or all."""
    assertions: Annotated[list[dict[str, Any]], Field(default_factory=list)]
    """Checks of the answer; see docs/assertions.md."""
    persona_ids: Annotated[list[str], Field(default_factory=list)]
    """Personas that hold the conversation, one case each."""
    messages_by_prompt: Annotated[dict[str, list[MessageResponse]], Field(default_factory=dict)]
    """Messages to start with instead, by id of the definition's prompts.

    Example: {"polite": [{"role": "user", "content": "I want my money back."}]}
    """
    tool_results: ToolResults = Field(default_factory=list)
    left_out_checks: LeftOutCounts

    @classmethod
    def of(cls, scenario: Scenario) -> "ScenarioResponse":
        return cls.model_validate(scenario.to_json())


class ScenarioDetailResponse(ScenarioResponse):
    definition_id: str
    definition_version: int
    """The version of the definition in which it is like this."""

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
    """`matrix` combines the levels of dimensions, `llm` has a model write the texts."""
    options: LevelOptionChoice = LevelOptionChoice.FIRST
    """Choice among a level's options."""
    seed: Seed | None = None
    """Random seed; chosen at random if omitted."""
    model: ModelId | None = None
    """Model id as `provider/name`; for mode `llm` only."""
    replace: Replace = False
    allow_unpriced: Flag = False
    """True if a model whose price is unknown may write despite a budget of the generation or the workspace; it costs
    nothing."""
    max_budget_usd: MaxBudgetUsd | None = None
    """Limit of the model's cost in USD, for mode `llm` only. The generation fails once less is left than the next call
    may cost. No limit by default."""

    def spec(self) -> GenerationSpec:
        own = (self.allow_unpriced, self.max_budget_usd)
        return GenerationSpec(self.mode, self.options, self.seed, self.model, self.replace, *own)


class GenerationProgressResponse(ResponseModel):
    total: int
    """Texts to write. Example: 20"""
    completed: int
    """Texts that are written. Example: 20"""


class GenerationBudgetResponse(OwnBudgetResponse):
    """Use of a generation's own budget, as its worker last reported, at most a minute ago."""


class ScenarioGenerationResponse(ResponseModel):
    id: str
    """Example: gen_01"""
    definition_id: str
    definition_version: int
    mode: GenerationMode
    """`matrix` combines the levels of dimensions, `llm` has a model write the texts."""
    options: LevelOptionChoice
    """Options of the generation."""
    seed: int
    """Seed of the selection of combinations."""
    model: str | None
    replace: bool
    """True if the new scenarios replace the existing ones. Example: true"""
    status: GenerationStatus
    progress: GenerationProgressResponse
    error: str | None
    """Cause of the failure."""
    created_at: Time
    updated_at: Time
    budget: GenerationBudgetResponse | None = None
    """Null without a budget of its own (`maxBudgetUsd`)."""

    @classmethod
    def of(cls, view: GenerationView) -> "ScenarioGenerationResponse":
        generation, account = view
        max_usd = generation.max_budget_usd
        budget = None if max_usd is None else GenerationBudgetResponse.from_value(account, max_budget_usd=max_usd)
        return cls.from_value(generation, progress=generation, budget=budget)
