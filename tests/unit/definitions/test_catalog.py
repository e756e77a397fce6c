"""Definitions on moto: versions, lists, deletion."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cupel_core.base.errors import Conflict, Invalid, NotFound
from cupel_core.base.paging import encode_cursor
from cupel_core.definitions import catalog, resolve
from cupel_core.definitions.validation import validate_content
from cupel_core.domain.definitions.definitions import Definition, Labels
from cupel_core.store import definitions

pytestmark = pytest.mark.usefixtures("cloud")

START = datetime(2026, 7, 1, tzinfo=UTC)
RISK = {"name": "risk", "levels": [{"score": 1, "label": "low"}, {"score": 2, "label": "high"}]}


def later(minutes: int) -> datetime:
    return START + timedelta(minutes=minutes)


def create(name: str = "one", at: int = 0, workspace: str = "ws", **labels: Any) -> Definition:
    return catalog.create(workspace, Labels(name, **labels), {"template": f"About {name}."}, later(at))


def change(definition_id: str, content: dict[str, Any], at: int = 1) -> Definition:
    return catalog.update("ws", definition_id, Labels(), content, later(at))


def names(**wanted: Any) -> list[str]:
    return [head.name for head in catalog.list_definitions("ws", limit=100, **wanted).items]


def test_a_definition_is_read_as_created() -> None:
    made = create("one", folder="values", tags=("b", "a", "b"))
    assert catalog.get("ws", made.head.id) == made
    assert (made.head.folder, made.head.tags, made.version) == ("values", ("a", "b"), 1)


def test_a_dimension_without_placeholder_is_warned_about() -> None:
    made = catalog.create("ws", Labels("one"), {"template": "x", "dimensions": [RISK]}, START)
    assert [warning.field for warning in made.warnings] == ["dimensions.0"]


def test_a_placeholder_without_dimension_names_the_template() -> None:
    with pytest.raises(Invalid) as refused:
        catalog.create("ws", Labels("one"), {"template": "[risk]"}, START)
    assert [error.field for error in refused.value.errors] == ["content.template"]


def test_an_empty_content_names_the_content() -> None:
    with pytest.raises(Invalid) as refused:
        catalog.create("ws", Labels("one"), {}, START)
    assert [error.field for error in refused.value.errors] == ["content"]


@pytest.mark.parametrize("text", ["x" * 300_000, "金" * 50_000])
def test_content_too_large_for_an_item_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        catalog.create("ws", Labels("one"), {"template": text}, START)


def test_a_change_of_content_makes_the_next_version_and_keeps_the_last() -> None:
    made = create()
    changed = change(made.head.id, {"template": "new"})
    assert (changed.version, changed.content.template) == (2, "new")
    assert catalog.get("ws", made.head.id, version=1).content == made.content


def test_a_change_of_content_keeps_the_fields_it_does_not_name() -> None:
    made = catalog.create("ws", Labels("one"), {"template": "x", "system": "s", "followUps": ["sure?"]}, START)
    content = change(made.head.id, {"system": None, "maxTurns": 1}).content
    assert content.to_json() == {"template": "x", "followUps": ["sure?"], "maxTurns": 1}


def test_a_change_that_would_break_a_rule_changes_nothing() -> None:
    made = create()
    with pytest.raises(Invalid):
        change(made.head.id, {"template": "[nothing]"})
    assert catalog.get("ws", made.head.id) == made


def test_a_new_name_or_folder_is_no_new_version() -> None:
    made = create(folder="old", tags=("a",))
    renamed = catalog.update("ws", made.head.id, Labels("two", folder=""), None, later(1)).head
    assert (renamed.name, renamed.folder, renamed.tags, renamed.version) == ("two", None, ("a",), 1)


def test_the_second_of_two_concurrent_changes_is_refused() -> None:
    made = create()
    change(made.head.id, {"template": "first"})
    with pytest.raises(Conflict):
        definitions.update("ws", made.head, replace(made.head, name="second"))
    assert catalog.get("ws", made.head.id).content.template == "first"


def test_a_rename_does_not_undo_a_concurrent_change() -> None:
    made = create()
    change(made.head.id, {"template": "first"})
    with pytest.raises(Conflict):
        definitions.update("ws", made.head, replace(made.head, name="renamed"))


def test_lists_are_newest_first() -> None:
    for minute, name in enumerate(("one", "two", "three")):
        create(name, minute)
    assert names() == ["three", "two", "one"]


def test_a_cursor_continues_a_list() -> None:
    for minute in range(5):
        create(f"number {minute}", minute)
    first = catalog.list_definitions("ws", limit=3)
    rest = catalog.list_definitions("ws", limit=3, cursor=first.next_cursor)
    assert [head.name for head in (*first.items, *rest.items)] == [f"number {n}" for n in (4, 3, 2, 1, 0)]
    assert rest.next_cursor is None


def test_a_search_finds_a_part_of_the_name_in_any_case() -> None:
    for minute, name in enumerate(("Privacy and Safety", "Facts", "SAFETY first")):
        create(name, minute)
    assert names(search="safety") == ["SAFETY first", "Privacy and Safety"]


def test_folder_and_tag_narrow_a_list() -> None:
    create("one", 0, folder="a", tags=("x", "y"))
    create("two", 1, folder="a", tags=("y",))
    create("three", 2, folder="b", tags=("x",))
    assert (names(folder="a"), names(tag="x"), names(folder="a", tag="x")) == (
        ["two", "one"],
        ["three", "one"],
        ["one"],
    )


def test_a_narrowed_list_fills_its_pages() -> None:
    for minute in range(12):
        create(f"number {minute}", minute, tags=("even",) if minute % 2 == 0 else ())
    first = catalog.list_definitions("ws", tag="even", limit=4)
    rest = catalog.list_definitions("ws", tag="even", limit=4, cursor=first.next_cursor)
    assert (len(first.items), len(rest.items), rest.next_cursor) == (4, 2, None)


@pytest.mark.parametrize("cursor", ["x", "YzE6", "c1:zzz"])
def test_an_invalid_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(Invalid) as refused:
        catalog.list_definitions("ws", limit=10, cursor=cursor)
    assert refused.value.errors[0].field == "cursor"


def test_a_cursor_of_another_workspace_finds_nothing_of_it() -> None:
    create("theirs", workspace="other")
    assert catalog.list_definitions("ws", limit=10, cursor=encode_cursor("9999")).items == ()


def test_a_deleted_definition_is_neither_read_nor_listed() -> None:
    made = create()
    catalog.delete("ws", made.head.id, later(1))
    assert names() == []
    for gone in (catalog.get, resolve):
        with pytest.raises(NotFound):
            gone("ws", made.head.id)
    with pytest.raises(NotFound):
        catalog.delete("ws", made.head.id, later(2))
    with pytest.raises(NotFound):
        change(made.head.id, {"template": "x"})


def test_another_workspace_finds_nothing() -> None:
    made = create()
    with pytest.raises(NotFound):
        catalog.get("other", made.head.id)
    with pytest.raises(NotFound):
        catalog.delete("other", made.head.id, later(1))
    assert catalog.list_definitions("other", limit=10).items == ()


def test_a_version_is_resolved_with_its_content() -> None:
    made = create()
    change(made.head.id, {"template": "second"})
    assert [resolve("ws", made.head.id, version).content.template for version in (None, 1, 2)] == [
        "second", "About one.", "second",
    ]  # fmt: skip
    assert resolve("ws", made.head.id).version == 2


@pytest.mark.parametrize("version", [0, 2, -1])
def test_an_unknown_version_is_not_found(version: int) -> None:
    made = create()
    with pytest.raises(NotFound):
        resolve("ws", made.head.id, version)


@pytest.mark.parametrize("model", ["unknown/x", "openai", "openai/", "/x", "", "connector/con_1"])
def test_a_decision_by_something_that_is_no_model_is_refused(model: str) -> None:
    with pytest.raises(Invalid) as refused:
        validate_content({"template": "x", "decision": {"rubric": "y", "judgeModel": model}})
    assert [error.field for error in refused.value.errors] == ["content.decision.judgeModel"]
