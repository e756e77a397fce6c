"""Checks of the models that a rescore needs: they must be configured, and the workspace must be able to call them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache, cached_property, partial

from cupel_core.accounts.keys import ModelChecks, account_error, load_account, model_error
from cupel_core.accounts.named_models import find_uncallable, list_uncallable
from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import FieldError
from cupel_core.domain.conversations.conversation import Criteria
from cupel_core.domain.conversations.model_request import Usage
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.required_models import (
    EMBEDDER,
    JUDGE,
    MissingModel,
    assertion_models,
    missing_models,
    named_models,
)
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.domain.scoring.rescores import RescoreConfig
from cupel_core.providers.prices import cost_usd
from cupel_core.store import scenarios, snapshots
from cupel_core.store.snapshots import Snapshot


@dataclass(frozen=True)
class RescoreModels:
    """Checks the models that one requested rescore may call. Errors name the fields of its request."""

    run: Run
    config: RescoreConfig

    @cached_property
    def _snapshot(self) -> Snapshot:
        return snapshots.get(self.run.snapshot_key)

    @cached_property
    def _content(self) -> Content:
        own = self.config.assertions
        assertions = Content.from_json(self._snapshot.definition).assertions if own is None else own
        return Content(assertions=assertions)

    @property
    def _graders(self) -> GraderConfig:
        return self.config.grader_config(self.run.grader_config)

    def own_errors(self) -> Iterator[FieldError]:
        judge, embedder = self.config.judge_model, self.config.embedding_model
        if judge and (problem := model_error(self.run.workspace, judge)):
            yield FieldError(JUDGE, problem)
        if embedder and (problem := account_error(self.run.workspace, embedder)):
            yield FieldError(EMBEDDER, problem)

    def missing_errors(self) -> Iterator[FieldError]:
        if self.config.criteria is not None and self._graders.judge_model is None:
            yield FieldError(JUDGE, "is required to judge by criteria: the run has none")
            return
        for field, message in self._missing(self._graders, self.config):
            yield FieldError(field, f"{message}; the run has none")

    def uncallable_errors(self) -> Iterator[FieldError]:
        """Yield the errors of models that assertions name, and of the run's graders that the rescore would use."""
        yield from self._assertion_errors()
        problems = self._inherited_problems()
        if not problems:
            return
        callable_ones = replace(
            self._graders,
            judge_model=None if JUDGE in problems else self._graders.judge_model,
            embedding_model=None if EMBEDDER in problems else self._graders.embedding_model,
        )
        judges_again = self.config.requires_new_verdicts(self.run.grader_config)
        config = self.config if judges_again else replace(self.config, criteria=_NO_CRITERIA)
        for field, message in self._missing(callable_ones, config):
            if field in problems:
                yield FieldError(field, f"{message}; that of the run cannot be called: {problems[field]}")

    def list_unpriced(self) -> list[str]:
        """List the models that the rescore may call and whose price is unknown, as the accounts are now."""
        return self._list_by_price(lambda usd: usd is None)

    def list_paid(self) -> list[str]:
        """List the models that the rescore may call and that are not free, or may not be."""
        return self._list_by_price(lambda usd: usd != 0)

    def _list_by_price(self, matches: Callable[[float | None], bool]) -> list[str]:
        find_account = cache(partial(load_account, self.run.workspace))

        def is_wanted(model: str) -> bool:
            return matches(cost_usd(model, Usage(1, 1), find_account(model.partition("/")[0])))

        needed = {field for field, _ in self._missing(GraderConfig(), self.config)}
        graders = {JUDGE: self._graders.judge_model, EMBEDDER: self._graders.embedding_model}
        named = {graders[field] for field in needed} | named_models(self._content.assertions)
        if self.config.assertions is None:
            manifest, positions = self._snapshot.manifest, self._snapshot.scenario_positions
            for scenario in scenarios.iterate_naming(manifest, positions, is_wanted):
                named |= named_models(scenario.assertions)
        return sorted(model for model in named if model is not None and is_wanted(model))

    def _assertion_errors(self) -> Iterator[FieldError]:
        workspace = self.run.workspace
        if self.config.assertions is not None:
            for number, assertion in enumerate(self.config.assertions):
                for found in list_uncallable(workspace, assertion_models([assertion], "the assertion")):
                    yield FieldError(f"assertions.{number}", f"names {found.use.model}: {found.why}")
            return
        uses = assertion_models(self._content.assertions, "the definition")
        manifest, positions = self._snapshot.manifest, self._snapshot.scenario_positions
        for found in find_uncallable(ModelChecks(workspace), uses, manifest, positions):
            yield FieldError("assertions", f"is required: {found.message}")

    def _inherited_problems(self) -> dict[str, str]:
        own, inherited, problems = self.config, self.run.grader_config, dict[str, str]()
        for field, given, model, find_error in (
            (JUDGE, own.judge_model, inherited.judge_model, model_error),
            (EMBEDDER, own.embedding_model, inherited.embedding_model, account_error),
        ):
            if given is None and model and (problem := find_error(self.run.workspace, model)):
                problems[field] = problem
        return problems

    def _missing(self, graders: GraderConfig, config: RescoreConfig) -> Iterable[MissingModel]:
        used = scenarios.iterate_with_models(self._snapshot.manifest, self._snapshot.scenario_positions)
        return missing_models(graders, self._content, (_as_graded(config, scenario) for scenario in used))


_NO_CRITERIA = Criteria()


def _as_graded(config: RescoreConfig, scenario: Scenario) -> Scenario:
    return replace(
        scenario,
        criteria=scenario.criteria if config.criteria is None else config.criteria,
        assertions=scenario.assertions if config.assertions is None else (),
    )
