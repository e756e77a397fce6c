"""The cloud of one schedule of chats: the table, the bucket, the queue of turns, and the functions around them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from random import Random

from cupel_core.base.messages import TurnOrder
from cupel_core.chats import worker
from cupel_core.store.queues import Delivery
from cupel_core.workspace.sweeping.erasure import erase_due
from cupel_core.workspace.sweeping.turn_recovery import recover_turns
from tests.simulation import loops
from tests.simulation.bucket import Bucket
from tests.simulation.chats.invariants import ChatInvariants
from tests.simulation.chats.models import ChatModels
from tests.simulation.harness import simulation
from tests.simulation.invocations import FunctionCloud, OnEnd
from tests.simulation.machines import StateMachines
from tests.simulation.message_queues import Queues
from tests.simulation.network import Network
from tests.simulation.scheduler import Invocation
from tests.simulation.table import Table

TURNS = "sim-turn"
_VISIBILITY_SECONDS = 330.0
_TURN_SECONDS, _SWEEP_SECONDS = 300.0, 55.0
_RETENTIONS = (None, None, None, timedelta(minutes=4), timedelta(minutes=15))


@dataclass(frozen=True)
class ChatConditions:
    """Properties a schedule of chats must have; None leaves the choice to the seed."""

    has_large_skew: bool | None = None
    """Whether clocks differ so much that claims have no effect: calls may be made twice, and nothing recorded twice."""
    has_slow_models: bool | None = None
    """Whether calls take longer than a claim lasts without renewal."""
    has_profile: bool | None = None
    has_forks: bool | None = None
    """Whether several people work on branches that have exchanges in common."""
    has_pauses: bool | None = None
    """Whether the account of all models is paused now and then."""


ANY_CHAT = ChatConditions()


class ChatCloud(FunctionCloud):
    def __init__(self, seed: int, trace: Callable[[str], None] | None, conditions: ChatConditions) -> None:
        super().__init__(seed, trace)
        rng, choices = self.scheduler.rng, Random(f"chats {seed}")
        large_skew = choices.random() < 0.15
        self.has_large_skew = large_skew if conditions.has_large_skew is None else conditions.has_large_skew
        self.chat_retention = choices.choice(_RETENTIONS)
        self.invariants: ChatInvariants = ChatInvariants(self)
        self.models: ChatModels = ChatModels(self, has_slow_models=conditions.has_slow_models is True)
        self.table = Table(lambda: self.scheduler.now, rng, self.invariants.observe, self.invariants.check_writes)
        self.bucket = Bucket()
        self.queues = Queues(lambda: self.scheduler.now, rng, self._notify)
        self.queues.duplicate_rate = rng.choice((0.0, 0.02, 0.2))
        self.queues.max_receives = rng.choice((1, 2, 5))
        self.queues.create(TURNS, _VISIBILITY_SECONDS)
        self.machines = StateMachines(rng, self.scheduler.after, lambda *_: None)
        self.network = Network(self.scheduler, self.faults, self.table, self.queues, self.bucket, self.machines)
        self._running = {TURNS: 0}

    def _consume(self, _: str, delivery: Delivery, on_end: OnEnd) -> None:
        self.invoke("turn", _TURN_SECONDS, lambda invocation: self._work(invocation, delivery), on_end)

    def _work(self, invocation: Invocation, delivery: Delivery) -> set[str]:
        ends_at = simulation.time() + _TURN_SECONDS
        order = TurnOrder.model_validate_json(delivery.body)
        loops.run(self.scheduler, invocation, worker.work(order, lambda: ends_at - simulation.time()))
        return set()

    def sweep_every_minute(self) -> None:
        self.invoke("sweep", _SWEEP_SECONDS, lambda _: self._sweep(), lambda _: None)
        self.scheduler.after(60.0, self.sweep_every_minute)

    def _sweep(self) -> None:
        ends_at = simulation.time() + _SWEEP_SECONDS

        def seconds_left() -> float:
            return ends_at - simulation.time()

        erase_due(simulation.now(), seconds_left)
        recover_turns(simulation.now(), seconds_left)

    def is_quiet(self) -> bool:
        return not self.active_invocations and self.queues.is_quiet()
