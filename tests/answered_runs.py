"""A run whose targets have answered, as its workers would have left it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from typing import Any

from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.barrier import Node, leaf_of
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import Action, Run
from cupel_core.domain.runs.transcripts import ProbeError, Transcript
from cupel_core.domain.scoring.grader_config import Evaluation
from cupel_core.domain.scoring.scoring import Scoring, conclude
from cupel_core.domain.turns.conversation import Dialogue
from cupel_core.domain.turns.model_request import ErrorCode, Message, Role, Usage
from cupel_core.ids import new_id
from cupel_core.messages import RunRef
from cupel_core.store import barrier, keys, outcomes, runs, scenarios, snapshots
from cupel_core.store.barrier import Tree
from cupel_core.store.snapshots import Snapshot
from tests.started_runs import NOW, ref_of

JUDGE = "sim/judge"


def said(index: int) -> str:
    return f"answer {index}"


@dataclass
class Answered:
    """How the run was. `answer` is what the target says in a probe; None is an error."""

    scenarios: tuple[Scenario, ...] = (Scenario("", "one", (Message(Role.USER, "?"),)),)
    models: tuple[str, ...] = ("sim/steady", "sim/bold")
    repeats: int = 1
    answer: Callable[[int], str | None] = said
    scoring: Callable[[int], Scoring | None] = lambda _: conclude(None, None, ())
    content: Content = field(default_factory=Content)
    evaluation: Evaluation = field(default_factory=lambda: Evaluation(judge_model=JUDGE))
    expires_at: datetime | None = None
    workspace: str = "ws_a"

    def start(self) -> Run:
        """RUNNING, and every probe has its outcome."""
        definition_id, run_id = new_id("def"), new_id("run")
        manifest = scenarios.append(self.workspace, definition_id, self.scenarios)
        run = Run(
            workspace=self.workspace,
            id=run_id,
            definition_id=definition_id,
            definition_version=1,
            plan=Plan(self.models, (len(self.scenarios),), repeats=self.repeats),
            sample_percentage=100,
            sample_seed=1,
            snapshot_key=keys.snapshot_blob(RunRef(self.workspace, run_id), run_id),
            created_at=NOW,
            updated_at=NOW,
            evaluation=self.evaluation,
        )
        snapshots.put(run.snapshot_key, Snapshot(self.content.to_json(), manifest, tuple(range(len(self.scenarios)))))
        run = runs.create(run, {})
        runs.move(ref_of(run), Action.START, NOW)
        self._record(run)
        return runs.get(ref_of(run))

    def summarizing(self) -> Run:
        return self._summarize(self.start())

    def completed(self) -> Run:
        return runs.move(ref_of(self.summarizing()), Action.COMPLETE, NOW, completed_at=NOW)

    def _summarize(self, run: Run) -> Run:
        settled = barrier.progress(Tree.of(run))
        return runs.move(ref_of(run), Action.SUMMARIZE, NOW, settled=settled)

    def _record(self, run: Run) -> None:
        indexes = range(run.plan.total)
        found = [self.outcome(run, index) for index in indexes]
        outcomes.record(run, run.epoch, found)
        for number, leaf in groupby(found, key=lambda each: leaf_of(each.probe_index).number):
            told = {each.probe_index: isinstance(each, Transcript) for each in leaf}
            barrier.propagate(Tree.of(run), Node(0, number), barrier.record(Tree.of(run), Node(0, number), told))

    def outcome(self, run: Run, index: int) -> Transcript | ProbeError:
        probe, answer = run.plan.probe(index), self.answer(index)
        scenario = snapshots.get(run.snapshot_key).scenario(probe.case)
        which: dict[str, Any] = {
            "probe_index": index,
            "scenario_id": scenario.id,
            "model_id": run.plan.targets[probe.target],
            "created_at": NOW,
        }
        if answer is None:
            return ProbeError(**which, code=ErrorCode.TIMEOUT, message="no answer", attempts=4)
        messages = (*scenario.messages, Message(Role.ASSISTANT, answer))
        dialogue = Dialogue(messages, turns=1, usage=Usage(3, 4), duration_ms=12)
        kept = Transcript(**which, dialogue=dialogue, scoring=self.scoring(index), content_expires_at=self.expires_at)
        verdict = kept.scoring.verdict if kept.scoring else None
        return replace(kept, dialogue=replace(dialogue, verdict=verdict))


def transcript_of(run: Run, index: int) -> Transcript:
    found = outcomes.get(ref_of(run), index)
    assert isinstance(found, Transcript)
    return found
