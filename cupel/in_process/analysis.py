import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, NamedTuple

from cupel.errors import UsageError
from cupel.extras import require_extra
from cupel.in_process.answer_cache import CachedCalls, open_cache
from cupel.in_process.budget import EvaluationBudget
from cupel.in_process.event_loops import shared_connections
from cupel.in_process.options import cache_path, cache_ttl_seconds
from cupel.in_process.plan import EvaluationPlan
from cupel.in_process.probes import Probe, ProbeResult
from cupel.in_process.runner import JUDGE_MAX_WAIT_SECONDS
from cupel.json_types import Json
from cupel_core.domain.analysis.basic import AnalysisInput, analyze
from cupel_core.domain.analysis.breakdowns import CaseProperties, NotGroupable, break_down
from cupel_core.domain.analysis.counted_outcomes import counted_outcome
from cupel_core.domain.analysis.counts import RunCounts, count, scenario_cases
from cupel_core.domain.analysis.extrapolation import RunSample
from cupel_core.domain.analysis.matrix import CellMatrix, ScenarioRow, cell_matrix, dimension_names
from cupel_core.domain.analysis.narrating import material_of, narrate
from cupel_core.domain.analysis.narrative_statements import Material
from cupel_core.domain.analysis.narratives import Narrative
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.plan import Column, Plan
from cupel_core.providers.account import Account
from cupel_core.providers.completion import Attempt, complete
from cupel_core.scoring.grading.concurrency import ConcurrencyLimiter
from cupel_core.scoring.grading.grader import GraderReply
from cupel_core.scoring.grading.narrative import UNWRITTEN, NarrativeDraft, NarrativeReply, write_narrative


class AnalyzedEvaluation(NamedTuple):
    id: str
    columns: tuple[Column, ...]
    results: Sequence[ProbeResult]
    repeats: int
    content: Content
    sample: RunSample


def analysis_of(evaluation: AnalyzedEvaluation) -> Json:
    # The models of the analysis take a while to import.
    from cupel_core.contract.analysis import AnalysisFigures

    counts, matrix = _counted(evaluation)
    columns = evaluation.columns
    figures = analyze(AnalysisInput.of(counts, matrix, columns, evaluation.content, evaluation.sample))
    document: Json = json.loads(AnalysisFigures.of(figures, columns).to_json())
    return document


def breakdown_of(evaluation: AnalyzedEvaluation, by: str | None) -> Json:
    """Return the same as `GET /runs/{id}/analysis/breakdown`. Raises UsageError for a name that groups no cases."""
    from cupel_core.contract.breakdowns import BreakdownResponse

    counts, _ = _counted(evaluation)
    cases = [
        CaseProperties(
            probe.scenario.dimensions, probe.scenario.metadata, probe.persona.name if probe.persona else None
        )
        for probe in _first_column(evaluation)
    ]
    try:
        found = break_down(evaluation.id, counts.plan, cases, by, lambda: counts)
    except NotGroupable as error:
        raise UsageError(f"by: {error}") from None
    document: Json = json.loads(BreakdownResponse.of(found, None).model_dump_json(by_alias=True))
    return document


def deep_analysis_of(evaluation: AnalyzedEvaluation) -> Json:
    """Return the figures of `GET /runs/{id}/analysis/deep`, described by rules. Raises UsageError without numpy."""
    analyzed = _analyzed_deeply(evaluation)
    return analyzed.document(narrate(analyzed.material))


async def narrated_analysis_of(evaluation: AnalyzedEvaluation, narrator: "Narrator") -> Json:
    analyzed = _analyzed_deeply(evaluation)
    return analyzed.document(await narrator.narrative(analyzed.material))


class _DeeplyAnalyzed(NamedTuple):
    figures: Any
    columns: tuple[Column, ...]
    material: Material

    def document(self, narrative: Narrative) -> Json:
        from cupel_core.contract.deep_analysis import DeepAnalysisFigures

        document: Json = json.loads(DeepAnalysisFigures.of(self.figures, self.columns, narrative).to_json())
        return document


def _analyzed_deeply(evaluation: AnalyzedEvaluation) -> _DeeplyAnalyzed:
    require_extra("analysis", "a deep analysis")
    from cupel_core.analysis.deep.analyze import DeepInput
    from cupel_core.analysis.deep.analyze import analyze as analyze_deeply

    counts, matrix = _counted(evaluation)
    seed = int.from_bytes(sha256(counts.totals.cells.tobytes()).digest()[:8])
    figures = analyze_deeply(DeepInput(matrix, seed), _ignore_stage)
    material = material_of(figures, matrix, tuple(column.name for column in evaluation.columns))
    return _DeeplyAnalyzed(figures, evaluation.columns, material)


def _ignore_stage(_: str) -> None:
    """Ignore the stage, which takes seconds at most."""


class _Counted(NamedTuple):
    counts: RunCounts
    matrix: CellMatrix


def _counted(evaluation: AnalyzedEvaluation) -> _Counted:
    columns = evaluation.columns
    scenarios, positions = _cases(evaluation)
    prompts = tuple(dict.fromkeys(column.prompt_id for column in columns if column.prompt_id is not None))
    targets = tuple({column.target.id: column.target for column in columns}.values())
    labels = {each.prompt_id: each.prompt_label for each in columns if each.prompt_id and each.prompt_label}
    plan = Plan(targets, (len(positions),), evaluation.repeats, prompts, labels)
    outcomes = (counted_outcome(result.outcome) for result in evaluation.results)
    counts = RunCounts(plan, scenario_cases(positions), count(plan, range(plan.total), outcomes))
    dimensions = dimension_names(
        [dimension.name for dimension in evaluation.content.dimensions], (scenario.dimensions for scenario in scenarios)
    )
    rows = [
        ScenarioRow(each.id or each.name, each.name, tuple(each.dimensions.get(name) for name in dimensions))
        for each in scenarios
    ]
    return _Counted(counts, cell_matrix(counts, rows, dimensions))


def _cases(evaluation: AnalyzedEvaluation) -> tuple[list[Scenario], Sequence[int]]:
    numbers: dict[int, int] = {}
    scenarios, positions = list[Scenario](), list[int]()
    for scenario in (probe.scenario for probe in _first_column(evaluation)):
        if id(scenario) not in numbers:
            numbers[id(scenario)] = len(scenarios)
            scenarios.append(scenario)
        positions.append(numbers[id(scenario)])
    return scenarios, positions


def _first_column(evaluation: AnalyzedEvaluation) -> Iterator[Probe]:
    cases = len(evaluation.results) // (len(evaluation.columns) * evaluation.repeats)
    results = sorted(evaluation.results, key=lambda result: result.probe.index)
    return (results[case * evaluation.repeats].probe for case in range(cases))


@dataclass
class Narrator:
    """Asks a model once about the same figures: replies are remembered, also by the cache if the evaluation has one."""

    model: str
    account: Account
    plan: EvaluationPlan = field(repr=False)
    budget: EvaluationBudget | None
    _replies: dict[str, GraderReply[NarrativeReply]] = field(default_factory=dict)

    async def narrative(self, material: Material) -> Narrative:
        """Return the model's narrative. If it cannot be called or gives no usable reply, rules write it with
        `error`."""
        draft = NarrativeDraft.of(self.model, material)
        figures, interrupted = draft.figures, list[Spend]()
        if figures not in self._replies:
            try:
                self._replies[figures] = await self._ask(figures, interrupted)
            except UNWRITTEN as error:
                return draft.without_reply(error, interrupted)
        reply = self._replies[figures]
        return draft.with_reply(reply.value, reply.spend)

    async def _ask(self, figures: str, interrupted: list[Spend]) -> GraderReply[NarrativeReply]:
        options = self.plan.options
        async with shared_connections(), self._paid_calls() as calls:
            with open_cache(cache_path(options), cache_ttl_seconds(options)) as cache:
                cached = CachedCalls(cache, 0, calls) if cache else None
                graders = replace(
                    self.plan.graders,
                    accounts={self.account.provider: self.account},
                    # The limiter of the evaluation may belong to another event loop.
                    limiter=ConcurrencyLimiter(1),
                    attempt=cached or calls,
                    max_wait_seconds=JUDGE_MAX_WAIT_SECONDS,
                )
                try:
                    return await write_narrative(graders.grader(self.model), figures, interrupted)
                except UNWRITTEN:
                    if cached:
                        cached.delete_grades()
                    raise

    @asynccontextmanager
    async def _paid_calls(self) -> AsyncIterator[Attempt]:
        if self.budget is None:
            yield complete
            return
        async with self.budget.reopened() as budget:
            yield budget.patient_calls.attempt


def narrator_of(plan: EvaluationPlan, budget: EvaluationBudget | None) -> Narrator | None:
    model, account = plan.options.get("analysis_model"), plan.narrator_account
    return None if model is None or account is None else Narrator(model, account, plan, budget)
