"""The narrative of a deep analysis, made of its figures by rules."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from cupel_core.analysis.deep.analyze import DeepInput, analyze
from cupel_core.domain.analysis.narrating import material_of, narrate
from cupel_core.domain.analysis.narratives import UNAVAILABLE, Narrative, NarrativeTopic
from tests.answer_matrices import matrix, ruled

SCORES = [(float(a), float(b)) for a in range(1, 5) for b in range(1, 4)] * 3
NAMES = ("sim/steady", "sim/bold", "sim/contrarian")


def narrative_of(answers: list[list[list[int]]], scores: list[tuple[float, ...]] = SCORES) -> Narrative:
    cells = matrix(answers, scores)
    names = (*NAMES, *(f"model-{number}" for number in range(3, 10)))[: len(answers)]
    return narrate(material_of(analyze(DeepInput(cells, seed=1), lambda _: None), cells, names))


def contrarian() -> Narrative:
    return narrative_of(ruled([lambda a, _: a, lambda a, _: a + 0.6, lambda a, b: 5 - a + b / 3], SCORES))


def text_of(narrative: Narrative, topic: NarrativeTopic) -> str:
    (found,) = (each.text for each in narrative.findings if each.topic is topic)
    return found


def test_each_topic_has_one_finding() -> None:
    assert [each.topic for each in contrarian().findings] == list(NarrativeTopic)


def test_the_outlier_is_the_headline() -> None:
    narrative = contrarian()
    assert narrative.headline == "sim/contrarian answers unlike the other targets."
    assert "sim/contrarian answers unlike the others: without it, alpha changes by +" in text_of(
        narrative, NarrativeTopic.OUTLIERS
    )
    assert narrative.next_steps[0] == "Read what sim/contrarian answers to the most unusual scenarios."


def test_what_a_run_is_too_small_for_is_unavailable() -> None:
    narrative = narrative_of([[[3], [2]]], [(1.0,), (2.0,)])
    assert text_of(narrative, NarrativeTopic.DIFFERENCES) == UNAVAILABLE
    assert text_of(narrative, NarrativeTopic.INTERACTIONS) == UNAVAILABLE
    assert text_of(narrative, NarrativeTopic.DATA_QUALITY) == "Scenarios of the run: 2; targets: 1."
    assert narrative.headline == "Too few targets to compare."


def test_targets_without_answers_are_not_compared() -> None:
    narrative = narrative_of([[[]] * 36, [[]] * 36])
    assert narrative.headline == "The targets cannot be compared."


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 3))
def test_every_citation_of_any_run_holds(seed: int, targets: int, repeats: int) -> None:
    random = Random(seed)
    answers = [[[random.randint(1, 5) for _ in range(repeats)] for _ in SCORES] for _ in range(targets)]
    narrative = narrative_of(answers)
    assert narrative.dropped == ()
    assert {fact for each in narrative.findings for fact in each.facts} == {fact.id for fact in narrative.facts}
    assert all(len(each.text.split()) <= 60 for each in narrative.findings)
