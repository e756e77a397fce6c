"""What results come to, for each scenario and model, and for each model."""

import pytest

from cupel_core.domain.scoring.scores import ScoredResult, column_scores, scenario_scores

YES, NO, NEITHER = True, False, None


def results(scenario: str, *cases: list[bool | None], first: int = 0, **more: object) -> list[ScoredResult]:
    """Of one model: a list of successes for each case of the scenario."""
    all_results = [(first * 10 + number, success) for number, case in enumerate(cases) for success in case]
    return [
        ScoredResult(first * 100 + index, case, 0, scenario, success, **more)  # type: ignore[arg-type]
        for index, (case, success) in enumerate(all_results)
    ]


def test_a_scenario_counts_its_results() -> None:
    (row,) = scenario_scores(results("scn_1", [YES, NO, NEITHER, YES]), k=1)
    assert (row.judged, row.successes, row.unscored) == (3, 2, 1)
    assert row.mean == pytest.approx(2 / 3)
    assert row.standard_error == pytest.approx(1 / 3)


def test_pass_at_k_and_pass_hat_k_are_of_the_repeats_of_a_scenario() -> None:
    (row,) = scenario_scores(results("scn_1", [YES, NO, NO, YES, NO]), k=2)
    assert (row.pass_at_k, row.pass_hat_k) == (pytest.approx(0.7), pytest.approx(0.1))


def test_personas_are_cases_of_their_own() -> None:
    """One persona always succeeds and the other never: no repeat of either would change that."""
    (row,) = scenario_scores(results("scn_1", [YES, YES], [NO, NO]), k=2)
    assert (row.pass_at_k, row.pass_hat_k) == (0.5, 0.5)


def test_a_case_with_less_than_k_results_is_left_out() -> None:
    (row,) = scenario_scores(results("scn_1", [YES, NEITHER], [NO, NO]), k=2)
    assert row.pass_at_k == 0.0
    (row,) = scenario_scores(results("scn_1", [YES, NEITHER]), k=2)
    assert row.pass_at_k is None


def test_rows_have_the_order_of_the_results_and_their_first_index() -> None:
    rows = list(scenario_scores([*results("scn_1", [YES]), *results("scn_2", [NO], first=1)], k=1))
    assert [(row.scenario_id, row.first_index) for row in rows] == [("scn_1", 0), ("scn_2", 100)]


def test_a_model_is_the_mean_over_its_scenarios() -> None:
    all_results = [
        *results("scn_1", [YES, YES]),
        *results("scn_2", [NO, YES], first=1),
        *results("scn_3", [NO, NO], first=2),
    ]
    model = column_scores(0, all_results, k=2)
    assert (model.judged, model.successes, model.mean) == (6, 3, 0.5)
    assert (model.pass_at_k, model.pass_hat_k) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    # Deviations of 1, 0 and -1 over 6 results, times 3 / 2 for three clusters.
    assert model.standard_error == pytest.approx(3**0.5 / 6)


def test_scores_and_metrics_are_means_and_tags_are_counts() -> None:
    all_results = [
        *results("scn_1", [YES], score=1.0, metrics={"tone": 0.5}),
        *results("scn_2", [NO], first=1, score=0.5, metrics={"tone": 1.0}, tags=["REFUSAL", "GOAL_MISS"]),
        *results("scn_3", [NEITHER], first=2, score=None, tags=[]),
    ]
    model = column_scores(0, all_results, k=1)
    assert (model.mean_score, model.metrics, model.tags) == (0.75, {"tone": 0.75}, {"REFUSAL": 1, "GOAL_MISS": 1})


def test_nothing_judged_is_no_pass_rate_of_zero() -> None:
    model = column_scores(0, results("scn_1", [NEITHER]), k=1)
    assert (model.judged, model.unscored, model.mean, model.interval, model.pass_at_k) == (0, 1, None, None, None)
