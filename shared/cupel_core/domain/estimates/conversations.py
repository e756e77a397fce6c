from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple, Self

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.estimates.grading_calls import GradingCall
from cupel_core.domain.estimates.intervals import Unknowns

ANSWER_TOKENS = 300.0
"""A target's answer has this many tokens, unless a lower limit is set."""
REASONING_TOKENS = 700.0
"""A reasoning model writes this many tokens besides an answer."""
USER_TOKENS = 60.0
GRADE_TOKENS = 150.0
OPEN_TURNS = 3.0
"""A conversation has this many turns if a judge or the simulated user decides its end."""
TOOL_ROUNDS = 1.0
"""A target with tools calls them in this many rounds before each answer, if something answers its calls."""
TOOL_CALL_TOKENS = 40.0
TOOL_RESULT_TOKENS = 150.0
_ROUND_TOKENS = TOOL_CALL_TOKENS + TOOL_RESULT_TOKENS
_JUDGE_PROMPT_TOKENS = 300.0
_PERSONA_PROMPT_TOKENS = 250.0


class RoleModel(NamedTuple):
    role: ModelRole
    model: str | None = None


TARGET = RoleModel(ModelRole.TARGET)


class OperationCall(NamedTuple):
    model: str
    prompt_tokens: float
    answer_limit: float | None = None


@dataclass(frozen=True)
class Calls:
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
    """Describes a conversation before it takes place; models that are None are not called."""

    opening_tokens: float
    """Includes all messages that the conversation begins with, and the system message."""
    max_turns: int = 1
    scripted_tokens: tuple[float, ...] = ()
    separate_turns: bool = False
    """A turn's message has at most one earlier answer, instead of the whole conversation."""
    persona_model: str | None = None
    """The model writes user messages after the script, and the first one if `has_opening` is false."""
    has_opening: bool = True
    simulates_user: bool = False
    judge_model: str | None = None
    criteria_tokens: float = 0.0
    grading: tuple[GradingCall, ...] = ()
    summary_model: str | None = None
    reasons: bool = False
    """The target may write tokens that are billed but not part of its answer."""
    answer_limit: int | None = None
    """An answer has at most this many tokens, with its reasoning."""
    schema_tokens: float = 0.0
    """The tools and the answer's format have this many tokens in each call of the target, and in no other call."""
    image_tokens: float = 0.0
    """Images have this many tokens in each call of the target; other models see a note."""
    pdf_tokens: float = 0.0
    """PDFs have this many tokens in each call of the target; their length is a guess."""
    operations: tuple[OperationCall, ...] = ()
    max_tool_rounds: int = 0
    """No more rounds than this precede an answer; 0 if calls of tools are only recorded."""

    def turns(self, unknowns: Unknowns) -> float:
        scripted = 1.0 + len(self.scripted_tokens)
        wanted = max(scripted, OPEN_TURNS * unknowns.turns) if self.simulates_user else scripted
        return max(1.0, min(wanted, float(self.max_turns)))

    def calls(self, unknowns: Unknowns) -> dict[RoleModel, Calls]:
        """Return the calls by role and model; each call of the target has the whole conversation before it as its
        input."""
        turns, user = self.turns(unknowns), self._user_tokens(unknowns)
        answer = self._answer_tokens(unknowns) + self._rounds(unknowns) * _ROUND_TOKENS
        opening, answered = self.opening_tokens * unknowns.input, turns * answer
        repeated = turns - 1 if self.separate_turns else turns * (turns - 1) / 2
        asked = turns * opening + repeated * (user + answer)
        calls = {TARGET: self._target_calls(turns, asked, unknowns)}
        if self.judge_model is not None:
            read = asked + answered + turns * (_JUDGE_PROMPT_TOKENS + self.criteria_tokens * unknowns.input)
            calls[RoleModel(ModelRole.JUDGE, self.judge_model)] = Calls(turns, read, turns * GRADE_TOKENS)
        said = opening + (turns - 1) * user + answered
        for call in self.grading:
            judge = RoleModel(ModelRole.JUDGE, call.model)
            calls[judge] = calls.get(judge, Calls()) + self._grading(call, unknowns, said)
        if self.persona_model is not None and (count := self._generated_messages(turns)):
            read = _PERSONA_PROMPT_TOKENS + (asked + answered) / turns
            calls[RoleModel(ModelRole.PERSONA, self.persona_model)] = Calls(1.0, read, USER_TOKENS) * count
        if self.summary_model is not None:
            read = _JUDGE_PROMPT_TOKENS + said
            calls[RoleModel(ModelRole.SUMMARY, self.summary_model)] = Calls(1.0, read, GRADE_TOKENS)
        for operation in self.operations:
            role = RoleModel(ModelRole.OPERATION, operation.model)
            read = operation.prompt_tokens + (asked + answered) / turns
            written = min(ANSWER_TOKENS * unknowns.output, operation.answer_limit or float("inf"))
            calls[role] = calls.get(role, Calls()) + Calls(1.0, read, written) * turns
        return calls

    def _target_calls(self, turns: float, asked: float, unknowns: Unknowns) -> Calls:
        """Return the target's calls; `asked` are the tokens before the first round of each turn, and each later call
        also has all rounds before it."""
        rounds = self._rounds(unknowns)
        count = turns * (1 + rounds)
        repeated = self.schema_tokens * unknowns.input + self.image_tokens + self.pdf_tokens * unknowns.pages
        read = asked * (1 + rounds) + turns * rounds * (rounds + 1) / 2 * _ROUND_TOKENS + count * repeated
        called = self._limited((TOOL_CALL_TOKENS + self._reasoning) * unknowns.output)
        return Calls(count, read, turns * (self._written_tokens(unknowns) + rounds * called))

    def _rounds(self, unknowns: Unknowns) -> float:
        return min(TOOL_ROUNDS * unknowns.rounds, float(self.max_tool_rounds))

    def _grading(self, call: GradingCall, unknowns: Unknowns, said: float) -> Calls:
        """Return the calls for an assertion; `said` are the tokens of the whole conversation."""
        read = call.value_tokens * unknowns.input + call.answers * self._answer_tokens(unknowns)
        if not call.embeds:
            read += _JUDGE_PROMPT_TOKENS
        if call.reads_opening:
            read += self.opening_tokens * unknowns.input
        if call.reads_conversation and self.turns(unknowns) > 1:
            read += said
        return Calls(1.0, read, 0.0 if call.embeds else GRADE_TOKENS) * call.per_conversation

    def _generated_messages(self, turns: float) -> float:
        after_script = max(0.0, turns - 1 - len(self.scripted_tokens)) if self.simulates_user else 0.0
        return after_script + (0.0 if self.has_opening else 1.0)

    def _answer_tokens(self, unknowns: Unknowns) -> float:
        return self._limited(ANSWER_TOKENS * unknowns.output)

    def _written_tokens(self, unknowns: Unknowns) -> float:
        return self._limited((ANSWER_TOKENS + self._reasoning) * unknowns.output)

    @property
    def _reasoning(self) -> float:
        return REASONING_TOKENS * self.reasons

    def _limited(self, tokens: float) -> float:
        return tokens if self.answer_limit is None else min(tokens, float(self.answer_limit))

    def _user_tokens(self, unknowns: Unknowns) -> float:
        if not self.scripted_tokens:
            return USER_TOKENS
        return sum(self.scripted_tokens) / len(self.scripted_tokens) * unknowns.input


class ConversationSample:
    def __init__(self, conversations: Sequence[ExpectedConversation]) -> None:
        self.is_open = any(each.simulates_user for each in conversations)
        self.has_tools = any(each.max_tool_rounds for each in conversations)
        self.has_pdfs = any(each.pdf_tokens for each in conversations)
        self.has_files = self.has_pdfs or any(each.image_tokens for each in conversations)
        self._mean_calls = cache(partial(_mean_calls, conversations))

    def mean_calls(self, unknowns: Unknowns) -> Mapping[RoleModel, Calls]:
        """Return the mean calls of a conversation. They do not depend on the latency, so it is no part of the cache's
        key."""
        return self._mean_calls(replace(unknowns, latency=1.0))


def _mean_calls(conversations: Sequence[ExpectedConversation], unknowns: Unknowns) -> Mapping[RoleModel, Calls]:
    sums: dict[RoleModel, Calls] = defaultdict(Calls)
    for conversation in conversations:
        for role_model, calls in conversation.calls(unknowns).items():
            sums[role_model] += calls
    return {role_model: calls * (1 / len(conversations)) for role_model, calls in sums.items()}
