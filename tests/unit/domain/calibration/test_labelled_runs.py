"""Which labels of a run count, how much, and for whom, where label sets, people and judges differ."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import pytest

from cupel_core.domain.calibration.column_calibrations import calibration_of
from cupel_core.domain.calibration.corrected_rates import CorrectedRate, Uncorrected, UncorrectedReason
from cupel_core.domain.calibration.labelled_runs import LabelledRun
from cupel_core.domain.labelling.judged_probes import JudgedProbe
from cupel_core.domain.labelling.label_sets import Draw, LabelSet, LabelStratum
from cupel_core.domain.labelling.labels import Label
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.targets import Target, plain_targets
from tests.started_runs import NOW

PLAN = Plan(plain_targets("sim/steady"), (100,), repeats=1)


def label(index: int, value: str = "pass", labeller: str = "ana", at: datetime = NOW) -> Label:
    return Label(index, 1, "result", labeller, value, at, at, blind_value=value)


def judged(failures: range, scenarios: int = 100) -> dict[int, JudgedProbe]:
    return {
        index: JudgedProbe(index, 1, f"s{index}", "fail" if index in failures else "pass") for index in range(scenarios)
    }


def drawn(name: str, failed: range, passed: range, **fields: object) -> LabelSet:
    strata = (LabelStratum("sim/steady: failed", 10, len(failed)), LabelStratum("sim/steady: passed", 90, len(passed)))
    draws = tuple(Draw(n, len(failed) / 10, 0) for n in failed) + tuple(Draw(n, len(passed) / 90, 1) for n in passed)
    return LabelSet("run", name, "result", 1, NOW, "ana", draws, strata, **{"columns": (0,), **fields})  # type: ignore[arg-type]


SETS = (drawn("lbs_a", range(8), range(10, 19)), drawn("lbs_b", range(2, 10), range(30, 39)))
LABELS = [label(index) for index in (*range(19), *range(30, 39))]


def weights(verdicts: Mapping[int, JudgedProbe], of_sets: Mapping[str | None, Mapping[int, str | None]]) -> list[float]:
    found = LabelledRun("run", PLAN, "result", verdicts, LABELS, SETS, of_sets).weights
    return [found[index] for index in (0, 5, 9, 10, 35)]


def test_weights_do_not_depend_on_the_judge_that_is_measured() -> None:
    own, other = judged(range(10)), judged(range(10, 100))
    by_own = {None: {index: each.verdict for index, each in own.items()}}
    assert weights(other, by_own) == pytest.approx(weights(own, {}))
    assert weights(own, {})[3] == pytest.approx(1 / (1 - 0.9 * 0.9))


def test_a_later_label_set_does_not_replace_the_adjudicator_of_an_earlier_one() -> None:
    sets = (drawn("lbs_a", range(10), range(10, 100), adjudicator="zoe"), drawn("lbs_b", range(10), range(10, 100)))
    given = [
        label(n, value, name) for n in range(100) for name, value in (("ana", "pass"), ("ben", "pass"), ("zoe", "fail"))
    ]
    verdicts = LabelledRun("run", PLAN, "result", judged(range(10)), given, sets).verdicts
    assert [each.label for each in verdicts.values()] == [False] * 100


def test_labels_that_were_stored_together_are_all_of_the_first_pass() -> None:
    given = [label(0, value, name) for name, value in (("ana", "pass"), ("ben", "pass"), ("zoe", "fail"))]
    labelled = LabelledRun("run", PLAN, "result", judged(range(10)), given)
    assert [is_first for _, _, is_first in labelled.first_pass()] == [True] * 3


def test_a_third_label_that_came_later_resolves_a_conflict() -> None:
    given = [
        label(0, value, name, NOW + timedelta(minutes=minute))
        for minute, (name, value) in enumerate((("zoe", "pass"), ("ben", "fail"), ("ana", "fail")))
    ]
    labelled = LabelledRun("run", PLAN, "result", judged(range(10)), given)
    assert [(each.labeller, is_first) for _, each, is_first in labelled.first_pass()] == [
        ("zoe", True),
        ("ben", True),
        ("ana", False),
    ]


def test_an_adjudicator_is_no_part_of_the_first_pass() -> None:
    sets = (drawn("lbs_a", range(10), range(10, 100), adjudicator="ana"),)
    given = [label(0, "pass", name) for name in ("ana", "ben", "zoe")]
    labelled = LabelledRun("run", PLAN, "result", judged(range(10)), given, sets)
    assert {each.labeller for _, each, is_first in labelled.first_pass() if is_first} == {"ben", "zoe"}


def test_labels_of_a_column_that_no_set_covers_are_not_drawn() -> None:
    plan = Plan(plain_targets("sim/steady", "sim/bold"), (50,), repeats=1)
    sets = (drawn("lbs_a", range(8), range(10, 19)),)
    of_both = LabelledRun("run", plan, "result", judged(range(10)), [label(0), label(60)], sets)
    assert not of_both.is_drawn
    assert LabelledRun("run", plan, "result", judged(range(10)), [label(0)], sets).is_drawn


@pytest.mark.parametrize(("model", "is_carried"), [("openai/small", True), ("anthropic/other", False)])
def test_errors_are_carried_between_runs_of_one_model_only(model: str, *, is_carried: bool) -> None:
    """The targets of both runs are called `candidate`."""

    def run(name: str, target: str, labels: int) -> LabelledRun:
        plan = Plan((Target(target, label="candidate"),), (60,), repeats=1)
        verdicts = {n: JudgedProbe(n, 1, f"s{n}", "fail" if n % 4 == 0 else "pass") for n in range(60)}
        given = [label(n, "fail" if n % 4 == 0 or n % 8 == 1 else "pass") for n in range(labels)]
        return LabelledRun(name, plan, "result", verdicts, given)

    (column,) = calibration_of(run("run", model, 30), "judge", measured=run("other", "openai/small", 60)).columns
    if is_carried:
        assert isinstance(column.corrected, CorrectedRate)
    else:
        assert isinstance(column.corrected, Uncorrected)
        assert column.corrected.reason is UncorrectedReason.UNCALIBRATED_TARGET
