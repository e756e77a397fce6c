"""Lets a model read sample conversations of a run, find what fails, with quotations, and revise the prompt."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.material import MaterialValue, reading_request
from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.conversations.model_request import ModelRequest
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.reports.summaries import (
    MAX_OUTPUT_TOKENS,
    MAX_RATIONALE_WORDS,
    MAX_SUMMARY_WORDS,
    UNAVAILABLE,
    Finding,
    Quotation,
    revised_prompt_repair,
    word_count,
)
from cupel_core.scoring.grading.grader import Grader, GraderReply, GraderRole, request_structured
from cupel_core.scoring.grading.replies import StructuredReply

PROMPT_VERSION = 2
"""Another version of the instructions gives another report."""
MAX_REPLY_LENGTH = 100_000
"""A reply with more characters is not read."""
_INSTRUCTIONS = f"""You write the summary of an evaluation: conversations of an assistant that follows a system prompt.
You are given the "systemPrompt", "figures", and sample "transcripts".

Rules:
1. Answer with one JSON object and nothing else: no text around it, no code fence, no reasoning.
2. Use only what the material shows. Where it does not say something, write exactly "{UNAVAILABLE}".
3. Every finding has evidence: the id of a transcript that you were given, and a quotation copied verbatim from one of
   its messages or from its reason.
4. Do not count and do not estimate: figures are computed elsewhere.

Fields:
- "failureModes", "hallucinations", "goalFailures", "inconsistencies": at most 7 findings each; an empty list if there
  are none. A finding has "title", "description", "tags" (failure tags from the figures) and "evidence", a list of
  {{"transcriptId", "quote"}}.
- "summary": at most {MAX_SUMMARY_WORDS} words.
- "revisedPrompt": the whole system prompt, changed as little as the findings require. Keep every [placeholder].
- "rationale": why these changes, at most {MAX_RATIONALE_WORDS} words."""


def _at_most(words: int) -> AfterValidator:
    def check(text: str) -> str:
        if word_count(text) > words:
            raise ValueError(f"must have at most {words} words")
        return text

    return AfterValidator(check)


_STRICT = ConfigDict(alias_generator=to_camel, strict=True)
_Id = Annotated[str, Field(min_length=1, max_length=200)]


class _EvidenceReply(StructuredReply):
    model_config = _STRICT

    transcript_id: _Id
    quote: Annotated[str, Field(min_length=1, max_length=1_000)]


class _FindingReply(StructuredReply):
    model_config = _STRICT

    title: _Id
    description: Annotated[str, Field(max_length=2_000)]
    tags: Annotated[list[_Id], Field(max_length=10)]
    evidence: Annotated[list[_EvidenceReply], Field(max_length=10)]

    def finding(self) -> Finding:
        evidence = tuple(Quotation(each.transcript_id, each.quote) for each in self.evidence)
        return Finding(self.title, self.description, tuple(self.tags), evidence)


_Findings = Annotated[list[_FindingReply], Field(max_length=7)]


class SummaryReply(StructuredReply):
    """The reply required of a summarizer."""

    model_config = _STRICT

    failure_modes: _Findings
    hallucinations: _Findings
    goal_failures: _Findings
    inconsistencies: _Findings
    summary: Annotated[str, Field(min_length=1, max_length=5_000), _at_most(MAX_SUMMARY_WORDS)]
    revised_prompt: Annotated[str, Field(min_length=1, max_length=50_000)]
    rationale: Annotated[str, Field(min_length=1, max_length=5_000), _at_most(MAX_RATIONALE_WORDS)]


@dataclass(frozen=True)
class ShownTranscript:
    result: str
    tags: tuple[str, ...]
    reason: str
    messages: tuple[tuple[str, str], ...]

    @property
    def quotable_texts(self) -> tuple[str, ...]:
        return (self.reason, *(text for _, text in self.messages))

    @property
    def material(self) -> dict[str, MaterialValue]:
        messages: list[MaterialValue] = [{"role": role, "content": text} for role, text in self.messages]
        return {"result": self.result, "tags": self.tags, "reason": self.reason, "messages": messages}


@dataclass(frozen=True)
class SummaryMaterial:
    system: str | None
    figures: tuple[str, ...]
    transcripts: Mapping[str, ShownTranscript]
    """The keys are ids of transcripts."""

    @property
    def json(self) -> dict[str, MaterialValue]:
        transcripts: list[MaterialValue] = [{"id": key, **each.material} for key, each in self.transcripts.items()]
        return {"systemPrompt": self.system, "figures": self.figures, "transcripts": transcripts}


def summary_request(material: SummaryMaterial) -> ModelRequest:
    parameters = ModelParameters(temperature=0.0, max_output_tokens=MAX_OUTPUT_TOKENS)
    return reading_request(_INSTRUCTIONS, material.json, parameters)


async def summarize(
    grader: Grader, material: SummaryMaterial, interrupted: list[Spend] | None = None
) -> GraderReply[SummaryReply]:
    """Ask the summarizer for the summary. Raises GraderError without a usable reply, even after one repair.

    A revised prompt that cannot be offered is also a reason for that repair; the other parts of the reply are used
    whether or not it succeeds.
    """
    summarizer = replace(grader, role=GraderRole.SUMMARIZER, model_role=ModelRole.REPORT)
    request = summary_request(material)

    def find_issue(reply: SummaryReply) -> str | None:
        return revised_prompt_repair(material.system, reply.revised_prompt)

    return await request_structured(summarizer, request, SummaryReply, interrupted, _whole_reply, find_issue)


def _whole_reply(reply_type: type[SummaryReply], text: str) -> SummaryReply:
    """Read the reply strictly, because it is no verdict: text beside its object, or a huge reply, is refused."""
    return reply_type.model_validate_json(text.strip() if len(text) <= MAX_REPLY_LENGTH else "")
