"""Transcripts that are drawn for labelling."""

from collections import Counter
from random import Random

import pytest

from cupel_core.domain.calibration.sampling_plans import JudgedTranscript, draw_for_labelling, planned_shares


def transcripts(scenarios: int, repeats: int, pass_rate: float, seed: int = 1) -> list[JudgedTranscript]:
    rng = Random(seed)
    return [
        JudgedTranscript(f"{scenario}.{repeat}", str(scenario), rng.random() < pass_rate)
        for scenario in range(scenarios)
        for repeat in range(repeats)
    ]


def test_scenarios_are_drawn_once_while_there_are_enough() -> None:
    drawn = draw_for_labelling(transcripts(100, 5, 0.9), 60, seed=1)
    assert len(drawn) == 60
    assert len({each.key.split(".")[0] for each in drawn}) == 60


def test_the_judges_failures_are_oversampled() -> None:
    """Only a twentieth of 1,000 transcripts fails, but 40 % of the labels are of failures."""
    given = transcripts(1_000, 1, 0.95)
    drawn = draw_for_labelling(given, 60, seed=2)
    failed = {each.key for each in given if each.judge is False}
    assert sum(each.key in failed for each in drawn) == pytest.approx(0.41 * 60, abs=1.5)


def test_the_same_seed_draws_the_same_transcripts_in_any_order() -> None:
    given = transcripts(50, 3, 0.8)
    drawn = draw_for_labelling(given, 20, seed=3)
    assert drawn == draw_for_labelling(given[::-1], 20, seed=3)
    assert drawn != draw_for_labelling(given, 20, seed=4)


def test_transcripts_are_drawn_as_often_as_their_probability_says() -> None:
    given = transcripts(12, 3, 0.7)
    hits: Counter[str] = Counter()
    probabilities: dict[str, float] = {}
    for seed in range(1_000):
        for each in draw_for_labelling(given, 8, seed):
            hits[each.key] += 1
            probabilities[each.key] = each.probability
    assert len(probabilities) == len(given)
    assert sum(probabilities.values()) == pytest.approx(8)
    for key, probability in probabilities.items():
        assert hits[key] / 1_000 == pytest.approx(probability, abs=0.06)


@pytest.mark.parametrize("count", [1, 7, 20, 33, 59])
def test_probabilities_are_at_most_one_and_add_up(count: int) -> None:
    """Scenarios have 1, 2, 3 or 6 transcripts of two targets, some of them undecided."""
    rng, given = Random(5), []
    for scenario in range(20):
        for repeat in range((1, 2, 3, 6)[scenario % 4]):
            judge = rng.choice((True, True, True, False, None))
            given.append(JudgedTranscript(f"{scenario}.{repeat}", str(scenario), judge, rng.choice("ab")))
    seen: dict[str, float] = {}
    for seed in range(100):
        drawn = draw_for_labelling(given, count, seed)
        assert len(drawn) == min(count, len(given))
        assert len({each.key for each in drawn}) == len(drawn)
        seen |= {each.key: each.probability for each in drawn}
    assert all(0 < each <= 1 for each in seen.values())
    if count > 1:
        assert sum(seen.values()) == pytest.approx(min(count, len(given)), rel=0.1)


def test_all_transcripts_have_the_probability_one() -> None:
    drawn = draw_for_labelling(transcripts(10, 2, 0.5), 50, seed=6)
    assert len(drawn) == 20
    assert {each.probability for each in drawn} == {1.0}
    assert {each.weight for each in drawn} == {1.0}


@pytest.mark.parametrize(("count", "twice"), [(1, 1), (10, 2), (11, 3), (60, 12)])
def test_a_fifth_is_labelled_twice(count: int, twice: int) -> None:
    drawn = draw_for_labelling(transcripts(100, 1, 0.8), count, seed=8)
    assert sum(each.is_labelled_twice for each in drawn) == twice


def test_at_least_one_label_is_drawn() -> None:
    with pytest.raises(ValueError, match="at least one"):
        draw_for_labelling(transcripts(5, 1, 0.5), 0, seed=1)
    assert draw_for_labelling([], 5, seed=1) == []


def test_verdicts_get_at_least_their_least_share() -> None:
    assert planned_shares({True: 0.95, False: 0.05}) == pytest.approx({True: 0.59, False: 0.41})
    assert planned_shares({True: 1.0, False: 0.0}) == {True: 1.0}
    shares = planned_shares({True: 0.6, False: 0.3, None: 0.1})
    assert sum(shares.values()) == pytest.approx(1)
    assert shares[None] == pytest.approx(0.11)


def test_scenarios_with_both_verdicts_choose_independently() -> None:
    """Each scenario has one pass and one failure, and gets one draw."""
    judged = [
        JudgedTranscript(f"{number}-{judge}", str(number), judge) for number in range(40) for judge in (True, False)
    ]
    for seed in range(20):
        keys = [each.key.partition("-") for each in draw_for_labelling(judged, 40, seed)]
        assert len({scenario for scenario, _, _ in keys}) == 40
        assert 8 <= sum(judge == "False" for _, _, judge in keys) <= 32
