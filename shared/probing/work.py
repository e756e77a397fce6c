"""A slice in a worker's hands: from its claim to its acknowledgement."""

from collections import deque
from dataclasses import dataclass, field

from shared.domain.definitions import Content
from shared.domain.runs import Run
from shared.messages import ProbeSlice, RunRef
from shared.probing.talk import Task
from shared.providers.account import Account
from shared.store.queues import Delivery
from shared.store.snapshots import Snapshot


@dataclass(frozen=True)
class Setting:
    """What the probes of a slice have in common."""

    run: Run
    snapshot: Snapshot
    content: Content
    account: Account

    def task(self, index: int) -> Task:
        probe = self.run.plan.probe(index)
        return Task(
            ref=RunRef(self.run.workspace, self.run.id),
            generation=self.run.generation,
            index=index,
            scenario=self.snapshot.scenario(probe.scenario),
            content=self.content,
            temperature=self.run.temperature,
            max_turns=self.run.max_turns,
            repeat=probe.repeat,
            seed=self.run.sample_seed,
        )

    def model(self, index: int) -> str:
        return self.run.plan.targets[self.run.plan.probe(index).target]


@dataclass
class Work:
    """`waiting` are not begun, `begun` are running or finished and not yet recorded. The rest of the slice is done."""

    piece: ProbeSlice
    delivery: Delivery
    claimant: str
    setting: Setting
    waiting: deque[int]
    begun: set[int] = field(default_factory=set)
    known: dict[int, bool] = field(default_factory=dict)
    """Outcomes that a claimant before us stored without having told the barrier."""
    postponed: list[int] = field(default_factory=list)
    """To be handed on in a message of their own, `delay_seconds` later."""
    delay_seconds: float = 0.0
    asked_to_wait: bool = False
    """Whether a provider asked for the delay."""
    error: str | None = None
    """Why a probe of the slice could not be carried out: the message has to come again."""

    @property
    def is_done(self) -> bool:
        return not self.waiting and not self.begun

    @property
    def is_to_come_again(self) -> bool:
        return self.error is not None

    def begin(self) -> int:
        index = self.waiting.popleft()
        self.begun.add(index)
        return index

    def postpone(self, index: int, delay_seconds: float) -> None:
        self.postponed.append(index)
        self.delay_seconds = max(self.delay_seconds, delay_seconds)

    def rest(self) -> ProbeSlice:
        """The message that hands on what was postponed; only waits a provider asked for are counted."""
        handoffs = self.piece.handoffs + self.asked_to_wait
        return self.piece.model_copy(update={"indexes": sorted(self.postponed), "handoffs": handoffs})
