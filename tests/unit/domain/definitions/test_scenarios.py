"""Scenarios and where they lie."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.codec import decode, encode
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import (
    Manifest,
    Scenario,
    ScenarioPage,
    page_models,
    persona_spans,
    scenario_id,
)

pages = st.lists(st.integers(1, 7), max_size=8).map(
    lambda counts: tuple(ScenarioPage(f"page{number}", count) for number, count in enumerate(counts))
)


def test_a_scenario_survives_json() -> None:
    messages = (Message(MessageRole.SYSTEM, "be brief"), Message(MessageRole.USER, "hello"))
    scenario = Scenario("scn_1", "greeting", messages, {"risk": 1.5}, {"source": "book", "n": [1]})
    assert Scenario.from_json(scenario.to_json()) == scenario


@given(pages)
def test_a_manifest_survives_json(pages: tuple[ScenarioPage, ...]) -> None:
    manifest = Manifest(3, pages, 9)
    assert decode(Manifest, encode(manifest)) == manifest


@given(pages)
def test_positions_go_through_the_pages_in_order(pages: tuple[ScenarioPage, ...]) -> None:
    manifest = Manifest(1, pages)
    expected = [(page, offset) for page in pages for offset in range(page.count)]
    assert [tuple(manifest.locate(position)) for position in range(manifest.total)] == expected


@pytest.mark.parametrize("position", [-1, 5])
def test_there_is_nothing_outside_the_pages(position: int) -> None:
    with pytest.raises(IndexError):
        Manifest(1, (ScenarioPage("a", 2), ScenarioPage("b", 3))).locate(position)


def test_an_id_contains_definition_and_number() -> None:
    assert scenario_id("def_01jd3v6k0q8f7w2m5xz9c4htbn", 12) == "scn_z9c4htbn_000012"


persona_lists = st.lists(st.sampled_from([(), ("per_a",), ("per_a", "per_b")]), min_size=1, max_size=60)


@given(persona_lists)
def test_a_page_has_the_personas_of_each_of_its_scenarios(persona_ids: list[tuple[str, ...]]) -> None:
    spans = persona_spans(Scenario("", "", (), persona_ids=ids) for ids in persona_ids)
    page = decode(ScenarioPage, json.loads(json.dumps(encode(ScenarioPage("key", len(persona_ids), spans)))))
    assert page.personas is not None
    personas = [run.persona_ids for run in page.personas for _ in range(run.length)]
    assert personas == (persona_ids if any(persona_ids) else [])


def test_personas_that_change_all_the_time_are_only_in_the_stored_page() -> None:
    scenarios = [Scenario("", "", (), persona_ids=("per_01jd3v6k0q8f7w2m5xz9c4htbn",) * (n % 2)) for n in range(100)]
    assert persona_spans(scenarios) is None
    assert decode(ScenarioPage, encode(ScenarioPage("key", 100, None, needs_selection=True))).personas is None


@pytest.mark.parametrize("needs_models", [True, False])
def test_a_page_says_whether_its_scenarios_need_models(needs_models: bool) -> None:
    page = ScenarioPage("key", 100, needs_models=needs_models)
    assert decode(ScenarioPage, encode(page)) == page


@pytest.mark.parametrize("models", [None, (), ("openai/judge", "sim/steady")])
def test_a_page_names_the_models_of_its_assertions(models: tuple[str, ...] | None) -> None:
    page = ScenarioPage("key", 100, models=models)
    assert decode(ScenarioPage, json.loads(json.dumps(encode(page)))) == page


def test_names_of_models_too_long_for_a_manifest_stay_in_the_page() -> None:
    assert page_models(f"custom/{number:050}" for number in range(20)) is None
