"""A definition's content as it is written in a request or in a file, and returned in responses."""

from typing import Annotated, Any

from pydantic import Field, StringConstraints, model_validator

from cupel_core.contract.common import RequestModel, example, with_defaults
from cupel_core.contract.fields import SINGLE_LINE, Assertions, Count100, JsonObject, Label, LongText, Score
from cupel_core.contract.parameters import ModelParametersInput
from cupel_core.contract.scenarios import Messages
from cupel_core.contract.tool_results import ToolResults
from cupel_core.domain.scoring.derived_metrics import MAX_DERIVED_METRICS, MAX_LENGTH


class DimensionLevel(RequestModel):
    score: Score
    """Score of scenarios with this level. Example: 5"""
    label: Annotated[str, StringConstraints(strict=True, max_length=500)]
    """Example: two months"""
    description: Annotated[str, StringConstraints(strict=True, max_length=5_000)] | None = None
    """Example: Long after the limit"""
    options: Annotated[list[LongText], Field(default_factory=list, max_length=1_000)]
    """Texts for the placeholder; the label if there are none. Example: ["two months"]"""


class DefinitionDimension(RequestModel):
    name: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=100)]
    """Example: delay"""
    levels: Annotated[list[DimensionLevel], Field(max_length=1_000)]
    """The levels, from which scenarios are made."""


class FavoredDimensions(RequestModel):
    """The dimensions between which a decision decides; analyses then have win rates."""

    one: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=200), Field(alias="1")]
    """Favored by 1 and 2. Example: price"""
    five: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=200), Field(alias="5")]
    """Favored by 4 and 5. Example: delay"""


class DecisionRule(RequestModel):
    """Rule for a transcript's decision: a pattern or a judge with a rubric gives its code; the judge (`judgeModel`,
    else that of the run), or else the start of the answer, gives its text."""

    pattern: Annotated[str | None, Field(strict=True)] = None
    """A regular expression; its first group is the decision code. Example: Decision: ([1-5])"""
    rubric: LongText | None = None
    """Instructions of the judge. Example: 1 = refused, 5 = granted"""
    judge_model: Annotated[str | None, Field(strict=True, max_length=256)] = None
    """Model id as `provider/name`."""
    favors: FavoredDimensions | None = None
    """Which dimension a decision is for, if it is between two."""


class DerivedMetricRule(RequestModel):
    """A metric computed from others."""

    model_config = example({"name": "precision", "value": "tp / (tp + fp)"})

    name: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=200), SINGLE_LINE]
    value: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=MAX_LENGTH)]
    """Expression of the sums of other metrics, such as `tp / (tp + fn)`."""


class PromptInput(RequestModel):
    """A prompt: `template` (a user message), `messages`, or neither, which sends the scenario's own.

    `[placeholders]` in its texts are the scenario's `metadata.vars`, the labels of its dimensions, and `[message]`,
    the scenario's last user message.
    """

    model_config = example(
        {
            "id": "polite",
            "label": "Polite",
            "system": "You are a polite support agent.",
            "template": "A customer writes: [message]",
            "params": {"temperature": 0.2},
        }
    )

    id: Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
    label: Label | None = None
    system: LongText | None = None
    """System prompt, instead of the definition's."""
    template: LongText | None = None
    """A user message with `[placeholders]`."""
    messages: Messages | None = None
    params: ModelParametersInput = with_defaults(ModelParametersInput)
    """They take precedence over the target's, where it knows them."""

    @model_validator(mode="after")
    def _has_one_text(self) -> "PromptInput":
        if self.template is not None and self.messages is not None:
            raise ValueError("must have at most one of template and messages")
        return self


class DefinitionContent(RequestModel):
    """In an update or a fork, omitted fields keep their value and null clears it."""

    system: LongText | None = None
    """System prompt."""
    template: LongText | None = None
    """The prompt, with a `[placeholder]` for each dimension by its name.

    Example: A customer asks for a refund after [delay]. Answer the customer.
    """
    dimensions: Annotated[list[DefinitionDimension], Field(max_length=100)] | None = None
    """What scenarios vary in, with scored levels."""
    matching_rules: Annotated[list[JsonObject] | None, Field(max_length=1_000)] = None
    """Combinations of levels that scenarios are generated from. `{exclude: {dimension: score}}` omits combinations
    that match; `{only: {…}, when: {…}}` keeps, of those that match `when`, only those that match `only`; without
    `when` it applies to all.

    Example: [{"pattern": "(?i)refund granted", "code": "5"}]
    """
    follow_ups: Annotated[list[LongText] | None, Field(max_length=99)] = None
    """User messages after the first, in order."""
    max_turns: Count100 | None = None
    prompts: Annotated[list[PromptInput] | None, Field(max_length=100)] = None
    """Ways to ask: a run has each scenario with each of them."""
    params: ModelParametersInput | None = None
    """Defaults for the targets of runs that know them."""
    tool_results: ToolResults | None = None
    """Results of tool calls in every scenario, after the scenario's own."""
    decision: DecisionRule | None = None
    """Rule that reads a decision code from a transcript."""
    assertions: Assertions | None = None
    """Checks for every scenario, in addition to its own; see docs/assertions.md."""
    derived_metrics: Annotated[list[DerivedMetricRule] | None, Field(max_length=MAX_DERIVED_METRICS)] = None
    """Metrics computed per target from the sums of the results' metrics, in this order."""

    def specified(self) -> dict[str, Any]:
        """The fields that were sent, as JSON."""
        return self.model_dump(by_alias=True, exclude_unset=True)
