"""From scenarios to cases."""

from datetime import UTC, datetime

import pytest

from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.turns.model_request import Message, Role
from cupel_core.errors import Invalid
from cupel_core.resources import personas
from cupel_core.runs.cases import cases
from cupel_core.settings import Settings
from cupel_core.store import scenarios

NOW = datetime(2026, 11, 20, tzinfo=UTC)
SAID = (Message(Role.USER, "?"),)


@pytest.fixture
def ada(cloud: Settings) -> str:
    return personas.create("ws_a", {"name": "Ada"}, NOW).item.id


@pytest.mark.parametrize("count", [4, 200])
def test_each_scenario_is_played_by_its_own_persona(ada: str, count: int) -> None:
    """Of four the manifest tells who speaks; of 200 that take turns only the page does."""
    cast = (Scenario("", "", SAID, persona_ids=(ada,) * (n % 2)) for n in range(count))
    manifest = scenarios.append("ws_a", "def_a2345678", cast)
    assert (manifest.pages[0].cast is None) == (count == 200)
    found = cases("ws_a", manifest, range(count))
    assert found.selection == tuple(range(count))
    assert found.cast == tuple(0 if n % 2 else None for n in range(count))
    assert [persona.id for persona in found.personas] == [ada]


def test_a_persona_that_is_gone_is_named(ada: str) -> None:
    manifest = scenarios.append("ws_a", "def_a2345678", [Scenario("", "", SAID, persona_ids=(ada,))])
    personas.delete("ws_a", ada, NOW)
    with pytest.raises(Invalid, match=ada):
        cases("ws_a", manifest, [0])


def test_cases_that_are_added_keep_the_places_of_those_there_are(ada: str) -> None:
    manifest = scenarios.append(
        "ws_a", "def_a2345678", [Scenario("", "", SAID), Scenario("", "", SAID, persona_ids=(ada,))]
    )
    before = cases("ws_a", manifest, [0])
    assert (before.cast, before.selection) == ((), (0,))
    grown = cases("ws_a", manifest, [1], before=before)
    assert (grown.cast, grown.selection) == ((None, 0), (0, 1))
