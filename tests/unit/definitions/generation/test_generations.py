"""Generating a matrix, on moto."""

from datetime import UTC, datetime
from typing import Any

import pytest

from cupel_core.base.errors import Invalid
from cupel_core.definitions import catalog
from cupel_core.definitions.generation import generations
from cupel_core.definitions.generation.generations import start_generation
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.generations import GenerationMode, GenerationSpec, GenerationStatus
from cupel_core.domain.definitions.matrix import LevelOptionChoice
from cupel_core.store import scenarios
from tests.added_scenarios import current_manifest

pytestmark = pytest.mark.usefixtures("cloud")

NOW = datetime(2026, 7, 1, tzinfo=UTC)


def define(levels: int = 40, dimensions: int = 1, options: int = 9, **content: Any) -> str:
    made = [
        {"score": score, "label": f"level {score}", "options": [f"{score}, option {n}" for n in range(options)]}
        for score in range(levels)
    ]
    all_dimensions = [{"name": f"d{number}", "levels": made} for number in range(dimensions)]
    whole = {"template": "Now [d0].", "dimensions": all_dimensions, **content}
    return catalog.create("ws", Labels("one"), whole, NOW).head.id


def prompts(definition_id: str) -> list[str]:
    manifest = current_manifest("ws", definition_id)
    return [scenarios.get_scenario(manifest, position).messages[0].content for position in range(manifest.total)]


def generate(definition_id: str, **spec: Any) -> list[str]:
    start_generation("ws", definition_id, GenerationSpec(GenerationMode.MATRIX, replace=True, **spec), NOW)
    scenarios.read_page.cache_clear()
    return prompts(definition_id)


def test_first_options_are_written_in_order() -> None:
    assert generate(define())[:2] == ["Now 0, option 0.", "Now 1, option 0."]


def test_the_same_seed_writes_the_same_scenarios_and_another_others() -> None:
    definition_id = define()
    first = generate(definition_id, options=LevelOptionChoice.RANDOM, seed=1)
    assert generate(definition_id, options=LevelOptionChoice.RANDOM, seed=1) == first
    assert generate(definition_id, options=LevelOptionChoice.RANDOM, seed=2) != first


def test_a_drawn_seed_is_reported_and_reproduces_the_scenarios() -> None:
    definition_id = define()
    drawn = start_generation("ws", definition_id, GenerationSpec(GenerationMode.MATRIX, LevelOptionChoice.RANDOM), NOW)
    assert prompts(definition_id) == generate(definition_id, options=LevelOptionChoice.RANDOM, seed=drawn.seed)


def test_a_finished_generation_can_be_read() -> None:
    definition_id = define()
    made = start_generation("ws", definition_id, GenerationSpec(GenerationMode.MATRIX), NOW)
    assert generations.get("ws", definition_id, made.id).generation == made
    assert made.status is GenerationStatus.COMPLETED


def test_more_combinations_than_a_definition_may_have_are_refused_at_once() -> None:
    definition_id = define(dimensions=40, options=0)
    with pytest.raises(Invalid):
        start_generation("ws", definition_id, GenerationSpec(GenerationMode.MATRIX), NOW)
    assert current_manifest("ws", definition_id).revision == 0


def test_texts_longer_than_a_message_may_be_are_refused_before_any_is_written() -> None:
    level = {"score": 1, "label": "one", "options": ["short", "x" * 10_000]}
    content = {"template": "[d0]" * 51, "dimensions": [{"name": "d0", "levels": [level]}]}
    definition = catalog.create("ws", Labels("one"), content, NOW)
    with pytest.raises(Invalid) as refusal:
        generate(definition.head.id)
    assert [error.field for error in refusal.value.errors] == ["content.template"]


def test_without_a_template_there_is_nothing_to_generate() -> None:
    with pytest.raises(Invalid):
        start_generation("ws", define(template=None, system="s"), GenerationSpec(GenerationMode.MATRIX), NOW)
