"""Combines the reads of a request: objects that many parts of an answer need are read once, with few calls.

Each reader imports its own modules, because few queries need all of them.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from aiodataloader import DataLoader

from cupel_core.base.errors import AppError, Invalid, NotFound
from cupel_core.base.paging import Page, slice_page
from cupel_core.interfaces.graphql.loaded import Loaded

if TYPE_CHECKING:
    from cupel_core.analysis.queries import NewestAnalysis
    from cupel_core.domain.runs.run import Run

_MAX_BATCH_SIZE = 100


class TranscriptKey(NamedTuple):
    run_id: str
    model: str | None
    prompt_id: str | None
    scenario_id: str | None
    limit: int


class DefinitionKey(NamedTuple):
    id: str
    version: int


class Loaders:
    def __init__(self, workspace: str, runs: "dict[str, Run]", now: datetime) -> None:
        self._workspace, self._runs, self._now = workspace, runs, now
        self.definition = _loader(self._definitions)
        self.definition_version = _loader(self._definition_versions)
        self.experiment = _loader(self._experiments)
        self.eval = _loader(self._evals)
        self.persona = _loader(self._personas)
        self.run = _loader(self._load_runs)
        self.transcripts = _loader(self._transcripts)
        self.rates = _loader(self._rates)
        self.analysis = _loader(lambda ids: self._analyses(ids, is_deep=False))
        self.deep_analysis = _loader(lambda ids: self._analyses(ids, is_deep=True))

    def _experiments(self, ids: Sequence[str]) -> list[Loaded | None]:
        from cupel_core.contract.experiments import ExperimentResponse
        from cupel_core.resources import experiments

        found = experiments.get_many(self._workspace, ids)
        return [Loaded(ExperimentResponse.of(found[each], has_runs=True)) if each in found else None for each in ids]

    def _evals(self, ids: Sequence[str]) -> list[Loaded | None]:
        from cupel_core.contract.evals import EvalResponse
        from cupel_core.resources import evals

        found = evals.get_many(self._workspace, ids)
        return [Loaded(EvalResponse.of(found[each])) if each in found else None for each in ids]

    def _personas(self, ids: Sequence[str]) -> list[Loaded | None]:
        from cupel_core.contract.personas import PersonaResponse
        from cupel_core.resources import personas

        found = personas.get_resources(self._workspace, ids)
        return [Loaded(PersonaResponse.from_value(found[each])) if each in found else None for each in ids]

    def _definitions(self, ids: Sequence[str]) -> list[Loaded | None]:
        from cupel_core.contract.definitions import DefinitionSummaryResponse
        from cupel_core.store import definitions

        heads = definitions.get_heads(self._workspace, ids)
        return [Loaded(DefinitionSummaryResponse.from_value(heads[each])) if each in heads else None for each in ids]

    def _definition_versions(self, keys: Sequence[DefinitionKey]) -> list[Any]:
        """Read versions one by one: a fork inherits from any number of ancestors."""
        return [_attempt(self._definition_version, key) for key in keys]

    def _definition_version(self, key: DefinitionKey) -> Loaded:
        from cupel_core.contract.definitions import DefinitionResponse
        from cupel_core.definitions import catalog

        return Loaded(DefinitionResponse.of_definition(catalog.get(self._workspace, key.id, key.version)))

    def _load_runs(self, ids: Sequence[str]) -> list[Loaded | None]:
        from cupel_core.contract.runs import RunResponse
        from cupel_core.runs import queries

        views = queries.get_runs(self._workspace, ids)
        self._runs |= {run_id: view.run for run_id, view in views.items()}
        return [Loaded(RunResponse.of(views[each]), views[each].run) if each in views else None for each in ids]

    def _transcripts(self, keys: Sequence[TranscriptKey]) -> list[Page[Loaded] | AppError]:
        from cupel_core.contract.transcripts import TranscriptResponse
        from cupel_core.runs import queries
        from cupel_core.runs.queries import FirstTranscripts

        def select(key: TranscriptKey) -> FirstTranscripts:
            run = self._runs[key.run_id]
            selected = FirstTranscripts(run, key.model, key.prompt_id, key.scenario_id, key.limit + 1)
            selected.indexes()
            return selected

        wanted = [_attempt(select, key) for key in keys]
        valid = [each for each in wanted if not isinstance(each, AppError)]
        found = iter(queries.list_first_transcripts(valid, self._now))
        return [
            each
            if isinstance(each, AppError)
            else slice_page(list(next(found)), key.limit, None).map(lambda view: Loaded(TranscriptResponse.of(view)))
            for key, each in zip(keys, wanted, strict=True)
        ]

    def _rates(self, run_ids: Sequence[str]) -> list[Loaded | None]:
        from cupel_core.analysis import run_rates
        from cupel_core.contract.operation import counting_time
        from cupel_core.contract.run_rates import RunRatesResponse

        found = [self._runs[each] for each in run_ids]
        rates = run_rates.read_rates(found, counting_time(run_rates.SECONDS_TO_COUNT))
        responses = [RunRatesResponse.find(rates.get(each.id), each.plan) for each in found]
        return [Loaded(each) if each else None for each in responses]

    def _analyses(self, run_ids: Sequence[str], *, is_deep: bool) -> "list[NewestAnalysis | None]":
        from cupel_core.analysis import queries
        from cupel_core.domain.analysis.records import AnalysisKind

        kind = AnalysisKind.DEEP if is_deep else AnalysisKind.BASIC
        return queries.get_newest([self._runs[each] for each in run_ids], kind)


def _attempt(load: Callable[..., Any], key: Any) -> Any:
    try:
        return load(key)
    except (NotFound, Invalid) as error:
        return error


def _loader(load: Callable[[Sequence[Any]], Sequence[Any]]) -> "DataLoader[Any, Any]":
    async def load_in_thread(keys: list[Any]) -> list[Any]:
        return list(await asyncio.to_thread(load, keys))

    return DataLoader(load_in_thread, max_batch_size=_MAX_BATCH_SIZE)
