"""Scenarios belong to versions of their definition: a change of one makes a version, on moto."""

from datetime import UTC, datetime, timedelta

import pytest

from cupel_core.base.errors import Conflict, Invalid, NotFound
from cupel_core.contract.scenarios import CreateScenario, UpdateScenario
from cupel_core.definitions import catalog, forks, scenarios
from cupel_core.domain.definitions.definitions import DefinitionVersion, Labels
from cupel_core.store import clients, definition_scenarios, definitions, keys
from cupel_core.store import scenarios as pages
from cupel_core.store.settings import Settings

pytestmark = pytest.mark.usefixtures("cloud")

NOW = datetime(2026, 7, 1, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


def add(definition_id: str, *prompts: str) -> tuple[str, ...]:
    return scenarios.add_scenarios("ws", definition_id, [CreateScenario(prompt=text) for text in prompts], NOW).ids


def prompts(definition_id: str, version: int | None = None) -> list[str]:
    page = scenarios.list_scenarios("ws", definition_id, version=version, limit=100)
    return [scenario.messages[0].content for scenario in page.items]


@pytest.fixture
def definition_id() -> str:
    return catalog.create("ws", Labels("one", version_label="first"), {"system": "Be brief."}, NOW).head.id


def test_the_first_scenarios_complete_the_version(definition_id: str) -> None:
    add(definition_id, "one", "two")
    read = catalog.get("ws", definition_id)
    assert (read.version, read.scenario_count, read.head.version_label) == (1, 2, "first")


def test_further_scenarios_make_one_version_per_request(definition_id: str) -> None:
    add(definition_id, "one")
    added = scenarios.add_scenarios("ws", definition_id, [CreateScenario(prompt=text) for text in "ab"], NOW)
    assert (added.version, catalog.get("ws", definition_id).version) == (2, 2)
    assert (prompts(definition_id, 1), prompts(definition_id, 2)) == (["one"], ["one", "a", "b"])


def test_a_changed_scenario_keeps_its_id_and_is_in_the_next_version_only(definition_id: str) -> None:
    first, second = add(definition_id, "one", "two")
    changed = scenarios.update("ws", definition_id, second, UpdateScenario(prompt="changed"), LATER)
    assert (changed.scenario.id, changed.version) == (second, 2)
    assert (prompts(definition_id, 1), prompts(definition_id)) == (["one", "two"], ["one", "changed"])
    assert scenarios.get("ws", definition_id, first).version == 2


def test_omitted_fields_keep_their_value_and_null_removes_one(definition_id: str) -> None:
    fields = {"prompt": "one", "name": "case", "dimensions": {"risk": 2}, "successCriteria": "polite", "maxMessages": 4}
    item = CreateScenario.model_validate(fields)
    (name,) = scenarios.add_scenarios("ws", definition_id, [item], NOW).ids
    update = UpdateScenario.model_validate({"successCriteria": None, "maxMessages": 6})
    changed = scenarios.update("ws", definition_id, name, update, NOW).scenario
    assert (changed.name, changed.messages[0].content, changed.dimensions) == ("case", "one", {"risk": 2})
    assert (changed.criteria.success, changed.max_messages) == (None, 6)


def test_an_update_that_changes_nothing_makes_no_version(definition_id: str) -> None:
    (name,) = add(definition_id, "one")
    assert scenarios.update("ws", definition_id, name, UpdateScenario(prompt="one"), NOW).version == 1
    assert catalog.get("ws", definition_id).version == 1


def test_an_invalid_update_names_the_field_and_changes_nothing(definition_id: str) -> None:
    (name,) = add(definition_id, "one")
    for update in ({"prompt": None}, {"assertions": [{"type": "none"}]}, {"personaIds": ["per_unknown"]}):
        with pytest.raises(Invalid) as refused:
            scenarios.update("ws", definition_id, name, UpdateScenario.model_validate(update), NOW)
        assert refused.value.errors
    assert (prompts(definition_id), catalog.get("ws", definition_id).version) == (["one"], 1)


def test_a_deleted_scenario_stays_in_earlier_versions(definition_id: str) -> None:
    _, second = add(definition_id, "one", "two")
    scenarios.delete("ws", definition_id, second, LATER)
    assert (prompts(definition_id, 1), prompts(definition_id, 2)) == (["one", "two"], ["one"])
    assert scenarios.get("ws", definition_id, second, 1).scenario.id == second
    with pytest.raises(NotFound):
        scenarios.get("ws", definition_id, second)
    with pytest.raises(NotFound):
        scenarios.delete("ws", definition_id, second, LATER)


def test_new_content_keeps_the_scenarios_and_new_scenarios_the_content(definition_id: str) -> None:
    add(definition_id, "one")
    catalog.update("ws", definition_id, Labels(), {"system": "Be kind."}, NOW)
    add(definition_id, "two")
    systems = [catalog.get("ws", definition_id, version).content.system for version in (1, 2, 3)]
    assert systems == ["Be brief.", "Be kind.", "Be kind."]
    assert [catalog.get("ws", definition_id, version).scenario_count for version in (1, 2, 3)] == [1, 1, 2]


def test_content_is_stored_once_however_often_scenarios_change(definition_id: str, cloud: Settings) -> None:
    add(definition_id, "one")
    add(definition_id, "two")
    add(definition_id, "three")
    key = {"pk": {"S": keys.definition("ws", definition_id)}, "sk": {"S": keys.version(3)}}
    item = clients.dynamodb().get_item(TableName=cloud.table_name, Key=key)["Item"]
    assert (item["contentVersion"], "content" in item) == ({"N": "1"}, False)
    assert definitions.get_content("ws", DefinitionVersion(definition_id, 3)) == {"system": "Be brief."}


def test_of_two_concurrent_changes_the_second_is_refused_and_writes_nothing(definition_id: str) -> None:
    first, second = add(definition_id, "one", "two")
    current = definition_scenarios.get_current("ws", definition_id)
    scenarios.update("ws", definition_id, first, UpdateScenario(prompt="mine"), LATER)
    manifest = pages.remove_scenario("ws", definition_id, current.manifest, 1)
    with pytest.raises(Conflict):
        definition_scenarios.commit("ws", current, manifest, LATER)
    assert (prompts(definition_id), catalog.get("ws", definition_id).version) == (["mine", "two"], 2)
    assert scenarios.get("ws", definition_id, second).version == 2


def test_a_change_of_the_content_conflicts_with_a_concurrent_change_of_the_scenarios(definition_id: str) -> None:
    add(definition_id, "one")
    current = definition_scenarios.get_current("ws", definition_id)
    catalog.update("ws", definition_id, Labels(), {"system": "Be kind."}, LATER)
    with pytest.raises(Conflict):
        definition_scenarios.commit(
            "ws", current, pages.remove_scenario("ws", definition_id, current.manifest, 0), LATER
        )


def test_a_fork_has_the_scenarios_of_the_version_it_was_forked_from(definition_id: str) -> None:
    add(definition_id, "one")
    add(definition_id, "two")
    fork = forks.fork("ws", definition_id, Labels("fork"), {"system": "Be strict."}, NOW, version=1)
    assert (fork.scenario_count, prompts(fork.head.id)) == (1, ["one"])


def test_a_label_belongs_to_one_version_and_may_be_set_later(definition_id: str) -> None:
    add(definition_id, "one")
    catalog.update("ws", definition_id, Labels(), {"system": "Be kind."}, NOW)
    assert catalog.get("ws", definition_id).head.version_label is None
    catalog.update("ws", definition_id, Labels(version_label="kind"), None, NOW)
    labels = [catalog.get("ws", definition_id, version).head.version_label for version in (1, 2)]
    assert (labels, catalog.list_definitions("ws", limit=1).items[0].version_label) == (["first", "kind"], "kind")
    catalog.update("ws", definition_id, Labels(version_label=""), None, NOW)
    assert (catalog.get("ws", definition_id).version, catalog.get("ws", definition_id).head.version_label) == (2, None)
