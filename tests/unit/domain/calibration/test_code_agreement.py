"""Agreement of codes, against scikit-learn (tools/calibration_oracles.py)."""

import json
from typing import Any

import pytest

from cupel_core.domain.calibration.code_agreement import (
    CodePair,
    PersonCode,
    code_agreement,
    coder_agreement,
    quadratic_kappa,
)
from tests.oracles import FROZEN_FOLDER

FROZEN: dict[str, list[dict[str, Any]]] = json.loads((FROZEN_FOLDER / "calibration.json").read_text())


@pytest.mark.parametrize("case", FROZEN["codes"])
def test_kappa_agrees_with_scikit_learn(case: dict[str, Any]) -> None:
    rows = zip(case["judge"], case["label"], case["weight"], strict=False)
    assert quadratic_kappa([CodePair("", *row) for row in rows]) == pytest.approx(case["kappa"], abs=1e-9)


def test_a_judge_that_agrees_on_one_code_has_no_kappa() -> None:
    assert quadratic_kappa([CodePair("a", 4, 4), CodePair("b", 4, 4)]) is None
    assert quadratic_kappa([]) is None


def test_the_agreement_is_weighted_and_counts_scenarios() -> None:
    found = code_agreement(2, 1, 3, [CodePair("a", 4, 4, 3), CodePair("b", 4, 2, 1)])
    assert found.agreement is not None
    assert (found.agreement.share, found.transcripts, found.scenarios, found.skipped, found.undecided) == (
        0.75,
        2,
        2,
        1,
        3,
    )


def test_people_agree_if_their_codes_are_equal() -> None:
    codes = [PersonCode("t", "a", 4), PersonCode("t", "a", 4), PersonCode("t", "a", 5), PersonCode("u", "b", None)]
    found = coder_agreement(codes)
    assert found.ceiling is not None
    assert (found.transcripts, found.ceiling.share) == (1, pytest.approx(1 / 3))
