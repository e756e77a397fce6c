"""A definition's content as people write it, in a request or in a file."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from cupel_core.contract.scenarios import Assertions, Document, Score

Words = Annotated[str, StringConstraints(strict=True, max_length=200_000)]


class _Body(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True, defer_build=True)


class LevelBody(_Body):
    score: Score
    label: Annotated[str, StringConstraints(strict=True, max_length=500)]
    description: Annotated[str, StringConstraints(strict=True, max_length=5_000)] | None = None
    options: Annotated[list[Words], Field(default_factory=list, max_length=1_000)]
    """What may stand in the placeholder's place; the label if there are none."""


class DimensionBody(_Body):
    name: Annotated[str, StringConstraints(strict=True, min_length=1, max_length=100)]
    levels: Annotated[list[LevelBody], Field(max_length=1_000)]


class DecisionBody(_Body):
    """How a decision code is read: by a pattern, or by a judge."""

    pattern: Annotated[
        str | None, Field(strict=True, description="A regular expression; its first group is the decision code")
    ] = None
    rubric: Words | None = None
    judge_model: Annotated[str | None, Field(strict=True, max_length=256, description="provider/name")] = None


class ContentBody(_Body):
    """In a change or a fork, a field that is left out stays as it is, and null unsets it."""

    system: Words | None = None
    template: Annotated[
        Words | None, Field(description="The prompt, with a `[placeholder]` for each dimension by its name")
    ] = None
    dimensions: Annotated[list[DimensionBody], Field(max_length=100)] | None = None
    matching_rules: Annotated[list[Document], Field(max_length=1_000)] | None = None
    follow_ups: Annotated[list[Words], Field(max_length=99)] | None = None
    max_turns: Annotated[int, Field(strict=True, ge=1, le=100)] | None = None
    decision: DecisionBody | None = None
    assertions: Assertions | None = None
    """Hold for every scenario, beside its own."""

    def given(self) -> dict[str, Any]:
        return self.model_dump(by_alias=True, exclude_unset=True)
