"""Models the state of a conversation with a target: which step is next, and whether the conversation has passed.

The target answers, a judge evaluates the answer, and a success ends the conversation. A failure ends it at once or only
at the last message; otherwise the next user message follows. If the judge's replies are unusable, the conversation
continues; without a verdict on its last answer it is not scored. This module is pure: everything that calls a model is
in `cupel_core/conversations`.

The next step is a function of the conversation alone, so a conversation resumes after a crash as if nothing had
happened:

- A conversation that ends with the user's message calls the target.
- One that ends with an answer without a verdict is judged, if a judge and criteria are configured.
- One that is ended by its verdict, has no room for a further exchange within `maxMessages` and `maxTurns`, or has
  neither a scripted message left nor a simulated user, ends.
- Any other one, and an empty one, gets a user message: the next scripted one, of the scenario or else of the
  definition; after these, a model writes it.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.codec import Imported
from cupel_core.domain.conversations.attempts import FailedAttempts
from cupel_core.domain.conversations.model_request import Message, MessageRole, RequestParameter, Usage
from cupel_core.domain.conversations.replies import ReplyRecord, ReplyVerdict
from cupel_core.domain.conversations.spend import Spend, added_costs
from cupel_core.domain.conversations.tools import ToolCall
from cupel_core.domain.scoring.assertions import AssertionResult

if TYPE_CHECKING:
    from cupel_core.domain.pipeline.turns import PipelineState
else:  # Few conversations have a pipeline, and most functions read conversations.
    PipelineState = Annotated[Any, Imported("cupel_core.domain.pipeline.turns", "PipelineState")]

DEFAULT_MAX_MESSAGES = 10


class FailureCriteriaMode(StrEnum):
    ON_MAX_MESSAGES = "on_max_messages"
    EVERY_TURN = "every_turn"


@dataclass(frozen=True)
class Criteria:
    """A judge checks these criteria after each answer; with neither criterion there is nothing to judge."""

    success: str | None = None
    failure: str | None = None
    mode: FailureCriteriaMode = FailureCriteriaMode.ON_MAX_MESSAGES

    @property
    def is_set(self) -> bool:
        return bool(self.success or self.failure)


@dataclass(frozen=True)
class Verdict:
    """A judge's verdict on a conversation; `confidence` is from 0 to 1, or None if the judge states none."""

    success_met: bool
    failure_met: bool
    confidence: float | None
    reasoning: str
    raw_response: str

    @property
    def of_reply(self) -> ReplyVerdict:
        return ReplyVerdict(self.success_met, self.failure_met, self.confidence, self.reasoning)


@dataclass(frozen=True)
class AssertionGrade:
    result: AssertionResult
    spend: Spend


@dataclass(frozen=True)
class ConversationRules:
    """`scripted` are user messages that are sent before any is generated."""

    criteria: Criteria = field(default_factory=Criteria)
    has_judge: bool = False
    has_user_model: bool = False
    """A model is configured that writes the user's messages; otherwise a judge writes them."""
    has_user_role: bool = False
    """A persona or instructions tell the simulated user how to continue, even without criteria."""
    max_messages: int = DEFAULT_MAX_MESSAGES
    """Limits user and assistant messages together, including the scenario's own; one answer is always requested."""
    scripted: tuple[str, ...] = ()
    max_turns: int | None = None
    has_profile: bool = False
    max_tool_rounds: int = 0
    """The calls of one answer are executed at most this often; with 0, the target's first calls are its answer."""

    @property
    def is_judged(self) -> bool:
        return self.has_judge and self.criteria.is_set

    @property
    def simulates_user(self) -> bool:
        return self.is_judged or (self.has_user_model and self.has_user_role)


class StopReason(StrEnum):
    """An answer ended for this reason although its model would have continued."""

    MAX_TOOL_ROUNDS = "max_tool_rounds"
    """The answer's last calls of tools were not executed, because it already had the maximum of tool rounds."""


class ReplyCount(NamedTuple):
    turns: int
    tool_rounds: int
    open_rounds: int
    stop_reason: StopReason | None


@dataclass(frozen=True)
class ConversationState:
    """Contains a conversation so far. A checkpoint stores it after each step that further calls follow."""

    messages: tuple[Message, ...]
    turns: int = 0
    """The target has given this many answers; each ends with a message whose calls are not executed."""
    usage: Usage = field(default_factory=Usage)
    duration_ms: int = 0
    cost_usd: float | None = 0.0
    model_version: str | None = None
    finish_reason: str | None = None
    verdict: Verdict | None = None
    """The judge's verdict on the last answer; None until that answer is judged."""
    unjudged: AssertionResult | None = None
    """Replaces the verdict on the last answer if the judge's replies were unusable."""
    judge_spend: Spend = field(default_factory=Spend)
    persona_spend: Spend = field(default_factory=Spend)
    unusable: Spend = field(default_factory=Spend)
    """The sum of the target's calls without a usable answer that were, or may have been, billed."""
    grades: Mapping[str, AssertionGrade] = field(default_factory=dict)
    """Maps the paths of the assertions that a model has graded so far to their grades (`scoring/grade_log.py`)."""
    started_at: datetime | None = field(default=None, compare=False)
    """The first call began at this time; None before it."""
    thread_id: str | None = None
    output: Mapping[str, Any] | None = field(default=None, compare=False)
    omitted_parameters: tuple[RequestParameter, ...] = ()
    """Some request to the target left these out because the target rejects them; they are sorted."""
    cached_turns: int = 0
    """Number of the target's answers that came from a cache; `cost_usd` is the cost of the others."""
    cached_cost_usd: float | None = 0.0
    simulated_user_prompt: str | None = None
    """A model wrote user messages by this system prompt, made from persona and scenario; None if none did."""
    tool_rounds: int = 0
    """The target has given this many replies whose calls were, or are to be, executed."""
    open_rounds: int = 0
    """Number of replies that belong to the answer that the target has begun; 0 once it is complete."""
    stop_reason: StopReason | None = None
    pipeline: PipelineState | None = None
    replies: tuple[ReplyRecord, ...] = field(default=(), compare=False)
    """The target's calls in order, without the verdict on the last answer."""
    attempts: Mapping[str, FailedAttempts] = field(default_factory=dict, compare=False)
    """Maps the calls that have no answer yet to their failed attempts (`providers/attempt_log.py`)."""

    @property
    def full_cost_usd(self) -> float | None:
        """Return what the target's answers cost, from a cache or not. Assertions compare this cost."""
        return added_costs(self.cost_usd, self.cached_cost_usd)

    @property
    def target_calls(self) -> int:
        """Return the number of the target's replies, which are the conversation's last assistant messages."""
        return self.turns + self.tool_rounds

    @property
    def message_count(self) -> int:
        """Return the number of user and assistant messages; several replies that form one answer count once."""
        spoken = sum(message.role in (MessageRole.USER, MessageRole.ASSISTANT) for message in self.messages)
        return spoken - self.tool_rounds

    @property
    def answer_word_count(self) -> int:
        """Return the number of words, separated by white space, in the target's answers. Assistant messages of the
        opening are not answers of the target."""
        answers = [message.content for message in self.messages if message.role is MessageRole.ASSISTANT]
        return sum(len(answer.split()) for answer in answers[max(0, len(answers) - self.target_calls) :])

    @property
    def is_answered(self) -> bool:
        return bool(self.messages) and self.messages[-1].role is MessageRole.ASSISTANT and self.turns > 0

    @property
    def needs_answer(self) -> bool:
        return bool(self.messages) and self.messages[-1].role in (MessageRole.USER, MessageRole.TOOL)

    @property
    def pending_calls(self) -> tuple[ToolCall, ...]:
        """Return the calls of the target's last reply that are to be executed and have no result yet."""
        if not self.open_rounds:
            return ()
        reply, *results = self.messages[self._last_reply :]
        answered = {result.tool_call_id for result in results}
        return tuple(call for call in reply.tool_calls if call.id not in answered)

    @property
    def reply_records(self) -> Mapping[int, ReplyRecord]:
        """Return the records of the target's replies by position of their messages; empty if the content was
        deleted."""
        positions = [n for n, message in enumerate(self.messages) if message.role is MessageRole.ASSISTANT]
        replies = self.judged_replies
        if not replies or len(replies) != self.target_calls or len(positions) < len(replies):
            return {}
        return dict(zip(positions[-len(replies) :], replies, strict=True))

    @property
    def judged_replies(self) -> tuple[ReplyRecord, ...]:
        """Return `replies` with the verdict on the last answer. A single reply has the figures of the conversation."""
        replies = self.replies
        if not replies and self.target_calls == 1:
            replies = (ReplyRecord(self.usage, self.duration_ms, self.cost_usd),)
        if self.verdict is None or not replies:
            return replies
        return (*replies[:-1], replies[-1].judged(self.verdict.of_reply))

    @property
    def turn_durations_ms(self) -> tuple[int, ...]:
        """Return how long each answer of the target took, over all of its calls. It is empty if there are several and
        the content was deleted."""
        if self.turns == 1:
            return (self.duration_ms,)
        records, durations, is_first = self.reply_records, list[int](), True
        for position, message in enumerate(self.messages):
            is_first |= message.role is MessageRole.USER
            if position in records:
                durations.extend([0] * is_first)
                durations[-1] += records[position].duration_ms
                is_first = False
        return tuple(durations)

    def with_result(self, result: Message) -> "ConversationState":
        """Return the conversation with the result of a pending call, among the others in the order of the calls."""
        position, results = self._last_reply, [*self.messages[self._last_reply + 1 :], result]
        order = {call.id: number for number, call in enumerate(self.messages[position].tool_calls)}
        results.sort(key=lambda each: order[each.tool_call_id or ""])
        return replace(self, messages=(*self.messages[: position + 1], *results))

    @property
    def _last_reply(self) -> int:
        return max(n for n, message in enumerate(self.messages) if message.role is MessageRole.ASSISTANT)

    def count_reply(self, message: Message, rules: ConversationRules) -> ReplyCount:
        """Return the counts after the target's reply, which completes the answer unless its calls will be executed."""
        if message.tool_calls and self.open_rounds < rules.max_tool_rounds:
            return ReplyCount(self.turns, self.tool_rounds + 1, self.open_rounds + 1, self.stop_reason)
        is_stopped = bool(message.tool_calls) and self.open_rounds > 0
        reason = StopReason.MAX_TOOL_ROUNDS if is_stopped else self.stop_reason
        return ReplyCount(self.turns + 1, self.tool_rounds, 0, reason)


class NextStep(StrEnum):
    RUN_BEFORE = "run the operations before the target's call"
    CALL_TARGET = "ask the target"
    RUN_AFTER = "run the operations after the target's answer"
    COMMIT_TURN = "apply the effects of the operations"
    EXECUTE_CALLS = "execute what the target calls"
    JUDGE = "judge the answer"
    SIMULATE_USER = "say what the user says next"
    END = "end"


class ConversationOutcome(StrEnum):
    CONTINUE = "continue"
    PASSED = "passed"
    FAILED = "failed"


def next_step(state: ConversationState, rules: ConversationRules) -> NextStep:
    """Return the next step. It depends on state and rules alone, so a resumed conversation takes the same step."""
    turn = state.pipeline.turn if state.pipeline else None
    if turn is not None and turn.is_answered:
        return NextStep.COMMIT_TURN if turn.is_reviewed else NextStep.RUN_AFTER
    step = _next_step(state, rules)
    needs_preparation = rules.has_profile and not (turn is not None and turn.is_prepared)
    return NextStep.RUN_BEFORE if step is NextStep.CALL_TARGET and needs_preparation else step


def _next_step(state: ConversationState, rules: ConversationRules) -> NextStep:
    if state.pending_calls:
        return NextStep.EXECUTE_CALLS
    if state.needs_answer:
        return NextStep.CALL_TARGET
    if not state.is_answered:
        # A scenario that ends with an assistant message continues with the simulated user, if there is one.
        return NextStep.CALL_TARGET if state.message_count and not rules.simulates_user else NextStep.SIMULATE_USER
    if rules.is_judged and state.unjudged is None:
        if state.verdict is None:
            return NextStep.JUDGE
        if outcome_of(state, rules) is not ConversationOutcome.CONTINUE:
            return NextStep.END
    return NextStep.SIMULATE_USER if _can_continue(state, rules) else NextStep.END


def outcome_of(state: ConversationState, rules: ConversationRules) -> ConversationOutcome:
    """Return the outcome that the last verdict implies. Raises ValueError if the last answer has no verdict."""
    if state.verdict is None:
        raise ValueError("the last answer has no verdict")
    return apply_verdict(state.verdict, rules.criteria, is_last=not _can_continue(state, rules))


def apply_verdict(verdict: Verdict, criteria: Criteria, *, is_last: bool) -> ConversationOutcome:
    """Return the outcome; success takes precedence. With failure criteria only, a conversation passes if it ends
    without meeting them."""
    if criteria.success and verdict.success_met:
        return ConversationOutcome.PASSED
    failed = bool(criteria.failure) and verdict.failure_met
    if failed and (is_last or criteria.mode is FailureCriteriaMode.EVERY_TURN):
        return ConversationOutcome.FAILED
    if not is_last:
        return ConversationOutcome.CONTINUE
    return ConversationOutcome.FAILED if criteria.success else ConversationOutcome.PASSED


def _can_continue(state: ConversationState, rules: ConversationRules) -> bool:
    """Return whether the limits allow another exchange and there is a scripted or generated user message for it."""
    if rules.max_turns is not None and state.turns >= rules.max_turns:
        return False
    has_room = state.message_count + 2 <= rules.max_messages
    if rules.is_judged:
        return has_room
    return state.turns <= len(rules.scripted) or (rules.simulates_user and has_room)
