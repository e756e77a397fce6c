"""What results come to, for each scenario and target, and for each target."""

import pytest

from cupel_core.domain.analysis.counted_outcomes import CountedOutcome
from cupel_core.domain.analysis.counts import RunCounts, count, scenario_cases
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.domain.scoring.scores import column_scores, scenario_scores

YES, NO, NEITHER = True, False, None
REPEATS = 5


def counted(*scenarios: list[list[bool | None]], **more: object) -> RunCounts:
    """Of one target: for each scenario a list of successes for each of its cases; `more` by scenario."""
    cases = [(number, case) for number, scenario in enumerate(scenarios) for case in scenario]
    plan = Plan(plain_targets("sim/a"), (len(cases),), repeats=REPEATS)
    outcomes = [
        CountedOutcome(
            position * REPEATS + repeat,
            True,
            success=success,
            **{name: values[number] for name, values in more.items()},  # type: ignore[index]
        )
        for position, (number, case) in enumerate(cases)
        for repeat, success in enumerate(case)
    ]
    totals = count(plan, range(plan.total), outcomes)
    return RunCounts(plan, scenario_cases([number for number, _ in cases]), totals)


def test_a_scenario_counts_its_results() -> None:
    ((_, row),) = scenario_scores(0, counted([[YES, NO, NEITHER, YES]]), k=1)
    assert (row.judged, row.successes, row.unscored) == (3, 2, 1)
    assert row.mean == pytest.approx(2 / 3)
    assert row.standard_error == pytest.approx(1 / 3)


def test_pass_at_k_and_pass_hat_k_are_of_the_repeats_of_a_scenario() -> None:
    ((_, row),) = scenario_scores(0, counted([[YES, NO, NO, YES, NO]]), k=2)
    assert (row.pass_at_k, row.pass_hat_k) == (pytest.approx(0.7), pytest.approx(0.1))


def test_personas_are_cases_of_their_own() -> None:
    """One persona always succeeds and the other never: no repeat of either would change that."""
    ((_, row),) = scenario_scores(0, counted([[YES, YES], [NO, NO]]), k=2)
    assert (row.pass_at_k, row.pass_hat_k) == (0.5, 0.5)


def test_a_case_with_less_than_k_results_is_left_out() -> None:
    ((_, row),) = scenario_scores(0, counted([[YES, NEITHER], [NO, NO]]), k=2)
    assert row.pass_at_k == 0.0
    ((_, row),) = scenario_scores(0, counted([[YES, NEITHER]]), k=2)
    assert row.pass_at_k is None


def test_scenarios_without_a_transcript_are_left_out() -> None:
    rows = list(scenario_scores(0, counted([[]], [[NO]], [[]], [[YES]]), k=1))
    assert [(row.position, row.scores.successes) for row in rows] == [(1, 0), (3, 1)]


def test_a_model_is_the_mean_over_its_scenarios() -> None:
    model = column_scores(0, counted([[YES, YES]], [[NO, YES]], [[NO, NO]]), k=2)
    assert (model.judged, model.successes, model.mean) == (6, 3, 0.5)
    # Each scenario is one value: 1, 1 and 0, and 1, 0 and 0, whose means have this standard error (scipy.stats.sem).
    assert model.pass_at_k == (pytest.approx(2 / 3), pytest.approx(0.33333333333333337, abs=1e-9), 3)
    assert model.pass_hat_k == (pytest.approx(1 / 3), pytest.approx(0.33333333333333337, abs=1e-9), 3)
    # Deviations of 1, 0 and -1 over 6 results, times 3 / 2 for three clusters.
    assert model.standard_error == pytest.approx(3**0.5 / 6)


def test_scenarios_without_k_results_are_counted_although_they_are_left_out() -> None:
    """The second has one result of two, and the third has none, as after errors."""
    model = column_scores(0, counted([[YES, YES]], [[NO]], [[]], [[NO, YES]]), k=2)
    assert (model.pass_hat_k.mean, model.pass_hat_k.scenarios, model.scenarios) == (0.5, 2, 4)
    single = column_scores(0, counted([[YES, YES]], [[NO]]), k=2)
    assert (single.pass_at_k, single.scenarios) == ((1.0, None, 1), 2)


def test_scores_and_metrics_are_means_and_tags_are_counts() -> None:
    model = column_scores(
        0,
        counted(
            [[YES]],
            [[NO]],
            [[NEITHER]],
            score=[1.0, 0.5, None],
            metrics=[{"tone": 0.5}, {"tone": 1.0}, {}],
            tags=[[], ["REFUSAL", "GOAL_MISS"], []],
        ),
        k=1,
    )
    assert (model.mean_score, model.metrics, model.tags) == (0.75, {"tone": 0.75}, {"REFUSAL": 1, "GOAL_MISS": 1})


def test_nothing_judged_is_no_pass_rate_of_zero() -> None:
    model = column_scores(0, counted([[NEITHER]]), k=1)
    assert (model.judged, model.unscored, model.mean, model.interval) == (0, 1, None, None)
    assert (model.pass_at_k, model.scenarios) == ((None, None, 0), 1)
