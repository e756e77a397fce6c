"""One probe: a conversation from its scenario to its transcript."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import chain

from shared.domain.conversation import Case, Conversation, ErrorCode, Message, Role, Usage
from shared.domain.decisions import OTHER, excerpt, last_answer, read_decision
from shared.domain.definitions import Content
from shared.domain.scenarios import Scenario
from shared.domain.transcripts import Outcome, ProbeError, Summary, Transcript
from shared.probing.turn import Target, Turn, run_turn
from shared.providers import prices
from shared.providers.errors import ProviderError


class Halted(Exception):
    """The run was paused or cancelled before the next turn; the probe has no outcome."""


@dataclass(frozen=True)
class Task:
    """Everything a probe needs to be held, wherever it runs."""

    index: int
    scenario: Scenario
    content: Content
    temperature: float | None
    max_turns: int | None
    repeat: int
    seed: int

    @property
    def turns(self) -> int:
        return self.content.turns if self.max_turns is None else min(self.max_turns, 1 + len(self.content.follow_ups))


async def hold(
    task: Task,
    target: Target,
    go_on: Callable[[], Awaitable[bool]],
    now: Callable[[], datetime],
    kept_for: timedelta | None,
) -> Outcome:
    """Asks `go_on` before each turn and raises Halted on a no; PleaseWait passes through."""
    conversation, turns = _opening(task), list[Turn]()
    try:
        for follow_up in chain([None], task.content.follow_ups[: task.turns - 1]):
            if not await go_on():
                raise Halted
            if follow_up is not None:
                conversation = conversation.say(Role.USER, follow_up)
            turns.append(await run_turn(conversation, target))
            conversation = turns[-1].conversation
    except ProviderError as error:
        return _error(task, target, error, now())
    return _transcript(task, target, conversation, turns, now(), kept_for)


def _opening(task: Task) -> Conversation:
    system = (Message(Role.SYSTEM, task.content.system),) if task.content.system else ()
    case = Case(task.scenario.id, task.scenario.dimensions, task.repeat, task.seed)
    return Conversation((*system, *task.scenario.messages), task.temperature, case=case)


def _transcript(
    task: Task,
    target: Target,
    conversation: Conversation,
    turns: list[Turn],
    now: datetime,
    kept_for: timedelta | None,
) -> Transcript:
    usage = sum((turn.reply.usage for turn in turns), Usage())
    return Transcript(
        probe_index=task.index,
        scenario_id=task.scenario.id,
        model_id=target.model,
        model_version=turns[-1].reply.model_version,
        messages=conversation.messages,
        turn_count=len(turns),
        usage=usage,
        duration_ms=sum(turn.duration_ms for turn in turns),
        cost_usd=prices.cost_usd(target.model, usage),
        created_at=now,
        summary=summary_of(task.content, conversation.messages, now),
        content_expires_at=now + kept_for if kept_for else None,
    )


def summary_of(content: Content, messages: tuple[Message, ...], now: datetime) -> Summary | None:
    """What can be said without a judge; None leaves the transcript to one."""
    rules = content.decision
    found = read_decision(rules.pattern, messages) if rules and rules.pattern else None
    if found is not None:
        return Summary(*found, now)
    if rules and rules.rubric and rules.judge_model:
        return None
    return Summary(OTHER, excerpt(last_answer(messages)), now)


def _error(task: Task, target: Target, error: ProviderError, now: datetime) -> ProbeError:
    return ProbeError(
        probe_index=task.index,
        scenario_id=task.scenario.id,
        model_id=target.model,
        code=ErrorCode(error.code),
        message=error.message,
        attempts=error.attempts,
        created_at=now,
    )
