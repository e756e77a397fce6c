"""One probe: a conversation from its scenario to its transcript. Nothing here knows where it runs or what is stored."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Protocol

from cupel_core.conversations.turn import Target, run_turn
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.runs.transcripts import Outcome, ProbeError, Summary, Transcript
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.decisions import OTHER, excerpt, last_answer, read_decision
from cupel_core.domain.scoring.scoring import Scoring, conclude
from cupel_core.domain.turns.conversation import DEFAULT_MAX_MESSAGES, Dialogue, Move, Rules, next_move, rule
from cupel_core.domain.turns.model_request import Case, Conversation, ErrorCode, Message, Role, Thread
from cupel_core.grading.criteria import evaluate_criteria
from cupel_core.grading.graders import Panel
from cupel_core.grading.simulated_user import generate_persona_message
from cupel_core.providers import prices
from cupel_core.providers.errors import ProviderError
from cupel_core.scoring.assertion_context import Evidence
from cupel_core.scoring.score import asks_a_model, score


@dataclass(frozen=True)
class Task:
    """Everything a probe needs to be held, wherever it runs."""

    index: int
    scenario: Scenario
    content: Content
    panel: Panel
    thread_id: str
    """A UUID of this probe in this generation, so that an agent knows a conversation that goes on elsewhere."""
    persona: Persona | None = None
    persona_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    temperature: float | None = None
    max_turns: int | None = None
    repeat: int = 0
    seed: int = 0
    generation: int = 1

    @cached_property
    def rules(self) -> Rules:
        return Rules(
            criteria=self.scenario.criteria,
            judged=self.panel.evaluation.judge_model is not None,
            max_messages=self.scenario.max_messages or DEFAULT_MAX_MESSAGES,
            scripted=self.content.follow_ups,
            max_turns=self.content.max_turns if self.max_turns is None else self.max_turns,
        )

    @cached_property
    def assertions(self) -> tuple[Assertion, ...]:
        return (*self.content.assertions, *self.scenario.assertions)

    @property
    def opening(self) -> tuple[Message, ...]:
        system = (Message(Role.SYSTEM, self.content.system),) if self.content.system else ()
        return (*system, *self.scenario.messages)


class Memory(Protocol):
    """Where a conversation is kept while it goes on, so that what was paid for is not paid for again."""

    async def recall(self) -> Dialogue | None: ...

    async def keep(self, dialogue: Dialogue) -> None: ...


async def hold(
    task: Task, target: Target, memory: Memory, now: Callable[[], datetime], kept_for: timedelta | None
) -> Outcome:
    """Goes on after the last call whose answer was kept. Halted and PleaseWait pass through."""
    dialogue = (await memory.recall() if _has_further_calls(task) else None) or Dialogue(task.opening)
    try:
        while (move := next_move(dialogue, task.rules)) is not Move.END:
            dialogue = await _take(move, task, target, dialogue)
            if _has_further_calls(task, dialogue):
                await memory.keep(dialogue)
        scoring, dialogue = await _score(task, dialogue)
    except ProviderError as error:
        return _error(task, target, error, now())
    return _transcript(task, target, dialogue, scoring, now(), kept_for)


def _has_further_calls(task: Task, dialogue: Dialogue | None = None) -> bool:
    """Whether a model is called after this; a conversation of a single call has nothing worth keeping."""
    if any(asks_a_model(assertion) for assertion in task.assertions):
        return True
    if dialogue is None:
        limit = task.rules.max_turns
        return task.rules.evaluated or (bool(task.rules.scripted) and (limit is None or limit > 1))
    return next_move(dialogue, task.rules) is not Move.END


async def _take(move: Move, task: Task, target: Target, before: Dialogue) -> Dialogue:
    match move:
        case Move.JUDGE:
            return await _judge(task, before)
        case Move.SPEAK:
            return await _speak(task, before)
        case _:
            return await _ask(task, target, before)


async def _ask(task: Task, target: Target, before: Dialogue) -> Dialogue:
    """Each call is priced for itself: some prices depend on the length of one prompt."""
    turn = await run_turn(_conversation(task, before), target)
    price = prices.cost_usd(target.model, turn.reply.usage)
    return replace(
        before,
        messages=turn.conversation.messages,
        turns=before.turns + 1,
        usage=before.usage + turn.reply.usage,
        duration_ms=before.duration_ms + turn.duration_ms,
        cost_usd=None if price is None or before.cost_usd is None else before.cost_usd + price,
        model_version=turn.reply.model_version,
        finish_reason=turn.reply.finish_reason,
        verdict=None,
        thread_id=turn.reply.thread_id or before.thread_id,
        output=turn.reply.output or before.output,
    )


def _conversation(task: Task, dialogue: Dialogue) -> Conversation:
    return Conversation(
        dialogue.messages,
        task.temperature,
        case=Case(task.scenario.id, task.scenario.dimensions, task.repeat, task.seed),
        thread=Thread(
            id=dialogue.thread_id or task.thread_id,
            turn=dialogue.turns,
            headers=task.persona_headers,
            persona=task.persona.name if task.persona else None,
        ),
    )


async def _judge(task: Task, before: Dialogue) -> Dialogue:
    asked = await evaluate_criteria(task.panel.judge(), before.messages, task.rules.criteria)
    return replace(before, verdict=asked.value, judge=before.judge + asked.spend)


async def _speak(task: Task, before: Dialogue) -> Dialogue:
    """What is scripted is said first; then a model plays the user."""
    if 0 < before.turns <= len(task.rules.scripted):
        return _said(before, task.rules.scripted[before.turns - 1])
    if not task.rules.judged:
        raise ProviderError(
            ErrorCode.INVALID_REQUEST,
            "the scenario has no message to begin with, and no judgeModel or personaModel plays the user",
            final=True,
        )
    asked = await generate_persona_message(
        task.panel.speaker(), before.messages, task.persona, task.scenario.instructions
    )
    return replace(_said(before, asked.value), persona=before.persona + asked.spend)


def _said(before: Dialogue, words: str) -> Dialogue:
    return replace(before, messages=(*before.messages, Message(Role.USER, words)), verdict=None)


async def _score(task: Task, dialogue: Dialogue) -> tuple[Scoring | None, Dialogue]:
    ruling = rule(dialogue, task.rules) if dialogue.verdict else None
    if ruling is None and not task.assertions and task.panel.evaluation.evaluator_url is None:
        return None, dialogue
    scored = await score(task.assertions, evidence(task, dialogue), task.panel)
    scoring = conclude(ruling, dialogue.verdict, scored.results, scored.evaluator_note)
    return scoring, replace(dialogue, judge=dialogue.judge + scored.spend)


def evidence(task: Task, dialogue: Dialogue) -> Evidence:
    found = task.scenario.metadata.get("vars")
    return Evidence(
        output=last_answer(dialogue.messages),
        messages=dialogue.messages,
        latency_ms=dialogue.duration_ms,
        cost_usd=dialogue.cost_usd,
        finish_reason=dialogue.finish_reason,
        variables=found if isinstance(found, Mapping) else {},
        conversation_id=dialogue.thread_id or task.thread_id,
        goal=task.scenario.criteria.success or task.scenario.instructions,
    )


def _transcript(
    task: Task, target: Target, done: Dialogue, scoring: Scoring | None, now: datetime, kept_for: timedelta | None
) -> Transcript:
    return Transcript(
        probe_index=task.index,
        scenario_id=task.scenario.id,
        model_id=target.model,
        persona_id=task.persona.id if task.persona else None,
        created_at=now,
        dialogue=done,
        generation=task.generation,
        summary=summary_of(task.content, done.messages, now),
        scoring=scoring,
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
        persona_id=task.persona.id if task.persona else None,
        generation=task.generation,
    )
