"""One schedule from a seed: a run is started, steered and shaken; then the faults stop and all must come to rest."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from cupel_core.definitions import catalog
from cupel_core.definitions.catalog import Labels
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import TERMINAL, Priority, RunStatus
from cupel_core.domain.scoring.grader_config import Evaluation
from cupel_core.domain.turns.conversation import Criteria, FailureMode
from cupel_core.domain.turns.model_request import Message, Role
from cupel_core.errors import ClientError, Conflict
from cupel_core.runs import control
from cupel_core.runs.spec import RunSpec
from cupel_core.runs.start import start
from cupel_core.store import scenarios
from tests.simulation.cloud import Cloud
from tests.simulation.faults import ANY, Conditions, Fault
from tests.simulation.harness import FANOUT, forget, stage
from tests.simulation.invariants import require
from tests.simulation.machines import Done
from tests.simulation.scheduler import Invocation, Violation

_WORKSPACE = "ws_sim"
_API_SECONDS = 29.0
_HORIZON_SECONDS = 6 * 3_600.0
"""Longer than anything may take once the faults have stopped: a run that is not over by then never ends."""
_MOST_SCENARIOS = FANOUT**3 // 4
"""With two models and two repeats the tree has three levels, as that of a run of a million has."""
_PATTERN = {"pattern": r"(?im)^rating:\s*([1-5])"}
_JUDGE = {"rubric": "the number that was rated", "judgeModel": "sim/steady"}


@dataclass(frozen=True)
class Plan:
    """What a schedule runs, and for how long it is shaken."""

    scenario_count: int
    spec: dict[str, Any]
    criteria: Criteria
    content: dict[str, Any]
    actions: list[str]
    second_thoughts: list[str]
    """Actions for when the run is over."""
    pace_seconds: float
    """Between two actions, on the average."""
    shaken_seconds: float

    @classmethod
    def of(cls, rng: Random) -> "Plan":
        names = ("pause", "resume", "hiccup", "cancel", "retry", "expand")
        follow_ups = ["And why?"] * rng.choice((0, 0, 1, 2))
        decision = _JUDGE if rng.random() < 0.2 else _PATTERN
        judged = rng.random() < 0.3
        return cls(
            scenario_count=rng.randint(1, _MOST_SCENARIOS),
            spec={
                "models": ("sim/steady", "sim/bold")[: rng.randint(1, 2)],
                "sample_percentage": rng.choice((100, 100, 50)),
                "repeats": rng.choice((1, 1, 2)),
                "sample_seed": 1,
                "priority": rng.choice((Priority.NORMAL, Priority.NORMAL, Priority.HIGH, Priority.LOW)),
                "evaluation": Evaluation("sim/judge", "sim/user") if judged else Evaluation(),
            },
            criteria=Criteria("it is rated", "it is rude", rng.choice(list(FailureMode))) if judged else Criteria(),
            content={"decision": decision, "followUps": follow_ups},
            actions=rng.choices(names, weights=(5, 4, 4, 1, 2, 2), k=rng.choice((0, 0, 1, 3, 6))),
            second_thoughts=rng.choices(("retry", "retry", "expand"), k=rng.choice((0, 1, 2, 4))),
            pace_seconds=rng.choice((0.5, 3.0, 10.0)),
            shaken_seconds=rng.choice((10.0, 60.0, 180.0)),
        )


@dataclass(frozen=True)
class Result:
    """Of one schedule; `violation` is what was broken, if anything."""

    seed: int
    steps: int
    calls: int
    faults: Counter[Fault]
    moves: Counter[str]
    status: RunStatus | None
    seconds: float
    violation: str | None = None


def carry_out(seed: int, trace: Callable[[str], None] | None = None, conditions: Conditions = ANY) -> Result:
    """Within `staging.set_up`."""
    forget()
    cloud = stage.cloud = Cloud(seed, trace, conditions)
    violation = None
    try:
        _Schedule(cloud).begin()
        cloud.world.run()
        cloud.laws.check_rest()
    except Exception as error:
        violation = f"{type(error).__name__}: {error}"
        if trace is not None and not isinstance(error, Violation):
            raise
    cloud.faults.counts[Fault.TWICE] = cloud.queues.doubled
    cloud.faults.counts[Fault.EXPIRED] = cloud.queues.expired
    run, world = cloud.laws.run, cloud.world
    return Result(
        seed,
        world.steps,
        cloud.models.made,
        +cloud.faults.counts,
        cloud.laws.moves,
        run.status if run else None,
        world.now,
        violation,
    )


class _Schedule:
    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._world = cloud.world
        self._plan = Plan.of(self._world.rng)
        self._answers: list[str] = []
        self._busy = 0
        self._is_shaken = True

    def begin(self) -> None:
        definition = catalog.create(_WORKSPACE, Labels(name="it"), self._plan.content, stage.now())
        cases = (
            Scenario("", f"case {n}", (Message(Role.USER, f"{n}?"),), criteria=self._plan.criteria, max_messages=6)
            for n in range(self._plan.scenario_count)
        )
        scenarios.append(_WORKSPACE, definition.head.id, cases)
        self._cloud.models.tells_apart = len(self._plan.spec["models"]) == self._plan.spec["repeats"] == 1
        spec = RunSpec(definition_id=definition.head.id, **self._plan.spec)
        self._world.log(f"{self._plan}")
        for number in range(self._world.rng.choice((1, 1, 2, 3))):
            self._person(f"starter-{number}", lambda: self._start(spec))
        self._person("owner", self._steer)
        self._world.after(self._world.rng.uniform(0, 60), self._cloud.sweep_every_minute)
        self._world.after(self._plan.shaken_seconds, self._calm)

    def _person(self, name: str, work: Callable[[], None]) -> None:
        """Somebody at the API: asks one thing after the other, never dies, ends when all is asked."""
        self._busy += 1

        def job() -> None:
            work()
            self._busy -= 1

        self._world.spawn(Invocation(name), job)

    def _start(self, spec: RunSpec) -> None:
        """Repeats the request under its key until it is answered."""
        self._world.sleep(self._world.rng.uniform(0, 2))
        while True:
            done = self._ask("start", lambda: start(_WORKSPACE, spec, "the key", stage.now()).run.id)
            if done.error is None:
                self._answers.append(done.result)
                require(len(set(self._answers)) == 1, f"6: one key was answered with {self._answers}")
                return
            require(isinstance(done.cause, Conflict) or not isinstance(done.cause, ClientError), f"start: {done.error}")
            self._world.sleep(self._world.rng.uniform(0.5, 20))

    def _steer(self) -> None:
        """Carries out the plan's actions, one after the other, at any moment; some more than once a time."""
        for action in self._plan.actions:
            self._world.sleep(self._world.rng.expovariate(1 / self._plan.pace_seconds))
            self._act(action)
        thoughts = list(self._plan.second_thoughts)
        while self._is_shaken or not self._is_over():
            self._world.sleep(self._world.rng.uniform(1, 15))
            run = self._cloud.laws.run
            if self._is_over() and thoughts:
                self._act(thoughts.pop())
                self._world.sleep(self._world.rng.uniform(0, 6))
                self._act(self._world.rng.choice(("hiccup", "none")))
            elif not self._is_shaken and run is not None and run.status is RunStatus.PAUSED:
                self._act("resume")

    def _is_over(self) -> bool:
        run = self._cloud.laws.run
        return run is not None and run.status in TERMINAL

    def _act(self, action: str) -> None:
        """Until the run's answer or a refusal."""
        if action == "hiccup":
            self._act("pause")
            self._world.sleep(self._world.rng.uniform(0, 2))
            self._act("resume")
        elif action != "none":
            self._insist(action)

    def _insist(self, action: str) -> None:
        for _ in range(50):
            run = self._cloud.laws.run
            if run is None:
                return
            work = self._work(action, run.id)
            done = self._ask(action, work)
            if done.error is None or isinstance(done.cause, ClientError):
                return
            self._world.sleep(self._world.rng.uniform(0.1, 3))

    def _work(self, action: str, run_id: str) -> Callable[[], object]:
        steps: dict[str, Callable[[], object]] = {
            "pause": lambda: control.pause(_WORKSPACE, run_id, stage.now()),
            "resume": lambda: control.resume(_WORKSPACE, run_id, stage.now()),
            "cancel": lambda: control.cancel(_WORKSPACE, run_id, stage.now()),
            "retry": lambda: control.retry(_WORKSPACE, run_id, stage.now()),
            "expand": lambda: control.expand(_WORKSPACE, run_id, 100, stage.now()),
        }
        return steps[action]

    def _ask(self, name: str, work: Callable[[], object]) -> Done:
        """One request to the API; what it answered, or that it failed."""
        ticket, slot = self._world.ticket(), list[Done]()

        def ended(done: Done) -> None:
            slot.append(done)
            self._world.wake(ticket)

        self._cloud.invoke(f"api-{name}", _API_SECONDS, lambda _: work(), ended)
        self._world.suspend()
        return slot[0]

    def _calm(self) -> None:
        """The faults stop; what they have left behind is for the sweeper."""
        self._is_shaken = False
        self._cloud.faults.are_over = True
        self._cloud.queues.twice_rate = 0.0
        self._world.log("---- faults are over ----")
        self._look(self._world.now + _HORIZON_SECONDS)

    def _look(self, deadline: float) -> None:
        if not self._busy and self._cloud.is_quiet() and self._cloud.laws.is_at_rest():
            self._world.end()
            return
        run = self._cloud.laws.run
        require(self._world.now < deadline, f"1: never comes to rest; the run is {run and run.status}")
        self._world.after(5.0, lambda: self._look(deadline))


def _scenario(number: int) -> Scenario:
    return Scenario("", f"case {number}", (Message(Role.USER, f"{number}?"),), {})
