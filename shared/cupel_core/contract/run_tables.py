"""What tables of a large run are drawn from: its probes as columns, the names of its cases, excerpts and matches."""

from typing import Annotated

from pydantic import Field

from cupel_core.contract.common import ResponseModel, read_from
from cupel_core.domain.runs.excerpts import MAX_CHARACTERS
from cupel_core.domain.runs.probe_columns import MAX_NAMES


class ProbeColumnsResponse(ResponseModel):
    """Lists of the same length, with an entry per probe. An entry is null where the probe has no such figure."""

    run_id: str
    first_index: Annotated[
        int, Field(description="Index of the first probe; the others follow"), read_from("indexes.start")
    ]
    is_final: Annotated[
        bool, Field(description="Whether the run has ended: only a retry, expansion or correction changes the block")
    ]
    column: Annotated[list[int], Field(description="Position among the columns of the run's results")]
    case: Annotated[list[int], Field(description="Position among the cases of the run")]
    repeat: Annotated[list[int], Field(description="Number of the repeat, from 0")]
    completed: Annotated[
        list[bool | None], Field(description="True with a transcript, false if errored, null without an outcome")
    ]
    success: Annotated[list[bool | None], Field(description="The result; null if there is none")]
    score: Annotated[list[float | None], Field(description="Of the result, from 0 to 1")]
    decision: Annotated[list[str | None], Field(description="Decision code")]
    tags: Annotated[list[list[int]], Field(description="Tags of failed assertions, as positions in `tagNames`")]
    failed_checks: Annotated[list[list[int]], Field(description="Failed assertions, as positions in `checkNames`")]
    turns: Annotated[list[int | None], Field(description="Main model calls")]
    input_tokens: Annotated[list[int | None], Field(description="Of the target's calls")]
    output_tokens: Annotated[list[int | None], Field(description="Of the target's calls")]
    duration_ms: Annotated[list[int | None], Field(description="Of the target's calls, without waiting")]
    cost_usd: Annotated[list[float | None], Field(description="Of all its calls; null if a price is unknown")]
    error_code: Annotated[list[str | None], Field(description="Of errored probes")]
    tag_names: Annotated[list[str], Field(description=f"At most {MAX_NAMES}; further tags are left out")]
    check_names: Annotated[list[str], Field(description=f"At most {MAX_NAMES}; further assertions are left out")]


class ProbeExcerptResponse(ResponseModel):
    index: Annotated[int, Field(description="Of the probe"), read_from("probe_index")]
    answer: Annotated[
        str | None,
        Field(description=f"The last answer, at most {MAX_CHARACTERS} characters; null if errored, deleted or expired"),
    ]
    reason: Annotated[
        str | None, Field(description="Of the result or the decision, or the error's message; as long as that")
    ]
    content_available: Annotated[
        bool,
        Field(description="False once the conversation was deleted or has expired"),
        read_from("is_content_available"),
    ]


class ProbeExcerptListResponse(ResponseModel):
    items: Annotated[list[ProbeExcerptResponse], Field(description="Without probes that have no outcome")]


class ProbeMatchesResponse(ResponseModel):
    indexes: Annotated[list[int], Field(description="Probes whose conversation has all words, ascending")]
    next_index: Annotated[int | None, Field(description="`first` of the next request; null at the end of the run")]


class CaseNameResponse(ResponseModel):
    index: Annotated[int, Field(description="Position among the cases of the run, from 0")]
    scenario_id: str
    scenario_name: Annotated[str | None, Field(description="Null only if the run's snapshot is gone")]
    persona_id: str | None
    persona_name: str | None
    dimensions: Annotated[dict[str, float], Field(description="The scenario's score by dimension")]


class CaseNameListResponse(ResponseModel):
    items: list[CaseNameResponse]
    next_index: Annotated[int | None, Field(description="`first` of the next request; null after the last case")]
