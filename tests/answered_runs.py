"""A run whose targets have replied, as its workers would have left it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from cupel_core.accounts.keys import load_own_prices
from cupel_core.base.ids import new_id
from cupel_core.base.messages import RunRef
from cupel_core.domain.budgets.run_budget import RunBudget
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Message, MessageRole, ProbeErrorCode, Usage
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Manifest, Scenario
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.runs.barrier import Node
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import Action, Run
from cupel_core.domain.runs.run_spend import RunSpend
from cupel_core.domain.runs.sampling import sample
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.domain.runs.transcripts import ProbeError, Summary, Transcript
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.domain.scoring.scoring import Scoring, build_scoring
from cupel_core.store import barrier, object_names, outcomes, runs, scenarios, snapshots
from cupel_core.store.barrier import Tree
from cupel_core.store.snapshots import Snapshot
from tests.recorded_outcomes import store_outcomes
from tests.started_runs import NOW, ref_of

JUDGE = "sim/bold"


def default_answer(index: int) -> str:
    return f"answer {index}"


@dataclass
class AnsweredRun:
    """Describes the run. `answer` gives the target's reply by probe index; None makes the probe an error."""

    scenarios: tuple[Scenario, ...] = (Scenario("", "one", (Message(MessageRole.USER, "?"),)),)
    models: tuple[str, ...] = ("sim/steady", "sim/bold")
    prompt_ids: tuple[str, ...] = ()
    repeats: int = 1
    answer: Callable[[int], str | None] = default_answer
    duration_ms: Callable[[int], int] = lambda _: 12
    cost_usd: Callable[[int], float | None] = lambda _: 0.0
    scoring: Callable[[int], Scoring | None] = lambda _: build_scoring(None, None, ())
    content: Content = field(default_factory=Content)
    grader_config: GraderConfig = field(default_factory=lambda: GraderConfig(judge_model=JUDGE))
    summary: Summary | None = None
    expires_at: datetime | None = None
    workspace: str = "ws_a"
    definition_id: str | None = None
    """Runs of one definition have scenarios with the same ids."""
    sample_percentage: int = 100
    """Of the scenarios."""
    budget: RunBudget | None = None
    persona: Persona | None = None
    """The simulated user of every case."""

    def start(self) -> Run:
        """The run, RUNNING, with an outcome for every probe."""
        definition_id, run_id = self.definition_id or new_id("def"), new_id("run")
        manifest = scenarios.write_pages(self.workspace, definition_id, Manifest(), self.scenarios)
        positions = sample(len(self.scenarios), self.sample_percentage, 1)
        run = Run(
            workspace=self.workspace,
            id=run_id,
            definition_id=definition_id,
            definition_version=1,
            plan=Plan(plain_targets(*self.models), (len(positions),), repeats=self.repeats, prompt_ids=self.prompt_ids),
            sample_percentage=self.sample_percentage,
            sample_seed=1,
            definition_name="answered",
            scenario_count=len(positions),
            scenario_total=len(self.scenarios),
            snapshot_key=object_names.snapshot_blob(RunRef(self.workspace, run_id), run_id),
            created_at=NOW,
            updated_at=NOW,
            grader_config=self.grader_config,
            params=self.content.params,
            budget=self.budget,
        )
        personas = {"personas": (self.persona,), "case_personas": (0,) * len(positions)} if self.persona else {}
        fixed: dict[str, Any] = {"prices": load_own_prices(self.workspace), "price_list": "test"}
        content = self.content.to_json()
        snapshots.save(run.snapshot_key, Snapshot(content, manifest, tuple(positions), **personas, **fixed))
        run = runs.create(run, {})
        runs.transition(ref_of(run), Action.START, NOW)
        self._record(run)
        return runs.get(ref_of(run))

    def summarizing(self) -> Run:
        return self._summarize(self.start())

    def completed(self) -> Run:
        return runs.transition(ref_of(self.summarizing()), Action.COMPLETE, NOW, completed_at=NOW, spend=RunSpend())

    def _summarize(self, run: Run) -> Run:
        settled = barrier.get_progress(Tree.for_run(run))
        return runs.transition(ref_of(run), Action.SUMMARIZE, NOW, settled=settled)

    def _record(self, run: Run) -> None:
        indexes = range(run.plan.total)
        results = [self.outcome(run, index) for index in indexes]
        for number, item in store_outcomes(run, run.fencing_token, results).items():
            barrier.propagate(Tree.for_run(run), Node(0, number), item)

    def outcome(self, run: Run, index: int) -> Transcript | ProbeError:
        probe, answer = run.plan.probe(index), self.answer(index)
        scenario = snapshots.get(run.snapshot_key).scenario(probe.case)
        identity: dict[str, Any] = {
            "probe_index": index,
            "scenario_id": scenario.id,
            "persona_id": self.persona.id if self.persona else None,
            "model_id": run.plan.columns[probe.column].target.model,
            "created_at": NOW,
        }
        if answer is None:
            return ProbeError(**identity, code=ProbeErrorCode.TIMEOUT, message="no answer", attempts=4)
        messages = (*scenario.messages, Message(MessageRole.ASSISTANT, answer))
        cost, duration_ms = self.cost_usd(index), self.duration_ms(index)
        state = ConversationState(messages, turns=1, usage=Usage(3, 4), duration_ms=duration_ms, cost_usd=cost)
        transcript = Transcript(
            **identity,
            conversation=state,
            summary=self.summary,
            scoring=self.scoring(index),
            content_expires_at=self.expires_at,
        )
        verdict = transcript.scoring.verdict if transcript.scoring else None
        return replace(transcript, conversation=replace(state, verdict=verdict))


def get_transcript(run: Run, index: int) -> Transcript:
    results = outcomes.get(ref_of(run), index)
    assert isinstance(results, Transcript)
    return results


class RatedRun(AnsweredRun):
    """The last character of each reply is its decision, as a pattern such as `Rating: ([1-5])` reads it."""

    def outcome(self, run: Run, index: int) -> Transcript | ProbeError:
        found = super().outcome(run, index)
        if isinstance(found, ProbeError):
            return found
        return replace(found, summary=Summary((self.answer(index) or "")[-1], "", NOW))
