"""Fingerprints of the judges of runs and rescores, read from their snapshots."""

from collections.abc import Iterator
from dataclasses import replace

from cupel_core.base.messages import RunRef
from cupel_core.domain.calibration.fingerprints import RubricFingerprint, ScenarioRubric, rubric_fingerprint
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.rescores import RescoreConfig
from cupel_core.store import label_sets, rescores, scenarios, snapshots
from cupel_core.store.snapshots import Snapshot


def find_fingerprint(run: Run, criterion: str, rescore_id: str | None = None) -> RubricFingerprint | None:
    """Return the fingerprint of the judge of a run or of one of its rescores; None if the snapshot was deleted."""
    snapshot = snapshots.find(run.snapshot_key)
    if snapshot is None:
        return None
    ref = RunRef(run.workspace, run.id)
    config, version = RescoreConfig(), snapshot.grading_version
    if rescore_id is not None:
        rescore = rescores.get(ref, rescore_id)
        config, version = rescore.config, rescore.grading_version
    content = Content.from_json(snapshot.definition)
    if config.assertions is not None:
        content = replace(content, assertions=config.assertions)
    return rubric_fingerprint(
        criterion,
        config.grader_config(run.grader_config),
        content,
        _rubrics(snapshot, config),
        [each.instructions for each in label_sets.list_of_run(ref) if each.criterion == criterion],
        version,
    )


def _rubrics(snapshot: Snapshot, config: RescoreConfig) -> Iterator[ScenarioRubric]:
    """Yield the rubrics of the scenarios, with what a rescore replaces for all of them."""
    criteria = None
    if config.criteria is not None:
        criteria = ScenarioRubric.of(Scenario("", "", (), criteria=config.criteria)).criteria
    for _, rubric in scenarios.read_rubrics(snapshot.manifest, sorted(set(snapshot.scenario_positions))):
        yield ScenarioRubric(
            rubric.criteria if criteria is None else criteria,
            rubric.assertions if config.assertions is None else (),
        )
