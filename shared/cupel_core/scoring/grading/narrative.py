"""Lets a model write the narrative of a deep analysis from its figures; it reads no conversation."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel

from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import Invalid
from cupel_core.domain.analysis.narrating import (
    WrittenNarrative,
    checked_narrative,
    facts_text,
    narrate,
    narrative_facts,
    read_facts,
)
from cupel_core.domain.analysis.narrative_statements import Material
from cupel_core.domain.analysis.narratives import (
    MAX_CITED,
    MAX_LIMITATIONS,
    MAX_STEPS,
    MAX_WORDS,
    UNAVAILABLE,
    Narrative,
    NarrativeFact,
    NarrativeFinding,
    NarrativeTopic,
)
from cupel_core.domain.conversations.material import reading_request
from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.text.control_characters import has_control_characters, single_line
from cupel_core.providers.errors import NO_REPLY
from cupel_core.scoring.grading.grader import Grader, GraderError, GraderReply, GraderRole, request_structured
from cupel_core.scoring.grading.replies import StructuredReply

UNWRITTEN = (*NO_REPLY, Invalid)
"""One of these is raised when the model cannot be called, or gives no usable reply."""
PROMPT_VERSION = 2
"""Another version of the instructions makes the model write again."""
MAX_OUTPUT_TOKENS = 1_500
MAX_HEADLINE_WORDS = 25
_TOPICS = ", ".join(f'"{topic}"' for topic in NarrativeTopic)
_INSTRUCTIONS = f"""You write the narrative of a statistical analysis for its readers: how several targets answered the
same scenarios. You are given "figures" with an id, a label, a value, and for some a 95% interval and n.

Rules:
1. Answer with one JSON object and nothing else.
2. Use only these figures. Every number in your text is a value of a figure that the same finding cites, rounded.
3. A p of 0.05 or more shows nothing: do not call such an effect clear. Do not explain causes.
4. "findings" has each topic exactly once: {_TOPICS}. A finding has "topic", "text" (at most {MAX_WORDS} words) and
   "facts", the ids of the 1 to {MAX_CITED} figures that it rests on. A topic without figures has the text
   "{UNAVAILABLE}" and no facts.
5. "headline" has at most {MAX_HEADLINE_WORDS} words, "limitations" at most {MAX_LIMITATIONS} sentences, "nextSteps" at
   most {MAX_STEPS}."""


def _words(limit: int) -> AfterValidator:
    def check(text: str) -> str:
        if len(text.split()) > limit:
            raise ValueError(f"must have at most {limit} words")
        if not text.strip() or has_control_characters(text):
            raise ValueError("must be one line of text")
        return text

    return AfterValidator(check)


_CAMEL = ConfigDict(alias_generator=to_camel)
_ONE_LINE = BeforeValidator(lambda value: single_line(value) if isinstance(value, str) else value)
_Sentence = Annotated[str, Field(min_length=1, max_length=1_000), _words(MAX_WORDS), _ONE_LINE]


class _NarrativeFindingReply(StructuredReply):
    model_config = _CAMEL

    topic: NarrativeTopic
    text: _Sentence
    facts: Annotated[list[Annotated[str, Field(min_length=1, max_length=500)]], Field(max_length=MAX_CITED)]


class NarrativeReply(StructuredReply):
    """The reply required of the model."""

    model_config = _CAMEL

    headline: Annotated[str, Field(min_length=1, max_length=500), _words(MAX_HEADLINE_WORDS), _ONE_LINE]
    findings: Annotated[list[_NarrativeFindingReply], Field(max_length=len(NarrativeTopic))]
    limitations: Annotated[list[_Sentence], Field(max_length=MAX_LIMITATIONS)]
    next_steps: Annotated[list[_Sentence], Field(max_length=MAX_STEPS)]

    @field_validator("findings")
    @classmethod
    def _has_each_topic_once(cls, findings: list[_NarrativeFindingReply]) -> list[_NarrativeFindingReply]:
        if sorted(each.topic for each in findings) != sorted(NarrativeTopic):
            raise ValueError(f"must have each topic exactly once: {_TOPICS}")
        return findings

    def written(self) -> WrittenNarrative:
        findings = tuple(NarrativeFinding(each.topic, each.text, tuple(each.facts)) for each in self.findings)
        return WrittenNarrative(self.headline, findings, tuple(self.limitations), tuple(self.next_steps))


async def write_narrative(
    grader: Grader, figures: str, interrupted: list[Spend] | None = None
) -> GraderReply[NarrativeReply]:
    """Ask the model for a narrative of these figures, which `facts_text` has written. Raises GraderError without a
    usable reply, even after one repair."""
    writer = replace(grader, role=GraderRole.NARRATOR, model_role=ModelRole.SUMMARY)
    parameters = ModelParameters(temperature=0.0, max_output_tokens=MAX_OUTPUT_TOKENS)
    request = reading_request(_INSTRUCTIONS, {"figures": read_facts(figures)}, parameters)
    return await request_structured(writer, request, NarrativeReply, interrupted)


@dataclass(frozen=True)
class NarrativeDraft:
    """Contains the narrative that rules write about figures, and makes the final one after a model was asked."""

    model: str
    by_rules: Narrative
    facts: tuple[NarrativeFact, ...]
    names: tuple[str, ...]
    """Lists the names of targets, dimensions and scenarios, whose digits are no figures."""

    @classmethod
    def of(cls, model: str, material: Material) -> "NarrativeDraft":
        by_rules = narrate(material)
        return cls(model, by_rules, tuple(narrative_facts(material, by_rules.facts)), tuple(material.all_names))

    @property
    def figures(self) -> str:
        return facts_text(self.facts)

    def with_reply(self, reply: NarrativeReply, spend: Spend) -> Narrative:
        return self._charged(checked_narrative(reply.written(), self.by_rules, self.facts, self.names), spend)

    def without_reply(self, error: Exception, interrupted: Iterable[Spend]) -> Narrative:
        """Return the narrative after one of `UNWRITTEN` was raised; `interrupted` is that of `write_narrative`."""
        spend = error.spend if isinstance(error, GraderError) else sum(interrupted, Spend())
        why = getattr(error, "detail", "") or "there was not enough time for the call"
        return replace(self._charged(self.by_rules, spend), error=why)

    def _charged(self, narrative: Narrative, spend: Spend) -> Narrative:
        cost_usd = spend.cost_usd if spend.calls else None
        return replace(narrative, model=self.model, calls=spend.calls, cost_usd=cost_usd)
