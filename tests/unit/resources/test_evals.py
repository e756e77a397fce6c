"""Evals: their references must exist and belong to one definition."""

from datetime import timedelta
from typing import Any

import pytest

from cupel_core.base.errors import Conflict, Invalid, NotFound
from cupel_core.definitions import catalog, forks
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.scenarios import PAGE_SIZE
from cupel_core.domain.resources.evals import Eval, EvalSpec
from cupel_core.domain.runs.targets import Target, plain_targets
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.resources import connectors, evals
from cupel_core.store import blobs, scenarios
from tests.added_scenarios import add_scenarios, current_manifest
from tests.unit.resources.conftest import NOW, connect, define, scenario_ids

LATER = NOW + timedelta(minutes=1)


def create(ids: list[str], **changes: Any) -> Eval:
    changes = {"targets": plain_targets("sim/steady")} | changes
    return evals.create("acme", EvalSpec(name=changes.pop("name", "smoke"), scenario_ids=tuple(ids), **changes), NOW)


def wrong(ids: list[str], **changes: Any) -> list[str]:
    with pytest.raises(Invalid) as refused:
        create(ids, **changes)
    return [error.field for error in refused.value.errors]


def test_an_eval_knows_whose_scenarios_it_has() -> None:
    define()
    definition_id = define()
    made = create(scenario_ids(definition_id)[1:])
    assert made.definition_id == definition_id
    assert evals.get("acme", made.id) == made


def test_an_eval_of_a_connector_has_it_as_target() -> None:
    connector_id = connect()
    assert create(scenario_ids(define()), targets=plain_targets(f"connector/{connector_id}")).targets == plain_targets(
        f"connector/{connector_id}"
    )


def test_each_unknown_scenario_is_named() -> None:
    ids = scenario_ids(define())
    assert wrong([ids[0], ids[0][:-6] + "000099", "nonsense", ids[2]]) == ["scenarioIds.1", "scenarioIds.2"]


def test_an_unknown_first_scenario_is_named() -> None:
    assert wrong(["scn_abcdefgh_000001"]) == ["scenarioIds.0"]
    assert wrong(["nonsense"]) == ["scenarioIds.0"]


def test_scenarios_of_two_definitions_are_refused() -> None:
    assert wrong([*scenario_ids(define()), *scenario_ids(define())[:1]]) == ["scenarioIds.3"]


def test_a_scenario_is_named_once() -> None:
    ids = scenario_ids(define())
    assert wrong([ids[0], ids[1], ids[0]]) == ["scenarioIds.2"]


def test_scenarios_of_another_workspace_are_unknown() -> None:
    definition_id = define(workspace="other")
    assert wrong([f"scn_{definition_id[-8:]}_000001"]) == ["scenarioIds.0"]


def test_scenarios_of_a_deleted_definition_are_unknown() -> None:
    definition_id = define()
    ids = scenario_ids(definition_id)
    catalog.delete("acme", definition_id, NOW)
    assert wrong(ids) == ["scenarioIds.0"]
    assert wrong(ids, definition_id=definition_id) == ["definitionId"]


def test_a_fork_is_named_because_it_shares_ids() -> None:
    parent = define()
    fork = forks.fork("acme", parent, Labels(), {"system": "Be long."}, NOW).head.id
    assert create(scenario_ids(fork)).definition_id == parent
    assert create(scenario_ids(fork), name="fork", definition_id=fork).definition_id == fork


def test_replaced_scenarios_are_unknown() -> None:
    definition_id = define()
    before = scenario_ids(definition_id)
    pages = current_manifest("acme", definition_id)
    add_scenarios("acme", definition_id, [scenarios.get_scenario(pages, 0)], replace_all=True)
    assert wrong(before) == ["scenarioIds.0"]
    assert create(scenario_ids(definition_id)).definition_id == definition_id


def test_a_page_of_scenarios_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    definition_id = define(2 * PAGE_SIZE + 5)
    scenarios.read_page.cache_clear()
    read: list[str] = []
    get_text = blobs.get_text
    monkeypatch.setattr(blobs, "get_text", lambda key: (read.append(key), get_text(key))[1])
    create([f"scn_{definition_id[-8:]}_{ordinal:06d}" for ordinal in (5, 2_004, 3, 1_500, 2_001)])
    assert len(read) == len(set(read)) == 3


@pytest.mark.parametrize(
    ("target", "field"),
    [
        ({"targets": plain_targets("connector/con_unknown")}, "connectorId"),
        ({"targets": plain_targets("nobody/x")}, "model"),
        ({"targets": plain_targets("sim")}, "model"),
        ({"targets": plain_targets("sim/bold", "nobody/x")}, "targets.1.model"),
        ({"targets": (Target("sim/bold", "a"), Target("sim/echo", "a"))}, "targets.1.label"),
        ({"grader_config": GraderConfig(judge_model="nobody/x")}, "judgeModel"),
        ({"grader_config": GraderConfig(embedding_model="x")}, "embeddingModel"),
    ],
)
def test_an_unknown_target_or_model_is_named(target: dict[str, Any], field: str) -> None:
    assert wrong(scenario_ids(define()), **target) == [field]


def test_a_deleted_connector_is_refused() -> None:
    connector_id = connect()
    connectors.delete("acme", connector_id, LATER)
    assert wrong(scenario_ids(define()), targets=plain_targets(f"connector/{connector_id}")) == ["connectorId"]


def test_a_name_is_given_once() -> None:
    ids = scenario_ids(define())
    create(ids, name="Smoke")
    with pytest.raises(Conflict):
        create(ids, name="smoke")


def test_a_connector_replaces_a_model_and_a_model_replaces_a_connector() -> None:
    made, connector_id = create(scenario_ids(define())), connect()
    changed = evals.update("acme", made.id, {"targets": plain_targets(f"connector/{connector_id}")}, LATER)
    assert changed.targets == plain_targets(f"connector/{connector_id}")
    changed = evals.update("acme", made.id, {"targets": plain_targets("sim/bold")}, LATER)
    assert changed.targets == plain_targets("sim/bold")


def test_other_scenarios_may_be_of_another_definition() -> None:
    made, other = create(scenario_ids(define())), define()
    changed = evals.update("acme", made.id, {"scenario_ids": scenario_ids(other)}, LATER)
    assert changed.definition_id == other
    assert evals.get("acme", made.id) == changed


def test_a_change_of_one_model_leaves_the_others() -> None:
    made = create(scenario_ids(define()), grader_config=GraderConfig("sim/contrarian", "sim/bold"))
    changed = evals.update("acme", made.id, {"grader_config": {"persona_model": None}}, LATER)
    assert changed.grader_config == GraderConfig("sim/contrarian")


def test_a_rename_does_not_validate_unchanged_references() -> None:
    definition_id = define()
    made = create(scenario_ids(definition_id))
    catalog.delete("acme", definition_id, NOW)
    assert evals.update("acme", made.id, {"name": "other"}, LATER).name == "other"


def test_a_deleted_eval_is_gone() -> None:
    made = create(scenario_ids(define()))
    evals.delete("acme", made.id, LATER)
    with pytest.raises(NotFound):
        evals.get("acme", made.id)
    assert evals.list_evals("acme", 10, None).items == ()
