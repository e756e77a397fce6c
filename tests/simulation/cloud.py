"""One schedule's cloud: its services, and the functions that they invoke."""

from collections.abc import Callable
from itertools import count
from typing import Any

from pynamodb.exceptions import PynamoDBException

from cupel_core.errors import AppError
from cupel_core.finishing import phases
from cupel_core.finishing.phases import LeafRange
from cupel_core.finishing.summarize import summarize
from cupel_core.messages import DispatchOrder, RunRef
from cupel_core.probing.worker import Worker
from cupel_core.runs import dispatch
from cupel_core.settings import Lane, settings
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.queues import Delivery
from cupel_core.sweeping import sweep
from tests.simulation import loops
from tests.simulation.bucket import Bucket
from tests.simulation.faults import ANY, Conditions, Fault, Faults
from tests.simulation.harness import stage
from tests.simulation.invariants import Laws
from tests.simulation.machines import Done, Machines
from tests.simulation.message_queues import Letter, Queues
from tests.simulation.models import Models
from tests.simulation.network import Network
from tests.simulation.scheduler import Invocation, Violation, World
from tests.simulation.table import Table

DISPATCH = "sim-dispatch"
PROBES = ("sim-probe-sim", "sim-probe-sim-high", "sim-probe-sim-low")
_CONCURRENCY = 2
_PROBE_SECONDS, _DISPATCH_SECONDS, _FINISH_SECONDS, _SWEEP_SECONDS = 60.0, 60.0, 120.0, 55.0
_VISIBILITY_SECONDS = 90.0
_MOST_SKEW_SECONDS, _WILD_SKEW_SECONDS = 0.5, 600.0
EXPECTED = (AppError, *AWS_ERRORS, PynamoDBException)
"""What may end an invocation; anything else is a bug."""


class Cloud:
    def __init__(self, seed: int, trace: Callable[[str], None] | None = None, conditions: Conditions = ANY) -> None:
        self.world = World(seed, trace)
        rng = self.world.rng
        self.faults = Faults(rng)
        self.laws = Laws(self)
        self.models = Models(self)
        self.table = Table(lambda: self.world.now, rng, self.laws.observe)
        self.queues = Queues(lambda: self.world.now, rng, self._stir)
        self.queues.twice_rate = rng.choice((0.0, 0.02, 0.2))
        for name in (DISPATCH, *PROBES):
            self.queues.create(name, _VISIBILITY_SECONDS)
        self.machines = Machines(rng, self.world.after, self._finish, self._execution_dies)
        self.network = Network(self.world, self.faults, self.table, self.queues, Bucket(), self.machines)
        self._running = dict.fromkeys((DISPATCH, *PROBES), 0)
        self._numbers = count(1)
        self.living = 0
        wild, bare = rng.random() < 0.15, rng.random() < 0.5
        self.has_wild_clocks = wild if conditions.has_wild_clocks is None else conditions.has_wild_clocks
        self.is_bare = bare if conditions.is_bare is None else conditions.is_bare
        self.queues.most_receives = 1_000 if self.is_bare else rng.choice((1, 2, 5))

    # -- invocations

    def invoke(
        self, name: str, seconds: float, work: Callable[[Invocation], Any], then: Callable[[Done], None]
    ) -> None:
        """Calls a function; `then` is told once how it ended, also when it crashed or ran out of time."""
        skew = self._skew()
        told: list[Done] = []

        def end(done: Done) -> None:
            if not told:
                told.append(done)
                self.living -= 1
                self.world.log(f"ends: {invocation.name} {done.error or 'well'}")
                then(done)

        invocation = Invocation(f"{name}-{next(self._numbers)}", skew, mourn=lambda: end(Done(error="crashed")))

        def job() -> None:
            try:
                done = Done(work(invocation))
            except EXPECTED as error:
                invocation.was_hurt = True
                done = Done(error=f"{type(error).__name__}: {error}", cause=error)
            self.world.bury(invocation)
            end(done)

        def time_out() -> None:
            if not told and not invocation.was_late:
                raise Violation(f"{invocation.name} has not ended in its {seconds:.0f} s")
            die()

        def die() -> None:
            if not told:
                self.world.kill(invocation)

        self.living += 1
        self.world.spawn(invocation, job)
        self.world.after(seconds, time_out)
        if self.faults.happens(Fault.CRASH, self.faults.crash_rate):
            self.world.after(self.world.rng.expovariate(0.5), die)

    def _skew(self) -> float:
        most = _WILD_SKEW_SECONDS if self.has_wild_clocks else _MOST_SKEW_SECONDS
        return self.world.rng.uniform(-most, most) if self.faults.happens(Fault.SKEW, 0.5) else 0.0

    def _execution_dies(self) -> bool:
        return self.faults.happens(Fault.EXECUTION, self.faults.crash_rate / 3)

    # -- event source mappings

    def _stir(self, name: str, seconds: float) -> None:
        if name in self._running:
            self.world.after(seconds + self.world.rng.uniform(0.001, 0.02), lambda: self._poll(name))

    def _poll(self, name: str) -> None:
        """Hands the queue's messages to its function, one an invocation."""
        queue = self.queues.named(name)
        while self._running[name] < _CONCURRENCY:
            found = self.queues.receive(queue, 1)
            if not found:
                return
            self._running[name] += 1
            self._deliver(name, found[0])

    def _deliver(self, name: str, letter: Letter) -> None:
        def ended(done: Done) -> None:
            self._running[name] -= 1
            if done.error is None and letter.id not in done.result:
                self.queues.delete(self.queues.named(name), letter.receipt)
            self._poll(name)

        delivery = Delivery(settings().queue_url(name), letter.id, letter.receipt, letter.body, letter.receives)
        if name == DISPATCH:
            self.invoke("dispatch", _DISPATCH_SECONDS, lambda _: self._dispatch(delivery), ended)
        else:
            self.invoke("probe", _PROBE_SECONDS, lambda me: self._probe(me, delivery), ended)

    # -- functions, each as its handler does

    def _dispatch(self, delivery: Delivery) -> set[str]:
        ends_at = stage.time() + _DISPATCH_SECONDS
        dispatch.carry_out(
            DispatchOrder.model_validate_json(delivery.body), stage.now(), lambda: ends_at - stage.time()
        )
        return set()

    def _probe(self, me: Invocation, delivery: Delivery) -> set[str]:
        lane = Lane.of(delivery.queue_url)

        async def work() -> list[Delivery]:
            worker = Worker(lane.provider, stage.time() + _PROBE_SECONDS, priority=lane.priority)
            return await worker.run([delivery])

        return {each.id for each in loops.run(self.world, me, work())}

    def _finish(self, payload: dict[str, Any], then: Callable[[Done], None]) -> None:
        self.invoke("finish", _FINISH_SECONDS, lambda me: self._phase(me, payload), then)

    def _phase(self, me: Invocation, payload: dict[str, Any]) -> dict[str, Any]:
        ref, epoch = RunRef(payload["workspace"], payload["runId"]), payload["epoch"]
        match payload["op"]:
            case "settle":
                settled = phases.settle(ref, epoch, stage.now())
                parts = [{"firstLeaf": part.first_leaf, "leaves": part.leaves} for part in settled.slices]
                return {"status": settled.status, "slices": parts}
            case "summarize":
                ends_at = stage.time() + 900.0
                part = LeafRange(payload["firstLeaf"], payload["leaves"])
                loops.run(self.world, me, summarize(ref, epoch, part, lambda: ends_at - stage.time()))
                return {}
            case "complete":
                return {"status": phases.complete(ref, epoch, stage.now())}
        where, cause = next(iter(payload["error"].items()))
        return {"status": phases.fail(ref, epoch, where, cause["Cause"], stage.now())}

    def sweep_every_minute(self) -> None:
        self.invoke("sweep", _SWEEP_SECONDS, lambda _: self._sweep(), lambda _: None)
        self.world.after(60.0, self.sweep_every_minute)

    def _sweep(self) -> None:
        ends_at = stage.time() + _SWEEP_SECONDS
        sweep.sweep(stage.now(), lambda: ends_at - stage.time())

    # -- what is left to happen

    def is_quiet(self) -> bool:
        return not self.living and self.queues.is_quiet() and self.machines.is_quiet()
