"""Data of the tables of a large run: its probes as columns, the names of its cases, excerpts and matches."""

from typing import Annotated

from pydantic import Field

from cupel_core.contract.common import ResponseModel, read_from
from cupel_core.domain.runs.case_texts import MAX_CHARACTERS, MAX_VALUE_CHARACTERS, MAX_VALUES
from cupel_core.domain.runs.probe_columns import MAX_NAMES


class ProbeColumnsResponse(ResponseModel):
    """Lists of the same length, with an entry per probe. An entry is null where the probe has no such figure."""

    run_id: str
    first_index: Annotated[int, read_from("indexes.start")]
    """Index of the first probe; the others follow. Example: 21"""
    is_final: bool
    """True if the run has ended: only a retry, expansion or correction changes the block. Example: true"""
    column: list[int]
    """Position among the columns of the run's results. Example: [0, 0, 0]"""
    case: list[int]
    """Position among the cases of the run. Example: [7, 7, 7]"""
    repeat: list[int]
    """Number of the repeat, from 0. Example: [0, 1, 2]"""
    completed: list[bool | None]
    """True with a transcript, false if errored, null without an outcome. Example: [true, true, false]"""
    success: list[bool | None]
    """The result; null if there is none. Example: [true, false, null]"""
    score: list[float | None]
    """Score of the result, from 0 to 1. Example: [0.9, 0.2, null]"""
    decision: list[str | None]
    """Decision code. Example: ["4", "2", null]"""
    tags: list[list[int]]
    """Tags of failed assertions, as positions in `tagNames`. Example: [[], [0], []]"""
    failed_checks: list[list[int]]
    """Failed assertions, as positions in `checkNames`. Example: [[], [0], []]"""
    passed_checks: list[list[int]]
    """Passed assertions, as positions in `checkNames`. Example: [[0], [], []]"""
    turns: list[int | None]
    """Main model calls. Example: [1, 1, null]"""
    input_tokens: list[int | None]
    """Input tokens of the target's calls. Example: [412, 412, null]"""
    output_tokens: list[int | None]
    """Output tokens of the target's calls. Example: [96, 120, null]"""
    duration_ms: list[int | None]
    """Duration of the target's calls, without waiting. Example: [1840, 2015, null]"""
    cost_usd: list[float | None]
    """Cost of all its calls; null if a price is unknown. Example: [0.0042, 0.0039, 0.0]"""
    error_code: list[str | None]
    """Codes of errored probes. Example: [null, null, "timeout"]"""
    tag_names: Annotated[list[str], Field(description=f"At most {MAX_NAMES}; further tags are left out")]
    """Example: ["policy"]"""
    check_names: Annotated[list[str], Field(description=f"At most {MAX_NAMES}; further assertions are left out")]
    """Example: ["llm-rubric"]"""


class ProbeExcerptResponse(ResponseModel):
    index: Annotated[int, read_from("probe_index")]
    """Index of the probe."""
    answer: Annotated[
        str | None,
        Field(description="The last answer, up to `characters`; null if errored, deleted or expired"),
    ]
    """Example: You can return it within 30 days."""
    reason: str | None
    """Reason of the result or decision, or the error's message; cut like `answer`."""
    content_available: Annotated[bool, read_from("is_content_available")]
    """False once the conversation was deleted or has expired. Example: true"""


class ProbeExcerptListResponse(ResponseModel):
    items: list[ProbeExcerptResponse]
    """Probes with an outcome."""


class ProbeMatchesResponse(ResponseModel):
    indexes: list[int]
    """Probes whose conversation has all words, ascending. Example: [21, 22]"""
    next_index: int | None
    """`first` of the next request; null at the end of the run. Example: 1000"""


class CaseNameResponse(ResponseModel):
    index: int
    """Position among the cases of the run, from 0."""
    scenario_id: str
    scenario_name: str | None
    """Null only if the run's snapshot is gone."""
    persona_id: str | None
    persona_name: str | None
    dimensions: dict[str, float]
    """The scenario's score by dimension."""


class CaseNameListResponse(ResponseModel):
    items: list[CaseNameResponse]
    next_index: int | None
    """`first` of the next request; null after the last case. Example: 1000"""


class CaseTextResponse(ResponseModel):
    index: int
    """Position among the cases of the run, from 0."""
    input: Annotated[
        str | None,
        Field(
            description=f"The user's first message or the simulated user's goal, at most {MAX_CHARACTERS} characters; "
            "null if the run's snapshot is gone"
        ),
    ]
    """Example: Can I return a kettle?"""
    expected: str | None
    """The reference answer, criterion of success, or the scenario's own checks; cut like `input`. Example: equals: 30"""
    values: Annotated[
        dict[str, str],
        Field(
            description=f"The first {MAX_VALUES} variables and metadata, as texts of at most "
            f"{MAX_VALUE_CHARACTERS} characters"
        ),
    ]
    """Example: {"tone": "short"}"""


class CaseTextListResponse(ResponseModel):
    items: list[CaseTextResponse]
    next_index: int | None
    """`first` of the next request; null after the last case. Example: 100"""
