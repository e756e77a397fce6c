"""Generations whose message was lost are sent again."""

from datetime import timedelta

from cupel_core.definitions import catalog
from cupel_core.definitions.generation.generations import generation_request, start_generation
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.generations import Generation, GenerationMode, GenerationSpec
from cupel_core.store import generations
from cupel_core.store.settings import Settings
from cupel_core.workspace.sweeping.generation_recovery import RESEND_AFTER, recover_generations
from tests.started_runs import NOW, receive_bodies

CONTENT = {
    "template": "Rate [stakes].",
    "dimensions": [{"name": "stakes", "levels": [{"score": 1, "label": "low"}, {"score": 2, "label": "high"}]}],
}
LATER = NOW + RESEND_AFTER


def plenty() -> float:
    return 600.0


def started(cloud: Settings) -> Generation:
    """A generation whose message is lost."""
    definition = catalog.create("ws_a", Labels("rated"), CONTENT, NOW)
    generation = start_generation(
        "ws_a", definition.head.id, GenerationSpec(GenerationMode.LLM, model="sim/steady"), NOW
    )
    assert len(receive_bodies(cloud.generate_queue_url)) == 1
    return generation


def test_a_generation_without_progress_is_sent_again(cloud: Settings) -> None:
    generation = started(cloud)
    assert recover_generations(LATER - timedelta(seconds=1), plenty) == 0
    assert recover_generations(LATER, plenty) == 1
    assert receive_bodies(cloud.generate_queue_url)[-1] == generation_request(generation).to_body()


def test_it_is_not_sent_every_minute(cloud: Settings) -> None:
    started(cloud)
    assert [recover_generations(LATER + timedelta(minutes=n), plenty) for n in range(3)] == [1, 0, 0]


def test_one_that_has_ended_is_looked_at_once(cloud: Settings) -> None:
    generation = started(cloud)
    generations.fail(generation, "no model", NOW)
    assert recover_generations(LATER, plenty) == 0
    assert list(generations.list_open()) == []


def test_without_time_nothing_is_sent(cloud: Settings) -> None:
    started(cloud)
    assert recover_generations(LATER, lambda: 2.0) == 0
    assert recover_generations(LATER, plenty) == 1
