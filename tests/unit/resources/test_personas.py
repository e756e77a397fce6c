"""Personas: names, header values, and deletion."""

from dataclasses import replace
from datetime import timedelta

import pytest

from cupel_core.base.errors import Conflict, Invalid, NotFound
from cupel_core.domain.resources.personas import Persona, PersonaFields
from cupel_core.resources import headers as secret_headers
from cupel_core.resources import personas
from cupel_core.store import clients, resources, secrets
from cupel_core.store.resources import ResourceKind
from tests.unit.concurrent_removal import set_during_removal
from tests.unit.resources.conftest import NOW

LATER = NOW + timedelta(minutes=1)
AGENT = "https://agent.test/v1"


def a_persona(name: str = "Ada", **headers: str) -> str:
    fields: PersonaFields = {"name": name, "system_prompt": "Be curt.", "headers": headers, "connector_urls": [AGENT]}
    return personas.create("acme", fields, NOW).item.id


def test_a_persona_is_read_as_it_was_made() -> None:
    persona = personas.get("acme", a_persona("Ada"))
    assert (persona.name, persona.system_prompt, persona.description) == ("Ada", "Be curt.", None)


@pytest.mark.parametrize("taken", ["Ada", "ADA", " ada ", "A\u0301da"])
def test_a_name_is_given_once_in_any_case_and_encoding(taken: str) -> None:
    a_persona("Ada" if "\u0301" not in taken else "Áda")
    with pytest.raises(Conflict) as refused:
        a_persona(taken)
    assert [error.field for error in refused.value.errors] == ["name"]


def test_kinds_and_workspaces_have_names_of_their_own() -> None:
    a_persona("Ada")
    personas.create("other", {"name": "Ada"}, NOW)
    assert len(personas.list_personas("acme", 10, None).items) == 1


def test_a_new_name_sets_the_old_one_free() -> None:
    personas.update("acme", a_persona("Ada"), {"name": "Grace"}, LATER)
    a_persona("Ada")
    with pytest.raises(Conflict):
        a_persona("grace")


def test_a_name_may_change_its_case() -> None:
    persona_id = a_persona("ada")
    assert personas.update("acme", persona_id, {"name": "Ada"}, LATER).item.name == "Ada"


def test_a_rename_to_a_taken_name_changes_nothing() -> None:
    a_persona("Ada")
    grace = a_persona("Grace")
    with pytest.raises(Conflict) as refused:
        personas.update("acme", grace, {"name": "Ada", "description": "new"}, LATER)
    assert [error.field for error in refused.value.errors] == ["name"]
    assert personas.get("acme", grace).description is None


def test_one_of_two_concurrent_changes_is_refused() -> None:
    read = resources.get("acme", ResourceKind.PERSONA, a_persona())
    resources.update("acme", read, replace(read, body={**read.body, "description": "first"}))
    with pytest.raises(Conflict, match="changed at the same time"):
        resources.update("acme", read, replace(read, body={**read.body, "description": "second"}))


def test_omitted_fields_stay_and_none_unsets() -> None:
    persona_id = a_persona()
    personas.update("acme", persona_id, {"description": "An engineer"}, LATER)
    changed = personas.update("acme", persona_id, {"system_prompt": None}, LATER).item
    assert (changed.description, changed.system_prompt) == ("An engineer", None)


def test_header_values_are_not_stored_in_the_table() -> None:
    a_persona("Ada", Authorization="Bearer s3cret")
    assert "s3cret" not in str(clients.dynamodb().scan(TableName="cupel-test")["Items"])


def test_header_values_are_read_by_the_version_that_a_snapshot_has() -> None:
    persona_id = a_persona("Ada", Authorization="old")
    before = personas.get("acme", persona_id)
    personas.update("acme", persona_id, {"headers": {"Authorization": "new"}, "connector_urls": [AGENT]}, LATER)
    after = personas.get("acme", persona_id)
    assert personas.load_headers("acme", before)["Authorization"] == "old"
    assert personas.load_headers("acme", after)["Authorization"] == "new"


def test_a_change_without_headers_leaves_them() -> None:
    persona_id = a_persona("Ada", Authorization="x")
    changed = personas.update("acme", persona_id, {"description": "d"}, LATER)
    assert changed.header_names == ("Authorization",)
    assert personas.load_headers("acme", changed.item) == {"Authorization": "x"}


def test_headers_that_are_set_during_their_removal_are_removed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    persona_id = a_persona("Ada", Authorization="x")
    set_again: PersonaFields = {"headers": {"Authorization": "y"}, "connector_urls": [AGENT]}
    set_during_removal(monkeypatch, lambda: personas.update("acme", persona_id, set_again, LATER))
    personas.update("acme", persona_id, {"headers": None}, LATER)
    assert personas.get_resource("acme", persona_id).header_names == ()
    assert personas.load_headers("acme", personas.get("acme", persona_id)) == {}


def test_headers_need_the_addresses_they_are_for() -> None:
    with pytest.raises(Invalid, match="connectorUrls: is required with headers"):
        personas.create("acme", {"name": "Ada", "headers": {"X": "1"}}, NOW)
    persona_id = a_persona("Ben", Authorization="x")
    with pytest.raises(Invalid, match="connectorUrls: is required with headers"):
        personas.update("acme", persona_id, {"headers": {"Authorization": "y"}}, LATER)


def test_stored_headers_are_sent_to_no_address_added_later() -> None:
    persona_id = a_persona("Ada", Authorization="x")
    with pytest.raises(Invalid, match="headers: must be set again"):
        personas.update("acme", persona_id, {"connector_urls": [AGENT, "https://elsewhere.test"]}, LATER)
    assert personas.get("acme", persona_id).connector_urls == (AGENT,)


def test_an_address_is_withdrawn_without_the_headers() -> None:
    persona_id = a_persona("Ada", Authorization="x")
    changed = personas.update("acme", persona_id, {"connector_urls": None}, LATER)
    assert (changed.header_names, changed.item.sends_headers_to(AGENT)) == (("Authorization",), False)


def test_a_persona_without_headers_may_have_any_addresses() -> None:
    persona_id = a_persona("Ada")
    changed = personas.update("acme", persona_id, {"connector_urls": ["https://elsewhere.test"]}, LATER)
    assert changed.item.connector_urls == ("https://elsewhere.test",)


@pytest.mark.parametrize(
    ("url", "sends"),
    [
        (AGENT, True),
        ("https://AGENT.test/v1/", True),
        ("https://agent.test", False),
        ("https://agent.test/v1/other", False),
        ("http://agent.test/v1", False),
        ("https://agent.test:8443/v1", False),
        ("https://agent.test.evil.test/v1", False),
    ],
)
def test_headers_are_sent_to_their_address_only(url: str, sends: bool) -> None:
    assert Persona("per_1", "Ada", headers_version="v", connector_urls=(AGENT,)).sends_headers_to(url) is sends


def test_headers_stored_before_addresses_were_required_are_sent_nowhere() -> None:
    stored = {"id": "per_1", "name": "Ada", "headersVersion": "v1"}
    assert Persona.from_json(stored).sends_headers_to(AGENT) is False


def test_a_snapshot_of_a_persona_has_its_addresses() -> None:
    persona = personas.get("acme", a_persona("Ada", Authorization="x"))
    assert Persona.from_json(persona.to_json()) == persona


def test_unset_headers_are_deleted_at_once() -> None:
    persona_id = a_persona("Ada", Authorization="x")
    before = personas.get("acme", persona_id)
    changed = personas.update("acme", persona_id, {"headers": None}, LATER)
    assert (changed.header_names, dict(personas.load_headers("acme", changed.item))) == ((), {})
    with pytest.raises(NotFound, match="set them again"):
        personas.load_headers("acme", before)


def test_a_refused_creation_leaves_no_secret() -> None:
    a_persona("Ada")
    with pytest.raises(Conflict):
        a_persona("Ada", Authorization="x")
    assert clients.secretsmanager().list_secrets()["SecretList"] == []


def test_a_deleted_persona_is_not_found_and_its_name_is_free() -> None:
    persona_id = a_persona("Ada")
    personas.delete("acme", persona_id, LATER)
    with pytest.raises(NotFound):
        personas.get("acme", persona_id)
    assert personas.get_many("acme", [persona_id]) == {}
    assert personas.list_personas("acme", 10, None).items == ()
    a_persona("Ada")


def test_a_deleted_persona_still_takes_part_in_started_runs() -> None:
    persona_id = a_persona("Ada", Authorization="x")
    snapshot = personas.get("acme", persona_id)
    personas.delete("acme", persona_id, LATER)
    assert personas.load_headers("acme", snapshot) == {"Authorization": "x"}


def test_personas_are_listed_newest_first_page_by_page() -> None:
    made = [personas.create("acme", {"name": str(n)}, NOW + timedelta(seconds=n)).item.id for n in range(3)]
    first = personas.list_personas("acme", 2, None)
    rest = personas.list_personas("acme", 2, first.next_cursor)
    assert [kept.item.id for kept in (*first.items, *rest.items)] == made[::-1]
    assert rest.next_cursor is None


def test_another_workspace_does_not_find_a_persona() -> None:
    persona_id = a_persona()
    with pytest.raises(NotFound):
        personas.get("other", persona_id)


def test_many_personas_are_read_at_once() -> None:
    wanted = [a_persona(f"P{number}") for number in range(120)]
    assert set(personas.get_many("acme", [*wanted, "per_unknown"])) == set(wanted)


def test_header_values_are_read_once_per_process(monkeypatch: pytest.MonkeyPatch) -> None:
    persona = personas.get("acme", a_persona("Ada", Authorization="x"))
    personas.load_headers("acme", persona)
    monkeypatch.setattr(secrets, "get", lambda *_: pytest.fail("asked again"))
    personas.load_headers("acme", persona)


def test_a_persona_without_headers_reads_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "get", lambda *_: pytest.fail("asked"))
    assert secret_headers.load("acme", "persona/x", None) == {}
