"""The state of the pipeline in a conversation: its artifacts, the turn in progress, and the records of past turns."""

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
    """A persisted artifact: its value, the value's text in the prompt, and earlier values, oldest first.

    Times are those at which turns began.
    """

    value: Any
    inclusion: str | None = None
    history: tuple[Any, ...] = ()
    written_at: str = ""
    history_times: tuple[str, ...] = ()
    """When each earlier value was written."""
    first_at: str = ""
    """When its first value was written."""
    max_age_days: int | None = None
    """After which earlier values are no part of its history, as of its last write."""
    version: int = 1
    """How many values there were, with this one."""
    writer: Mapping[str, Any] = field(default_factory=dict)
    """`{operationId, title, format, usage, semantics}` of the operation that has written the value."""
    turn_id: str | None = None
    """In a chat: the turn that has written the value, and the position of its exchange."""
    position: int | None = None

    def at(self, now: str) -> Self:
        """Without the earlier values that are too old by then."""
        if self.max_age_days is None or not self.history:
            return self
        earliest = datetime.fromisoformat(now) - timedelta(days=self.max_age_days)
        aged = zip(self.history, self.history_times, strict=True)
        recent = [each for each in aged if datetime.fromisoformat(each[1]) >= earliest]
        history, times = ([each[part] for each in recent] for part in (0, 1))
        return replace(self, history=tuple(history), history_times=tuple(times))


type Artifacts = Mapping[str, StoredArtifact]
"""By tag."""


def written_value(spec: ArtifactSpec, value: Any, before: StoredArtifact | None) -> Any:
    """The value of an artifact after an operation has made `value`."""
    if spec.write_mode is WriteMode.REPLACE or before is None:
        return value
    if isinstance(value, list):
        return [*before.value, *value]
    return f"{before.value}\n{value}"


@dataclass(frozen=True)
class OpenTurn:
    """A turn whose effects are not committed yet."""

    now: str
    """When it began, as templates see it."""
    before: Results = field(default_factory=dict)
    after: Results = field(default_factory=dict)
    answers: Mapping[str, PaidAnswer] = field(default_factory=dict)
    """Of the hook in progress: by operation, what was paid for and has no result yet."""
    is_prepared: bool = False
    """Every operation before the main call has ended."""
    is_answered: bool = False
    is_reviewed: bool = False
    """Every operation after the main call has ended."""
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
        """`are_all` says that every operation of the hook has ended."""
        left = {name: answer for name, answer in (answers or {}).items() if name not in results}
        if hook is Hook.BEFORE:
            return replace(self, before=results, answers=left, is_prepared=are_all or self.is_prepared)
        return replace(self, after=results, answers=left, is_reviewed=are_all or self.is_reviewed)


@dataclass(frozen=True)
class PipelineState:
    """What a conversation keeps of its profile between calls."""

    artifacts: Artifacts = field(default_factory=dict)
    """Those that are persisted."""
    past_spend: Spend = field(default_factory=Spend)
    """Of the operations of past turns."""
    records: tuple[Mapping[str, Any], ...] = ()
    """Of the turns so far, as they are stored with the transcript."""
    turn: OpenTurn | None = None

    @property
    def spend(self) -> Spend:
        """Of all operations."""
        spent = self.turn.spend if self.turn else _NOTHING
        return self.past_spend + spent if spent.calls else self.past_spend

    @property
    def length(self) -> int:
        """About how many characters past turns have left."""
        stored = (*self.records, *(encode(artifact) for artifact in self.artifacts.values()))
        return sum(map(value_length, stored))

    def with_turn(self, turn: OpenTurn) -> "PipelineState":
        return PipelineState(self.artifacts, self.past_spend, self.records, turn)

    def without_content(self) -> Self:
        """What was spent, and nothing that was said."""
        return replace(self, artifacts={}, records=())


def _results(data: Mapping[str, Any]) -> dict[str, StepResult]:
    return {name: decode(StepResult, each) for name, each in data.items()}


def turn_changes(plan: PipelinePlan, ranked: Iterable[ProfileOperation], state: PipelineState) -> list[PromptChange]:
    """What changes the prompt of the turn in progress: inclusions by rank of their operations, then effects.

    `ranked` are the operations of the profile that are enabled, by rank, also those that this turn leaves out: the
    persisted value of such an operation is included all the same.
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
    """What became of one effect."""

    hook: Hook
    operation_id: str
    effect_index: int
    effect_type: EffectType
    status: str
    error: str | None = None


def commit_rows(plan: PipelinePlan, turn: OpenTurn) -> Iterator[CommitRow]:
    """Of the operations that are done, in commit order."""
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
    """The artifacts after the turn: each operation that is done has written its own. With `of_turn` also those that
    last no longer than the turn."""
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
    """An artifact after an operation that is done, with as much of its history as is to stay."""
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
