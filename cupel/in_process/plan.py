"""What is asked for, checked as a whole before anything is asked of a model."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from random import Random
from secrets import randbelow
from typing import Any

from cupel.errors import WrongUse
from cupel.in_process import options as told
from cupel.in_process.accounts import Accounts
from cupel.in_process.agents import Agent, Asking, name_of
from cupel.in_process.definition import Case, Definition, Subject, connector_of, read_subject
from cupel.in_process.options import Options
from cupel.in_process.probes import Probe
from cupel_core.conversations.runner import Task
from cupel_core.conversations.turn import PATIENCE_SECONDS, Target
from cupel_core.domain.resources.connectors import PROVIDER
from cupel_core.domain.runs.plan import MAX_PROBES, Plan
from cupel_core.domain.runs.sampling import sample
from cupel_core.domain.scoring.assertions import Assertion, flat
from cupel_core.domain.scoring.grader_config import Evaluation as Configuration
from cupel_core.grading.grader import Grader
from cupel_core.grading.graders import Panel
from cupel_core.ids import new_id, thread_id
from cupel_core.providers.account import Account
from cupel_core.providers.addresses import url_complaint
from cupel_core.providers.completion import complete

type TargetSpec = str | Mapping[str, Any] | Agent
"""A model or `connector/<name>`, a connector as a file has it, or a function (cupel/in_process/agents.py)."""
type Targets = TargetSpec | Sequence[TargetSpec]

_SEEDS = 2**31


@dataclass(frozen=True)
class Known:
    """A target, and how it is asked: a function, or its account."""

    name: str
    account: Account
    agent: Agent | None = None

    def target(self, call_timeout_seconds: float, threads: Executor) -> Target:
        attempt = Asking(self.agent, threads) if self.agent else complete
        jitter = Random()  # noqa: S311
        return Target(self.account, self.name, call_timeout_seconds, jitter, attempt=attempt)


@dataclass(frozen=True)
class Order:
    id: str
    subject: Subject
    plan: Plan
    cases: tuple[Case, ...]
    targets: tuple[Known, ...]
    """In the order of the plan."""
    configuration: Configuration
    judges: Mapping[str, Account]
    """By model: all that may be asked beside the targets."""
    seed: int
    options: Options = field(repr=False)

    @property
    def call_timeout_seconds(self) -> float:
        return self.options.get("call_timeout_seconds", told.CALL_TIMEOUT_SECONDS)

    @property
    def max_concurrency(self) -> int:
        return self.options.get("max_concurrency", told.MAX_CONCURRENCY)

    def probe(self, index: int) -> Probe:
        case, target, repeat = self.plan.probe(index)
        scenario, persona = self.cases[case]
        thread = thread_id(self.id, index, 1)
        plan = self.plan
        return Probe(index, scenario, plan.targets[target], persona, repeat, plan.repeats, plan.total, thread)

    def task(self, probe: Probe) -> Task:
        return Task(
            index=probe.index,
            scenario=probe.scenario,
            content=self.subject.content,
            panel=self.panel,
            thread_id=probe.thread_id,
            persona=probe.persona,
            persona_headers=probe.persona.headers if probe.persona else {},
            temperature=self.options.get("temperature"),
            max_turns=self.options.get("max_turns"),
            repeat=probe.repeat,
            seed=self.seed,
        )

    @property
    def panel(self) -> Panel:
        headers = self.options.get("evaluator_headers") or {}
        # This process asks on its owner's behalf: there is no inside to keep anybody out of.
        return Panel(self.configuration, self.grader, headers, allow_private=True)

    def grader(self, model: str, patience_seconds: float = PATIENCE_SECONDS) -> Grader:
        jitter = Random()  # noqa: S311
        return Grader(self.judges[model], model, self.call_timeout_seconds, patience_seconds, jitter)


def order(definition: Definition, targets: Targets, options: Options) -> Order:
    """WrongUse names whatever cannot be carried out."""
    told.check(options)
    subject = _subject(definition, options)
    accounts = Accounts(options.get("providers") or {})
    known = tuple(_known(targets, subject, accounts))
    drawn = options.get("seed")
    seed = randbelow(_SEEDS) if drawn is None else drawn
    positions = sample(len(subject.scenarios), options.get("sample_percentage", 100), seed)
    cases = tuple(subject.cases(positions))
    configuration = _configuration(options)
    return Order(
        id=new_id("run"),
        subject=subject,
        plan=_plan(tuple(each.name for each in known), len(cases), options.get("repeats", 1)),
        cases=cases,
        targets=known,
        configuration=configuration,
        judges=dict(_judges(subject, configuration, accounts)),
        seed=seed,
        options=options,
    )


def _subject(definition: Definition, options: Options) -> Subject:
    subject = read_subject(definition)
    scenarios, personas = options.get("scenarios"), options.get("personas")
    subject = subject if scenarios is None else subject.among(scenarios)
    return subject if personas is None else subject.spoken_by(personas)


def _configuration(options: Options) -> Configuration:
    configuration = told.configuration(options)
    if configuration.evaluator_url and (wrong := url_complaint(configuration.evaluator_url)):
        raise WrongUse(f"evaluator_url: {wrong}")
    return configuration


def _plan(targets: tuple[str, ...], cases: int, repeats: int) -> Plan:
    for place, name in enumerate(targets):
        if name in targets[:place]:
            raise WrongUse(f"targets.{place}: {name} is named twice; functions are named by their __name__")
    plan = Plan(targets, (cases,), repeats=repeats)
    if not 0 < plan.total <= MAX_PROBES:
        raise WrongUse(f"targets: {plan.total:,} probes; there must be one, and at most {MAX_PROBES:,}")
    return plan


def _known(targets: Targets, subject: Subject, accounts: Accounts) -> Iterator[Known]:
    listed = targets if isinstance(targets, Sequence) and not isinstance(targets, str) else [targets]
    for place, spec in enumerate(listed):
        yield _target(spec, f"targets.{place}", subject, accounts)


def _target(spec: TargetSpec, field: str, subject: Subject, accounts: Accounts) -> Known:
    if callable(spec):
        return Known(f"{PROVIDER}/{name_of(spec)}", Account(PROVIDER, ""), spec)
    if isinstance(spec, str) and not spec.startswith(f"{PROVIDER}/"):
        return Known(spec, accounts.of_model(spec, field))
    if isinstance(spec, str):
        connector = subject.connectors.get(spec.removeprefix(f"{PROVIDER}/"))
        if connector is None:
            raise WrongUse(f"{field}: {spec}: the definition has no connector of this name")
    else:
        connector = connector_of(spec, field)
    account = replace(Account(PROVIDER, connector.base_url), connector=connector, allow_private=True)
    return Known(connector.target, account)


def _judges(subject: Subject, configuration: Configuration, accounts: Accounts) -> Iterator[tuple[str, Account]]:
    """Every model that may be asked beside the targets."""
    named = {
        "judge_model": configuration.judge_model,
        "persona_model": configuration.persona_model,
        "embedding_model": configuration.embedding_model,
        "content.decision.judgeModel": subject.content.decision and subject.content.decision.judge_model,
    }
    yield from ((model, accounts.of_model(model, field)) for field, model in named.items() if model)
    lists = (subject.content.assertions, *(scenario.assertions for scenario in subject.scenarios))
    yield from ((model, accounts.of_model(model, "assertions")) for each in lists for model in _named_in(each))


def _named_in(assertions: Iterable[Assertion]) -> set[str]:
    return {each.provider for each in flat(tuple(assertions)) if each.provider is not None}
