from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from cupel_core.analysis.tabulate import CountedInputs, read_counts
from cupel_core.base.errors import Invalid
from cupel_core.domain.analysis.changes import RunDescription
from cupel_core.domain.analysis.comparison_requests import SideSpec
from cupel_core.domain.analysis.counts import RunCounts, ScenarioCases
from cupel_core.domain.analysis.matching import ComparisonSide, NotMatchable, SideColumn, SideScenario, match_scenarios
from cupel_core.domain.runs.run import Run
from cupel_core.store import scenarios, snapshots
from cupel_core.store.scenarios import ScenarioIdentity
from cupel_core.store.snapshots import Snapshot

_MAX_CHECKED = 2_000


class LoadedSide(NamedTuple):
    name: str
    spec: SideSpec
    inputs: CountedInputs


class ReadSide(NamedTuple):
    side: ComparisonSide
    description: RunDescription


def side_columns(side: LoadedSide) -> tuple[SideColumn, ...]:
    plan = side.inputs.run.plan
    targets, prompts = side.spec.targets or (None,), side.spec.prompts or (None,)
    numbers = {number for target in targets for prompt in prompts for number in plan.columns_of(target, prompt)}
    return tuple(SideColumn(number, plan.columns[number]) for number in sorted(numbers))


def check_matchable(before: LoadedSide, after: LoadedSide) -> None:
    """Raise Invalid if no scenario of one side can match one of the other.

    Only the first scenarios of larger runs are read; the job finds out whether any others match.
    """
    first, second = _known_scenarios(before), _known_scenarios(after)
    try:
        match_scenarios(first.scenarios, second.scenarios)
    except NotMatchable:
        if first.is_complete and second.is_complete:
            raise Invalid.field("comparison", not_matchable(before.inputs.run, after.inputs.run)) from None


def not_matchable(before: Run, after: Run) -> str:
    names = " and ".join(f"{run.definition_name} ({run.definition_id})" for run in (before, after))
    return f"NOT_MATCHABLE: the scenarios of {names} share no ids, texts, names or dimension scores"


def read_side(side: LoadedSide) -> ReadSide:
    """Read the counts, scenarios and description of a run. Outcomes that are not counted yet are counted now."""
    run = side.inputs.run
    counts = read_counts(side.inputs)
    snapshot = snapshots.get(run.snapshot_key)
    columns = side_columns(side)
    read = ComparisonSide(
        source=f"{run.id}/{side.spec.rescore_id or ''}",
        columns=columns,
        scenarios=list(side_scenarios(snapshot, counts.scenarios)),
        cell=counts.case_cell,
        totals=counts.totals.column,
        usage=counts.case_usage,
    )
    return ReadSide(read, _describe(side, snapshot, counts, columns))


def _describe(side: LoadedSide, snapshot: Snapshot, counts: RunCounts, columns: Sequence[SideColumn]) -> RunDescription:
    run, graders = side.inputs.run, side.inputs.run.grader_config
    return RunDescription(
        definition_id=run.definition_id,
        definition_version=run.definition_version,
        definition_name=run.definition_name,
        content=snapshot.definition,
        targets={each.name: each.column.target.model for each in columns},
        params={each.name: run.parameters_of(each.column.target) for each in columns},
        config={
            "maxTurns": run.max_turns,
            "judgeModel": graders.judge_model,
            "personaModel": graders.persona_model,
            "embeddingModel": graders.embedding_model,
            "evaluatorUrl": graders.evaluator_url,
        },
        repeats=run.plan.repeats,
        sample_percentage=run.sample_percentage,
        sample_seed=run.sample_seed,
        scenario_count=run.scenario_count,
        scenario_total=run.scenario_total,
        rescore_id=side.spec.rescore_id,
        model_versions={each.name: dict(counts.totals.column(each.number).model_versions) for each in columns},
    )


def side_scenarios(snapshot: Snapshot, listed: Sequence[ScenarioCases]) -> Iterator[SideScenario]:
    found = dict(scenarios.read_identities(snapshot.manifest, [each.position for each in listed]))
    for each in listed:
        yield _side_scenario(found[each.position], {_persona_id(snapshot, case): case for case in each.cases})


def _side_scenario(identity: ScenarioIdentity, cases: Mapping[str | None, int]) -> SideScenario:
    summary = identity.summary
    return SideScenario(summary.id, summary.name, summary.scores, cases, identity.content, identity.has_own_name)


def _persona_id(snapshot: Snapshot, case: int) -> str | None:
    persona = snapshot.persona(case)
    return persona.id if persona else None


class _KnownScenarios(NamedTuple):
    scenarios: list[SideScenario]
    is_complete: bool


def _known_scenarios(side: LoadedSide) -> _KnownScenarios:
    snapshot = snapshots.get(side.inputs.run.snapshot_key)
    positions = dict.fromkeys(snapshot.scenario_positions)
    identities = scenarios.read_identities(snapshot.manifest, islice(positions, _MAX_CHECKED))
    read = [_side_scenario(each, {}) for _, each in identities]
    return _KnownScenarios(read, len(positions) <= _MAX_CHECKED)
