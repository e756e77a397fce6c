"""A started run without a definition or API, for tests of what follows the start."""

import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from cupel_core.accounts.keys import load_own_prices
from cupel_core.base import event_loop
from cupel_core.base.ids import new_id
from cupel_core.base.messages import DispatchRequest, ProbeSlice, RunRef
from cupel_core.domain.budgets.run_budget import RunBudget
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Manifest, Scenario
from cupel_core.domain.estimates.intervals import EstimateInterval
from cupel_core.domain.resources.webhooks import CallbackScope
from cupel_core.domain.runs.pace import UNLIMITED, Pace
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.sampling import sample
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.runs import dispatch
from cupel_core.runs.probing.worker import Worker
from cupel_core.store import object_names, queues, runs, scenarios, snapshots
from cupel_core.store.queues import Delivery
from cupel_core.store.settings import settings
from cupel_core.store.snapshots import Snapshot

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
RATING = {"decision": {"pattern": r"(?im)^rating:\s*([1-5])"}}


@dataclass
class RunSetup:
    """Parameters of a run to start."""

    scenario_count: int = 6
    models: tuple[str, ...] = ("sim/steady",)
    repeats: int = 1
    sample_percentage: int = 100
    content: dict[str, Any] = field(default_factory=lambda: dict(RATING))
    workspace: str = "ws_a"
    run_id: str | None = None
    judge_model: str | None = None
    assertions: tuple[Assertion, ...] = ()
    """Of each scenario."""
    callbacks: CallbackScope | None = None
    created_at: datetime = NOW
    budget: RunBudget | None = None
    params: dict[str, Any] = field(default_factory=dict)
    pace: Pace = UNLIMITED
    profile: dict[str, Any] | None = None
    """An operation profile, as the snapshot has it."""
    estimated_usd: EstimateInterval | None = None

    def start(self) -> Run:
        definition_id = new_id("def")
        manifest = scenarios.write_pages(
            self.workspace, definition_id, Manifest(), map(self._scenario, range(self.scenario_count))
        )
        selection = tuple(sample(self.scenario_count, self.sample_percentage, seed=1))
        run_id = self.run_id or new_id("run")
        run = Run(
            workspace=self.workspace,
            id=run_id,
            definition_id=definition_id,
            definition_version=1,
            plan=Plan(plain_targets(*self.models), (len(selection),), repeats=self.repeats),
            sample_percentage=self.sample_percentage,
            sample_seed=1,
            grader_config=GraderConfig(judge_model=self.judge_model),
            snapshot_key=object_names.snapshot_blob(RunRef(self.workspace, run_id), run_id),
            created_at=self.created_at,
            updated_at=self.created_at,
            definition_name="rating",
            scenario_count=len(selection),
            scenario_total=self.scenario_count,
            callbacks=self.callbacks,
            estimated_usd=self.estimated_usd,
            budget=self.budget,
            params=self.params,
            max_concurrency=self.pace.max_concurrency,
            stagger_ms=self.pace.stagger_ms,
        )
        prices = load_own_prices(self.workspace)
        snapshot = Snapshot(self.content, manifest, selection, profile=self.profile, prices=prices, price_list="test")
        snapshots.save(run.snapshot_key, snapshot)
        return runs.create(run, {"total": run.plan.total})

    def _scenario(self, number: int) -> Scenario:
        scenario = rating_scenario(number)
        return replace(scenario, assertions=self.assertions) if self.assertions else scenario


@lru_cache(10_000)
def rating_scenario(number: int) -> Scenario:
    text = f"Question {number}. End with the line `Rating: N`."
    return Scenario("", f"case {number}", (Message(MessageRole.USER, text),), {"stakes": float(number % 5 + 1)})


def ref_of(run: Run) -> RunRef:
    return RunRef(run.workspace, run.id)


def dispatch_request(run: Run) -> DispatchRequest:
    return DispatchRequest(workspace=run.workspace, run_id=run.id, fencing_token=run.fencing_token)


def slice_message(run: Run, indexes: list[int], leaf: int = 0) -> ProbeSlice:
    return ProbeSlice(
        workspace=run.workspace, run_id=run.id, fencing_token=run.fencing_token, leaf=leaf, indexes=indexes
    )


def send_and_receive(*slices: ProbeSlice, provider: str = "sim") -> list[Delivery]:
    """Send the slices and receive them again."""
    url = settings().probe_queue_url(provider)
    queues.send(url, slices)
    return [delivery for _ in slices for delivery in queues.receive(url, 1)]


def receive_bodies(url: str) -> list[str]:
    """The bodies of all visible messages."""
    bodies: list[str] = []
    while deliveries := queues.receive(url, 10):
        bodies += [delivery.body for delivery in deliveries]
    return bodies


def dispatch_and_probe(run: Run, provider: str = "sim") -> None:
    """Dispatch the run and execute all its probes, as the functions would."""
    dispatch.execute(dispatch_request(run), NOW, lambda: 600.0)
    url = settings().probe_queue_url(provider)
    while deliveries := queues.receive(url, 10):
        worker = Worker(provider, time.time() + 600.0, receive_wait_seconds=0)
        assert event_loop.run(worker.run(deliveries)) == []
