"""A deep analysis in sentences."""

from typing import Annotated

from pydantic import Field

from cupel_core.contract.analysis import FiguresModel, Interval95
from cupel_core.domain.analysis.narratives import NarrativeTopic


class NarrativeFactResponse(FiguresModel):
    """A figure that the sentences cite."""

    id: Annotated[str, Field(description="Unique in this analysis")]
    label: Annotated[str, Field(description="What it is")]
    value: Annotated[float, Field(description="The figure")]
    interval: Interval95
    n: Annotated[int | None, Field(description="What it is computed from, such as scenarios; null if it says itself")]


class NarrativeFindingResponse(FiguresModel):
    """What the figures say about one topic."""

    topic: Annotated[NarrativeTopic, Field(description="What it is about")]
    text: Annotated[str, Field(description="`information unavailable` if the figures say nothing about it")]
    facts: Annotated[list[str], Field(description="Ids of the figures that it rests on")]


class DroppedFindingResponse(FiguresModel):
    """A finding whose citations did not hold."""

    topic: Annotated[NarrativeTopic, Field(description="What it is about")]
    reason: Annotated[str, Field(description="What did not hold")]


class NarrativeResponse(FiguresModel):
    """The analysis in sentences, by rules or a model; each number in them is one of the figures that they cite."""

    headline: Annotated[str, Field(description="The main finding")]
    findings: Annotated[list[NarrativeFindingResponse], Field(description="One of each topic")]
    limitations: Annotated[list[str], Field(description="At most five")]
    next_steps: Annotated[list[str], Field(description="At most three")]
    facts: Annotated[list[NarrativeFactResponse], Field(description="All that is cited")]
    dropped: Annotated[
        list[DroppedFindingResponse],
        Field(description="Findings that are not shown; rules wrote those in their place"),
    ]
    model: Annotated[str | None, Field(description="Model that was asked to write it; null for rules alone")]
    calls: Annotated[int, Field(description="Of this model")]
    cost_usd: Annotated[float | None, Field(description="Of these calls; null without any, or if a price is unknown")]
    error: Annotated[str | None, Field(description="Why the model's sentences are missing; rules wrote all of them")]
