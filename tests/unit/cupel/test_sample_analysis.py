"""The analysis with which `make run` ends: what the rules of the simulated models make of the sample definition."""

import pytest

import cupel
from cupel.in_process import Evaluation
from tests.conftest import ROOT

MODELS = ["sim/steady", "sim/bold", "sim/contrarian"]
CONTRARIAN = MODELS.index("sim/contrarian")


@pytest.fixture(scope="module", params=[1, 2, 3])
def evaluation(request: pytest.FixtureRequest) -> Evaluation:
    return cupel.evaluate(ROOT / "samples/value-dilemma.yaml", MODELS, seed=request.param, progress=False)


def test_the_model_that_contradicts_the_others_is_the_outlier(evaluation: Evaluation) -> None:
    assert evaluation.analysis()["agreement"]["outliers"] == [CONTRARIAN]
    flagged = [each["isOutlier"] for each in evaluation.deep_analysis()["outlierTargets"]["targets"]]
    assert flagged == [False, False, True]


def test_effects_have_the_signs_of_the_rules(evaluation: Evaluation) -> None:
    steady, bold, contrarian = (
        [slope["perStep"] for slope in regression["slopes"]]
        for regression in evaluation.deep_analysis()["effects"]["regressions"]
    )
    assert min(steady) > 0 > max(contrarian)
    assert min(bold) > 0
