"""From scenarios to cases."""

from datetime import UTC, datetime

import pytest

from cupel_core.base.errors import Invalid
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Manifest, Scenario
from cupel_core.resources import personas
from cupel_core.runs.cases import build_cases
from cupel_core.store import scenarios
from cupel_core.store.settings import Settings

NOW = datetime(2026, 11, 20, tzinfo=UTC)
SAID = (Message(MessageRole.USER, "?"),)


@pytest.fixture
def ada(cloud: Settings) -> str:
    return personas.create("ws_a", {"name": "Ada"}, NOW).item.id


@pytest.mark.parametrize("count", [4, 200])
def test_each_scenario_has_its_own_personas(ada: str, count: int) -> None:
    """With four scenarios the manifest lists the personas; with 200 that alternate only the page does."""
    cast = (Scenario("", "", SAID, persona_ids=(ada,) * (n % 2)) for n in range(count))
    manifest = scenarios.write_pages("ws_a", "def_a2345678", Manifest(), cast)
    assert (manifest.pages[0].personas is None) == (count == 200)
    found = build_cases("ws_a", manifest, range(count))
    assert found.scenario_positions == tuple(range(count))
    assert found.case_personas == tuple(0 if n % 2 else None for n in range(count))
    assert [persona.id for persona in found.personas] == [ada]


def test_a_deleted_persona_is_named(ada: str) -> None:
    manifest = scenarios.write_pages("ws_a", "def_a2345678", Manifest(), [Scenario("", "", SAID, persona_ids=(ada,))])
    personas.delete("ws_a", ada, NOW)
    with pytest.raises(Invalid, match=ada):
        build_cases("ws_a", manifest, [0])


def test_added_cases_follow_the_existing_ones(ada: str) -> None:
    manifest = scenarios.write_pages(
        "ws_a", "def_a2345678", Manifest(), [Scenario("", "", SAID), Scenario("", "", SAID, persona_ids=(ada,))]
    )
    before = build_cases("ws_a", manifest, [0])
    assert (before.case_personas, before.scenario_positions) == ((), (0,))
    grown = build_cases("ws_a", manifest, [1], existing=before)
    assert (grown.case_personas, grown.scenario_positions) == ((None, 0), (0, 1))
