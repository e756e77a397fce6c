"""Finds checks that need a judge or an embedding model that is not configured.

Without a judge, criteria would be skipped, and a conversation would pass by its remaining checks alone. So a run with
checks that cannot be graded is refused before it starts.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.scoring.assertion_rules import ASSERTION_KINDS
from cupel_core.domain.scoring.assertions import Assertion, flatten
from cupel_core.domain.scoring.grader_config import GraderConfig

if TYPE_CHECKING:  # Pages of scenarios are read without definitions.
    from cupel_core.domain.definitions.definitions import Content

JUDGE, EMBEDDER = "judgeModel", "embeddingModel"


class MissingModel(NamedTuple):
    """Describes a model that must be configured, by its field and a message that continues after the field's name."""

    field: str
    message: str


class ModelUse(NamedTuple):
    """Describes a model that a definition or a scenario names itself, instead of the configured one."""

    model: str
    used_by: str
    """The clause continues with `that calls <model>`."""
    answers: bool
    """The model answers messages; otherwise it returns vectors."""


class _Use(NamedTuple):
    field: str
    used_by: str


def missing_models(config: GraderConfig, content: "Content", scenarios: Iterable[Scenario]) -> tuple[MissingModel, ...]:
    """Return the models that the grading needs and `config` lacks, each with the first use found. `scenarios` are only
    read until every model that `config` lacks was found to be needed."""
    configured = {JUDGE: config.judge_model, EMBEDDER: config.embedding_model}
    lacking = {field for field, model in configured.items() if model is None}
    missing: dict[str, MissingModel] = {}
    for use in _uses(content, scenarios) if lacking else ():
        if use.field in lacking:
            missing.setdefault(use.field, MissingModel(use.field, f"is required: {use.used_by}"))
            if missing.keys() == lacking:
                break
    return tuple(missing.values())


def needs_models(scenario: Scenario) -> bool:
    return next(_scenario_uses(scenario), None) is not None


def named_models(assertions: Iterable[Assertion]) -> frozenset[str]:
    return frozenset(each.provider for each in flatten(tuple(assertions)) if each.provider is not None)


def content_models(content: "Content") -> Iterator[ModelUse]:
    if content.decision and content.decision.judge_model:
        yield ModelUse(content.decision.judge_model, "the definition has a decision", answers=True)
    yield from assertion_models(content.assertions, "the definition")


def scenario_models(scenario: Scenario) -> Iterator[ModelUse]:
    return assertion_models(scenario.assertions, _named(scenario))


def assertion_models(assertions: Sequence[Assertion], owner: str) -> Iterator[ModelUse]:
    for each in flatten(assertions):
        if each.provider is not None:
            kind = ASSERTION_KINDS.get(each.kind)
            used_by = f"{owner} has an assertion of type {each.type}"
            yield ModelUse(each.provider, used_by, answers=kind is not None and kind.needs_judge)


def _named(scenario: Scenario) -> str:
    return f'scenario "{scenario.name}"'


def _uses(content: "Content", scenarios: Iterable[Scenario]) -> Iterator[_Use]:
    return chain(_content_uses(content), chain.from_iterable(map(_scenario_uses, scenarios)))


def _content_uses(content: "Content") -> Iterator[_Use]:
    method = content.decision
    if method and method.rubric and not method.judge_model:
        yield _Use(JUDGE, "the definition's decision has a rubric and no judgeModel of its own")
    yield from _assertion_uses(content.assertions, "the definition")


def _scenario_uses(scenario: Scenario) -> Iterator[_Use]:
    owner = _named(scenario)
    if scenario.criteria.is_set:
        yield _Use(JUDGE, f"{owner} has success or failure criteria")
    yield from _assertion_uses(scenario.assertions, owner)


def _assertion_uses(assertions: Sequence[Assertion], owner: str) -> Iterator[_Use]:
    for assertion in flatten(assertions):
        kind = ASSERTION_KINDS.get(assertion.kind)
        if kind is None:
            continue
        used_by = f"{owner} has an assertion of type {assertion.type}"
        if kind.needs_judge and assertion.provider is None:
            yield _Use(JUDGE, used_by)
        if kind.needs_embedder and (assertion.provider is None or kind.needs_judge):
            yield _Use(EMBEDDER, used_by)
