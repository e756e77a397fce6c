"""Scenarios and where they lie."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.conversation import Message, Role
from shared.domain.scenarios import Manifest, Scenario, ScenarioPage, scenario_id

pages = st.lists(st.integers(1, 7), max_size=8).map(
    lambda counts: tuple(ScenarioPage(f"page{number}", count) for number, count in enumerate(counts))
)


def test_a_scenario_survives_json() -> None:
    messages = (Message(Role.SYSTEM, "be brief"), Message(Role.USER, "hello"))
    scenario = Scenario("scn_1", "greeting", messages, {"risk": 1.5}, {"source": "book", "n": [1]})
    assert Scenario.from_json(scenario.to_json()) == scenario


@given(pages)
def test_a_manifest_survives_json(pages: tuple[ScenarioPage, ...]) -> None:
    manifest = Manifest(3, pages, 9)
    assert Manifest.from_json(manifest.to_json()) == manifest


@given(pages)
def test_positions_go_through_the_pages_in_order(pages: tuple[ScenarioPage, ...]) -> None:
    manifest = Manifest(1, pages)
    walked = [(page, offset) for page in pages for offset in range(page.count)]
    assert [tuple(manifest.place(position)) for position in range(manifest.total)] == walked


@pytest.mark.parametrize("position", [-1, 5])
def test_there_is_nothing_outside_the_pages(position: int) -> None:
    with pytest.raises(IndexError):
        Manifest(1, (ScenarioPage("a", 2), ScenarioPage("b", 3))).place(position)


def test_an_id_tells_definition_and_number() -> None:
    assert scenario_id("def_01jd3v6k0q8f7w2m5xz9c4htbn", 12) == "scn_z9c4htbn_000012"
