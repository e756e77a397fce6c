"""Contains the state of the pipeline in a conversation: its artifacts, the turn in progress, and records of past
turns."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Self

from cupel_core.base.deferred import dataclass, replace
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.pipeline.artifacts import ArtifactPersistence, ArtifactSpec, HistoryLimit, WriteMode
from cupel_core.domain.pipeline.operations import EffectType, Hook, ProfileOperation
from cupel_core.domain.pipeline.planning import PipelinePlan
from cupel_core.domain.pipeline.prompt import PromptChange, inclusion_change, prompt_changes
from cupel_core.domain.pipeline.results import EffectText, PaidAnswer, StepResult, StepStatus
from cupel_core.domain.pipeline.sizes import value_length
from cupel_core.domain.pipeline.steps import Results

_NOTHING = Spend()


@dataclass(frozen=True)
class StoredArtifact:
    """Contains a persisted artifact: its value, the value's text in the prompt, and earlier values, oldest first. Times
    are the starts of turns."""

    value: Any
    inclusion: str | None = None
    history: tuple[Any, ...] = ()
    written_at: str = ""
    history_times: tuple[str, ...] = ()
    first_at: str = ""
    max_age_days: int | None = None
    """Older values are no part of the history, as of the last write."""
    version: int = 1
    """Counts the values so far, including this one."""
    writer: Mapping[str, Any] = field(default_factory=dict)
    """The fields `{operationId, title, format, usage, semantics}` of the operation that wrote the value."""
    turn_id: str | None = None
    """In a chat, this turn wrote the value, at the position of its exchange."""
    position: int | None = None

    def at(self, now: str) -> Self:
        """Return the artifact without earlier values that are too old at this time."""
        if self.max_age_days is None or not self.history:
            return self
        earliest = datetime.fromisoformat(now) - timedelta(days=self.max_age_days)
        aged = zip(self.history, self.history_times, strict=True)
        recent = [each for each in aged if datetime.fromisoformat(each[1]) >= earliest]
        history, times = ([each[part] for each in recent] for part in (0, 1))
        return replace(self, history=tuple(history), history_times=tuple(times))


type Artifacts = Mapping[str, StoredArtifact]


def written_value(spec: ArtifactSpec, value: Any, before: StoredArtifact | None) -> Any:
    if spec.write_mode is WriteMode.REPLACE or before is None:
        return value
    if isinstance(value, list):
        return [*before.value, *value]
    return f"{before.value}\n{value}"


@dataclass(frozen=True)
class OpenTurn:
    now: str
    """The start of the turn, as templates see it."""
    before: Results = field(default_factory=dict)
    after: Results = field(default_factory=dict)
    answers: Mapping[str, PaidAnswer] = field(default_factory=dict)
    """For each operation of the hook in progress, it has an answer that was paid for and has no result yet."""
    is_prepared: bool = False
    is_answered: bool = False
    is_reviewed: bool = False
    prompt_hash: str | None = None

    @property
    def spend(self) -> Spend:
        made: list[StepResult | PaidAnswer] = [*self.before.values(), *self.after.values(), *self.answers.values()]
        return sum((each.spend for each in made), _NOTHING)

    def results(self, hook: Hook) -> Results:
        return self.before if hook is Hook.BEFORE else self.after

    def with_results(
        self,
        hook: Hook,
        results: Results,
        answers: Mapping[str, PaidAnswer] | None = None,
        *,
        are_all: bool = False,
    ) -> Self:
        """Add results; `are_all` states that every operation of the hook has ended."""
        left = {name: answer for name, answer in (answers or {}).items() if name not in results}
        if hook is Hook.BEFORE:
            return replace(self, before=results, answers=left, is_prepared=are_all or self.is_prepared)
        return replace(self, after=results, answers=left, is_reviewed=are_all or self.is_reviewed)


@dataclass(frozen=True)
class PipelineState:
    artifacts: Artifacts = field(default_factory=dict)
    past_spend: Spend = field(default_factory=Spend)
    records: tuple[Mapping[str, Any], ...] = ()
    turn: OpenTurn | None = None

    @property
    def spend(self) -> Spend:
        spent = self.turn.spend if self.turn else _NOTHING
        return self.past_spend + spent if spent.calls else self.past_spend

    @property
    def length(self) -> int:
        stored = (*self.records, *(encode(artifact) for artifact in self.artifacts.values()))
        return sum(map(value_length, stored))

    def with_turn(self, turn: OpenTurn) -> "PipelineState":
        return PipelineState(self.artifacts, self.past_spend, self.records, turn)

    def without_content(self) -> Self:
        """Return what was spent, without any content."""
        return replace(self, artifacts={}, records=())


def _results(data: Mapping[str, Any]) -> dict[str, StepResult]:
    return {name: decode(StepResult, each) for name, each in data.items()}


def turn_changes(plan: PipelinePlan, ranked: Iterable[ProfileOperation], state: PipelineState) -> list[PromptChange]:
    """Return the changes of the prompt of the turn in progress: inclusions by rank of their operations, then effects.

    `ranked` are the enabled operations of the profile by rank. It includes operations that this turn leaves out,
    because their persisted values are still included.
    """
    results = state.turn.before if state.turn else {}
    inclusions = (_inclusion(operation, results, state.artifacts) for operation in ranked)
    return [*(each for each in inclusions if each is not None), *prompt_changes(plan.steps[Hook.BEFORE], results)]


def _inclusion(operation: ProfileOperation, results: Results, artifacts: Artifacts) -> PromptChange | None:
    inclusion, result = operation.artifact.inclusion, results.get(operation.id)
    if inclusion is None:
        return None
    if result is not None and result.is_done and result.inclusion is not None:
        text: str | None = result.inclusion.text
    else:
        stored = artifacts.get(operation.artifact.tag)
        text = stored.inclusion if stored else None
    return inclusion_change(inclusion, text, operation.id) if text and text.strip() else None


class CommitRow(NamedTuple):
    hook: Hook
    operation_id: str
    effect_index: int
    effect_type: EffectType
    status: str
    error: str | None = None


def commit_rows(plan: PipelinePlan, turn: OpenTurn) -> Iterator[CommitRow]:
    """Yield the effects of the operations that are done, in commit order."""
    for hook, steps in plan.steps.items():
        for step in steps:
            result = turn.results(hook).get(step.id)
            if result is None or not result.is_done:
                continue
            for number, (effect, payload) in enumerate(zip(step.effects, result.payloads, strict=True)):
                yield CommitRow(hook, step.id, number, effect.type, _effect_status(payload), payload.error)


def _effect_status(payload: EffectText) -> str:
    if payload.error is not None:
        return StepStatus.ERROR
    return "applied" if payload.text.strip() else StepStatus.SKIPPED


def committed_artifacts(
    plan: PipelinePlan, turn: OpenTurn, artifacts: Artifacts, *, of_turn: bool = False
) -> dict[str, StoredArtifact]:
    """Return the artifacts after the turn, to which each operation that is done has written its own. With `of_turn`,
    they include those that last no longer than the turn."""
    written = dict(artifacts)
    for hook, steps in plan.steps.items():
        for step in steps:
            result = turn.results(hook).get(step.id)
            lasts = of_turn or step.artifact.persistence is ArtifactPersistence.PERSISTED
            if result is not None and result.is_done and lasts:
                before = written.get(step.artifact.tag)
                written[step.artifact.tag] = next_version(step, result, before, turn.now)
    return written


def next_version(step: ProfileOperation, result: StepResult, before: StoredArtifact | None, now: str) -> StoredArtifact:
    """Return an artifact after an operation that is done, with its history cut to the retention."""
    spec = step.artifact
    limit = spec.retention or HistoryLimit()
    earlier = slice(1 - limit.max_versions, None) if limit.max_versions > 1 else slice(0)
    return StoredArtifact(
        result.value,
        result.inclusion.text if result.inclusion else None,
        (*before.history, before.value)[earlier] if before else (),
        now,
        (*before.history_times, before.written_at)[earlier] if before else (),
        before.first_at if before else now,
        limit.max_age_days,
        before.version + 1 if before else 1,
        step.writer,
    ).at(now)
