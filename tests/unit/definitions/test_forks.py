"""The tree of forks, on moto."""

from datetime import UTC, datetime
from typing import Any

import pytest

from cupel_core.base.errors import Invalid, NotFound
from cupel_core.definitions import catalog, forks, resolve
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import Definition, DefinitionVersion, Labels
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.store import definitions, scenarios
from tests.added_scenarios import add_scenarios, current_manifest

pytestmark = pytest.mark.usefixtures("cloud")

NOW = datetime(2026, 7, 1, tzinfo=UTC)
RISK = {"name": "risk", "levels": [{"score": 1, "label": "low"}]}
CONTENT = {"system": "s", "template": "There is [risk].", "dimensions": [RISK]}


@pytest.fixture
def root() -> Definition:
    made = catalog.create("ws", Labels("root", folder="f"), CONTENT, NOW)
    add_scenarios("ws", made.head.id, [Scenario("", "", (Message(MessageRole.USER, "hello"),))])
    return made


def fork(of: Definition, **overrides: Any) -> Definition:
    return forks.fork("ws", of.head.id, Labels(), overrides, NOW)


def names(page: Any) -> list[str]:
    return [head.name for head in page.items]


def test_a_fork_without_overrides_equals_its_parent(root: Definition) -> None:
    made = fork(root)
    assert made.content == root.content
    assert resolve("ws", made.head.id).content == root.content
    assert (made.head.parent, made.head.name, made.head.folder) == (
        DefinitionVersion(root.head.id, 1),
        "root (fork)",
        "f",
    )


def test_a_fork_stores_only_what_it_overrides(root: Definition) -> None:
    made = fork(root, system="mine")
    assert definitions.get_content("ws", DefinitionVersion(made.head.id, 1)) == {"system": "mine"}
    assert (made.content.system, made.content.template) == ("mine", "There is [risk].")


def test_a_fork_keeps_the_version_it_was_made_from(root: Definition) -> None:
    made = fork(root)
    catalog.update("ws", root.head.id, Labels(), {"system": "later"}, NOW)
    assert resolve("ws", made.head.id).content.system == "s"


def test_an_older_version_can_be_forked(root: Definition) -> None:
    catalog.update("ws", root.head.id, Labels(), {"system": "later"}, NOW)
    made = forks.fork("ws", root.head.id, Labels("old"), {}, NOW, version=1)
    assert (made.content.system, made.head.parent) == ("s", DefinitionVersion(root.head.id, 1))


def test_a_fork_of_a_fork_inherits_through_both(root: Definition) -> None:
    middle = fork(root, system="mine")
    leaf = fork(middle, template="Much [risk]!")
    content = resolve("ws", leaf.head.id).content
    assert (content.system, content.template, content.dimensions) == ("mine", "Much [risk]!", root.content.dimensions)


def test_a_fork_outlives_its_parent(root: Definition) -> None:
    made = fork(root)
    catalog.delete("ws", root.head.id, NOW)
    assert resolve("ws", made.head.id).content == root.content


def test_a_changed_fork_still_inherits_the_other_fields(root: Definition) -> None:
    made = fork(root, system="mine")
    changed = catalog.update("ws", made.head.id, Labels(), {"system": None}, NOW)
    assert changed.content.to_json() == {"template": "There is [risk].", "dimensions": [RISK]}
    assert changed.version == 2


def test_overrides_must_fit_what_is_inherited(root: Definition) -> None:
    with pytest.raises(Invalid) as refused:
        fork(root, template="[benefit]")
    assert [error.field for error in refused.value.errors] == ["content.template"]


def test_a_fork_inherits_the_scenarios_and_adds_to_its_own_only(root: Definition) -> None:
    made = fork(root, system="mine")
    add_scenarios("ws", made.head.id, [Scenario("", "", (Message(MessageRole.USER, "more"),))])
    assert current_manifest("ws", made.head.id).total == 2
    assert current_manifest("ws", root.head.id).total == 1


def test_the_ids_of_inherited_and_own_scenarios_differ(root: Definition) -> None:
    made = fork(root)
    grown = add_scenarios("ws", made.head.id, [Scenario("", "", (Message(MessageRole.USER, "more"),))])
    assert len({scenarios.get_scenario(grown, position).id for position in range(2)}) == 2


@pytest.mark.parametrize("overrides", [{"template": "Some [risk]."}, {"dimensions": [RISK]}])
def test_a_fork_that_shapes_its_own_scenarios_inherits_none(root: Definition, overrides: dict[str, Any]) -> None:
    made = fork(root, **overrides)
    assert (made.scenario_count, current_manifest("ws", made.head.id).total) == (0, 0)


def test_ancestors_are_listed_nearest_first(root: Definition) -> None:
    middle = forks.fork("ws", root.head.id, Labels("middle"), {}, NOW)
    leaf = forks.fork("ws", middle.head.id, Labels("leaf"), {}, NOW)
    assert names(forks.list_ancestors("ws", leaf.head.id, limit=10, cursor=None)) == ["middle", "root"]
    assert names(forks.list_ancestors("ws", root.head.id, limit=10, cursor=None)) == []


def test_descendants_are_listed_level_by_level(root: Definition) -> None:
    first = forks.fork("ws", root.head.id, Labels("a"), {}, NOW)
    forks.fork("ws", root.head.id, Labels("b"), {}, NOW)
    forks.fork("ws", first.head.id, Labels("aa"), {}, NOW)
    assert sorted(names(forks.list_descendants("ws", root.head.id, limit=2, cursor=None))) == ["a", "b"]
    assert names(forks.list_descendants("ws", root.head.id, limit=10, cursor=None))[-1] == "aa"


def test_both_go_on_where_their_cursor_says(root: Definition) -> None:
    below = root
    for number in range(4):
        below = forks.fork("ws", below.head.id, Labels(f"n{number}"), {}, NOW)
    for listed, start in ((forks.list_ancestors, below), (forks.list_descendants, root)):
        first = listed("ws", start.head.id, limit=3, cursor=None)
        rest = listed("ws", start.head.id, limit=3, cursor=first.next_cursor)
        assert (len(first.items), len(rest.items), rest.next_cursor) == (3, 1, None)


def test_the_deleted_are_left_out_of_the_tree_but_not_their_forks(root: Definition) -> None:
    middle = forks.fork("ws", root.head.id, Labels("middle"), {}, NOW)
    leaf = forks.fork("ws", middle.head.id, Labels("leaf"), {}, NOW)
    catalog.delete("ws", middle.head.id, NOW)
    assert names(forks.list_ancestors("ws", leaf.head.id, limit=10, cursor=None)) == ["root"]
    assert names(forks.list_descendants("ws", root.head.id, limit=10, cursor=None)) == ["leaf"]


def test_the_tree_has_a_greatest_depth(root: Definition) -> None:
    below = root
    for _ in range(forks.MAX_DEPTH - 1):
        below = fork(below)
    with pytest.raises(Invalid):
        fork(below)


def test_another_workspace_cannot_fork_it(root: Definition) -> None:
    with pytest.raises(NotFound):
        forks.fork("other", root.head.id, Labels(), {}, NOW)
