"""What the probes of a slice are held with: the run's snapshot, and the way to its targets, judges and personas."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from cupel_core.accounts import account
from cupel_core.conversations.runner import Task
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.resources.connectors import PROVIDER
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.domain.scoring.assertions import flat
from cupel_core.grading.graders import Panel
from cupel_core.ids import thread_id
from cupel_core.messages import ProbeSlice
from cupel_core.providers.account import Account
from cupel_core.providers.errors import PleaseWait
from cupel_core.resources import connectors, personas
from cupel_core.resources.evaluation_settings import evaluator_headers
from cupel_core.store import snapshots
from cupel_core.store.snapshots import Snapshot


@dataclass(frozen=True)
class Setting:
    """`account` is the provider's; an agent behind a connector has one of its own, by target."""

    run: Run
    snapshot: Snapshot
    content: Content
    account: Account
    agents: Mapping[str, Account] = field(default_factory=dict)
    judges: Mapping[str, Account] = field(default_factory=dict)
    """By provider."""
    persona_headers: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    evaluator_headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def scenario(self, index: int) -> Scenario:
        return self.snapshot.scenario(self.run.plan.probe(index).case)

    def task(self, index: int, panel: Panel) -> Task:
        probe = self.run.plan.probe(index)
        persona = self.snapshot.persona(probe.case)
        return Task(
            index=index,
            scenario=self.scenario(index),
            content=self.content,
            panel=panel,
            thread_id=thread_id(self.run.id, index, self.run.generation),
            persona=persona,
            persona_headers=self.persona_headers.get(persona.id, {}) if persona else {},
            temperature=self.run.temperature,
            max_turns=self.run.max_turns,
            repeat=probe.repeat,
            seed=self.run.sample_seed,
            generation=self.run.generation,
        )

    def given_up(self, index: int, wait: PleaseWait, now: datetime) -> ProbeError:
        """The outcome of a probe whose provider has asked to wait too often."""
        played = snapshots.played(self.run.snapshot_key, self.run.plan.probe(index).case)
        return ProbeError(
            probe_index=index,
            scenario_id=played.scenario_id,
            model_id=self.model(index),
            code=wait.code,
            message=wait.detail,
            attempts=wait.attempts,
            created_at=now,
            persona_id=played.persona_id,
            generation=self.run.generation,
        )

    def model(self, index: int) -> str:
        return self.run.plan.targets[self.run.plan.probe(index).target]

    def account_of(self, model: str) -> Account:
        return self.agents.get(model, self.account)


def setting_of(run: Run, piece: ProbeSlice) -> Setting:
    """Reads whatever a probe of the slice may need: the event loop must not wait for it later."""
    snapshot = snapshots.get(run.snapshot_key)
    targets = {run.plan.targets[run.plan.probe(index).target] for index in piece.indexes}
    provider = next(iter(targets)).partition("/")[0]
    content, access = Content.from_json(snapshot.definition), account(run.workspace, provider)
    setting = Setting(run, snapshot, content, access)
    cases = {run.plan.probe(index).case for index in piece.indexes}
    return replace(
        setting,
        agents=_agents(run.workspace, access, targets) if provider == PROVIDER else {},
        judges=_judges(run.workspace, _judge_models(setting, cases)),
        persona_headers=_persona_headers(run.workspace, snapshot, cases) if provider == PROVIDER else {},
        evaluator_headers=evaluator_headers(run.workspace, run.evaluation),
    )


def _agents(workspace: str, access: Account, targets: Iterable[str]) -> dict[str, Account]:
    """As they are now: an address that was mended serves the retry. One that was deleted still serves its runs."""
    agents = {}
    for target in targets:
        found = connectors.find(workspace, target.partition("/")[2])
        if found is not None:
            agents[target] = replace(access, base_url=found.base_url, connector=found)
    return agents


def _judge_models(setting: Setting, cases: Iterable[int]) -> set[str]:
    evaluation = setting.run.evaluation
    named = {evaluation.judge_model, evaluation.persona_model, evaluation.embedding_model}
    scenarios = (setting.snapshot.scenario(case) for case in cases)
    for assertions in (setting.content.assertions, *(scenario.assertions for scenario in scenarios)):
        named.update(assertion.provider for assertion in flat(assertions))
    return {model for model in named if model is not None}


def _judges(workspace: str, models: Iterable[str]) -> dict[str, Account]:
    providers = sorted({model.partition("/")[0] for model in models})
    return {provider: account(workspace, provider) for provider in providers}


def _persona_headers(workspace: str, snapshot: Snapshot, cases: Iterable[int]) -> dict[str, Mapping[str, str]]:
    speaking = {persona.id: persona for case in cases if (persona := snapshot.persona(case)) is not None}
    return {persona.id: personas.headers(workspace, persona) for persona in speaking.values()}
