"""The model calls that a conversation is expected to need, and their tokens."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Self

from cupel_core.domain.estimates.intervals import Unknowns

ANSWER_TOKENS = 300.0
"""Of a target's answer, unless a lower limit is set."""
REASONING_TOKENS = 700.0
"""That a reasoning model writes besides an answer."""
USER_TOKENS = 60.0
"""Of a message by the simulated user."""
GRADE_TOKENS = 150.0
"""Of a judge's reply, with its reasons."""
OPEN_TURNS = 3.0
"""Of a conversation whose end a judge or the simulated user decides."""
_JUDGE_PROMPT_TOKENS = 300.0
_PERSONA_PROMPT_TOKENS = 250.0


class ModelRole(StrEnum):
    """What a model is called for. The values are the same in the API."""

    TARGET = "target"
    JUDGE = "judge"
    PERSONA = "persona"
    SUMMARY = "summary"


class RoleModel(NamedTuple):
    """A model in a role; None for the target, which differs by column."""

    role: ModelRole
    model: str | None = None


TARGET = RoleModel(ModelRole.TARGET)


@dataclass(frozen=True)
class Calls:
    """Model calls, and the tokens of all of them together."""

    count: float = 0.0
    input_tokens: float = 0.0
    output_tokens: float = 0.0

    def __add__(self, other: Self) -> "Calls":
        return Calls(
            self.count + other.count,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )

    def __mul__(self, factor: float) -> "Calls":
        return Calls(self.count * factor, self.input_tokens * factor, self.output_tokens * factor)


@dataclass(frozen=True)
class ExpectedConversation:
    """What is known of a conversation before it is held. Models that are None are not called."""

    opening_tokens: float
    """Of all messages that it begins with, the system message included."""
    max_turns: int = 1
    scripted_tokens: tuple[float, ...] = ()
    """Of each user message after the first answer."""
    persona_model: str | None = None
    """Writes the user's messages once the script is used up, and the first one if `has_opening` is false."""
    has_opening: bool = True
    simulates_user: bool = False
    judge_model: str | None = None
    """Evaluates the criteria after each answer."""
    criteria_tokens: float = 0.0
    checks: Mapping[str, float] = field(default_factory=dict)
    """How often each model is called for assertions about the last answer."""
    compared: Mapping[str, int] = field(default_factory=dict)
    """By the models that choose the best of several answers: how many there are."""
    summary_model: str | None = None
    """Decides by a rubric what the conversation has shown."""
    reasons: bool = False
    """Whether the target may write tokens that are paid and not part of its answer."""
    answer_limit: int | None = None
    """Tokens that an answer may have, with its reasoning."""

    def turns(self, unknowns: Unknowns) -> float:
        scripted = 1.0 + len(self.scripted_tokens)
        wanted = max(scripted, OPEN_TURNS * unknowns.turns) if self.simulates_user else scripted
        return max(1.0, min(wanted, float(self.max_turns)))

    def calls(self, unknowns: Unknowns) -> dict[RoleModel, Calls]:
        """Each call of the target has everything said before as its input."""
        turns, answer, user = self.turns(unknowns), self._answer_tokens(unknowns), self._user_tokens(unknowns)
        opening, answered = self.opening_tokens * unknowns.input, turns * answer
        asked = turns * opening + turns * (turns - 1) / 2 * (user + answer)
        calls = {TARGET: Calls(turns, asked, turns * self._written_tokens(unknowns))}
        if self.judge_model is not None:
            read = asked + answered + turns * (_JUDGE_PROMPT_TOKENS + self.criteria_tokens * unknowns.input)
            calls[RoleModel(ModelRole.JUDGE, self.judge_model)] = Calls(turns, read, turns * GRADE_TOKENS)
        for model, grading in self._graded_answers(answer):
            judge = RoleModel(ModelRole.JUDGE, model)
            calls[judge] = calls.get(judge, Calls()) + grading
        if self.persona_model is not None and (count := self._generated_messages(turns)):
            read = _PERSONA_PROMPT_TOKENS + (asked + answered) / turns
            calls[RoleModel(ModelRole.PERSONA, self.persona_model)] = Calls(1.0, read, USER_TOKENS) * count
        if self.summary_model is not None:
            read = _JUDGE_PROMPT_TOKENS + opening + (turns - 1) * user + answered
            calls[RoleModel(ModelRole.SUMMARY, self.summary_model)] = Calls(1.0, read, GRADE_TOKENS)
        return calls

    def _graded_answers(self, answer: float) -> list[tuple[str, Calls]]:
        checks = [
            (model, Calls(1.0, _JUDGE_PROMPT_TOKENS + answer, GRADE_TOKENS) * count)
            for model, count in self.checks.items()
        ]
        comparisons = [
            (model, Calls(1.0, _JUDGE_PROMPT_TOKENS + answer * count, GRADE_TOKENS) * (1 / count))
            for model, count in self.compared.items()
        ]
        return [*checks, *comparisons]

    def _generated_messages(self, turns: float) -> float:
        after_script = max(0.0, turns - 1 - len(self.scripted_tokens)) if self.simulates_user else 0.0
        return after_script + (0.0 if self.has_opening else 1.0)

    def _answer_tokens(self, unknowns: Unknowns) -> float:
        return self._limited(ANSWER_TOKENS * unknowns.output)

    def _written_tokens(self, unknowns: Unknowns) -> float:
        """Of an answer with its reasoning."""
        return self._limited((ANSWER_TOKENS + REASONING_TOKENS * self.reasons) * unknowns.output)

    def _limited(self, tokens: float) -> float:
        return tokens if self.answer_limit is None else min(tokens, float(self.answer_limit))

    def _user_tokens(self, unknowns: Unknowns) -> float:
        """Of a user message after the first answer, on average."""
        if not self.scripted_tokens:
            return USER_TOKENS
        return sum(self.scripted_tokens) / len(self.scripted_tokens) * unknowns.input
