"""The figures of a run, or of one of its other scorings: pass rates with their errors, pass@k and pass^k."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.scores import ModelScores, ScenarioScores, Scored, model_scores, scenario_scores
from cupel_core.errors import TooLarge
from cupel_core.messages import RunRef
from cupel_core.paging import Page, decode_index, encode_cursor
from cupel_core.rescoring.queries import ranges_of
from cupel_core.store import digests, rescores, runs

MOST_PROBES = 100_000
"""As many are read within the time of a request: 33 microseconds each, of a whole core, and a function has a third."""


@dataclass(frozen=True)
class Scores:
    run: Run
    k: int
    models: tuple[ModelScores, ...]


def by_model(workspace: str, run_id: str, *, scoring_id: str | None, model: str | None, k: int | None) -> Scores:
    """In the order of the run's models. TooLarge above 100,000 probes, of all models or of the one that is named."""
    run = _run(workspace, run_id, scoring_id)
    targets = run.models if model is None else (model,)
    counted = sum(len(span) for span in ranges_of(run.plan, model))
    if counted > MOST_PROBES:
        raise TooLarge(f"{counted:,} probes are too many for one answer (at most {MOST_PROBES:,}): name one model")
    trials = _k(run, k)
    models = (
        model_scores(target, _results(run, scoring_id, ranges_of(run.plan, target)), trials) for target in targets
    )
    return Scores(run, trials, tuple(models))


def by_scenario(
    workspace: str,
    run_id: str,
    *,
    scoring_id: str | None,
    model: str | None,
    k: int | None,
    limit: int,
    cursor: str | None,
) -> Page[ScenarioScores]:
    """By model, and then in the order of the run's scenarios; those with no transcript are left out."""
    run = _run(workspace, run_id, scoring_id)
    results = _results(run, scoring_id, ranges_of(run.plan, model, decode_index(cursor)))
    rows = list(islice(scenario_scores(results, _k(run, k)), limit + 1))
    return Page(tuple(rows[:limit]), encode_cursor(str(rows[limit].first_index)) if len(rows) > limit else None)


def _run(workspace: str, run_id: str, scoring_id: str | None) -> Run:
    """NotFound when the run has no such scoring."""
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    if scoring_id is not None:
        rescores.get(ref, scoring_id)
    return run


def _k(run: Run, k: int | None) -> int:
    return run.plan.repeats if k is None else k


def _results(run: Run, scoring_id: str | None, spans: Iterable[range]) -> Iterator[Scored]:
    ref, plan = RunRef(run.workspace, run.id), run.plan
    if scoring_id is None:
        return chain.from_iterable(digests.of_run(ref, plan, span) for span in spans)
    return chain.from_iterable(digests.of_rescoring(ref, plan, scoring_id, span) for span in spans)
