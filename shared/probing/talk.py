"""One probe: a conversation from its scenario to its transcript."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.conversation import Case, Conversation, ErrorCode, Message, Role, Usage
from shared.domain.decisions import OTHER, excerpt, last_answer, read_decision
from shared.domain.definitions import Content
from shared.domain.scenarios import Scenario
from shared.domain.transcripts import Outcome, ProbeError, Summary, Transcript
from shared.messages import RunRef
from shared.probing.turn import Target, Turn, run_turn
from shared.providers import prices
from shared.providers.errors import ProviderError
from shared.store import checkpoints
from shared.store.checkpoints import Checkpoint


@dataclass(frozen=True)
class Task:
    """Everything a probe needs to be held, wherever it runs."""

    ref: RunRef
    generation: int
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


async def hold(task: Task, target: Target, now: Callable[[], datetime], kept_for: timedelta | None) -> Outcome:
    """Goes on after the last turn that was complete. Halted and PleaseWait of a turn pass through."""
    done = await _resume(task)
    try:
        while done.turns < task.turns:
            conversation = _conversation(task, done.messages)
            if done.turns:
                conversation = conversation.say(Role.USER, task.content.follow_ups[done.turns - 1])
            done = _after(done, target.model, await run_turn(conversation, target))
            if done.turns < task.turns:
                await asyncio.to_thread(checkpoints.put, task.ref, task.index, task.generation, done, now())
    except ProviderError as error:
        return _error(task, target, error, now())
    return _transcript(task, target, done, now(), kept_for)


async def _resume(task: Task) -> Checkpoint:
    """Where an earlier delivery of the probe has come to; a conversation of one turn has no such place."""
    found = None
    if task.turns > 1:
        found = await asyncio.to_thread(checkpoints.get, task.ref, task.index, task.generation)
    return found or Checkpoint(_opening(task), turns=0, usage=Usage(), duration_ms=0, cost_usd=0.0, model_version=None)


def _opening(task: Task) -> tuple[Message, ...]:
    system = (Message(Role.SYSTEM, task.content.system),) if task.content.system else ()
    return (*system, *task.scenario.messages)


def _conversation(task: Task, messages: tuple[Message, ...]) -> Conversation:
    case = Case(task.scenario.id, task.scenario.dimensions, task.repeat, task.seed)
    return Conversation(messages, task.temperature, case=case)


def _after(before: Checkpoint, model: str, turn: Turn) -> Checkpoint:
    """Each call is priced for itself: some prices depend on the length of one prompt."""
    price = prices.cost_usd(model, turn.reply.usage)
    return Checkpoint(
        messages=turn.conversation.messages,
        turns=before.turns + 1,
        usage=before.usage + turn.reply.usage,
        duration_ms=before.duration_ms + turn.duration_ms,
        cost_usd=None if price is None or before.cost_usd is None else before.cost_usd + price,
        model_version=turn.reply.model_version,
    )


def _transcript(task: Task, target: Target, done: Checkpoint, now: datetime, kept_for: timedelta | None) -> Transcript:
    return Transcript(
        probe_index=task.index,
        scenario_id=task.scenario.id,
        model_id=target.model,
        model_version=done.model_version,
        messages=done.messages,
        turn_count=done.turns,
        usage=done.usage,
        duration_ms=done.duration_ms,
        cost_usd=done.cost_usd,
        created_at=now,
        summary=summary_of(task.content, done.messages, now),
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
