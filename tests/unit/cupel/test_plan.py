"""`cupel plan`, against the real API function."""

import json

import pytest

from cupel_core.domain.analysis.power import scenarios_for
from cupel_core.settings import Settings
from tests.compared_runs import run_of
from tests.unit.cupel.fake_api import Cupel
from tests.unit.cupel.test_compare import cupel as cupel


def test_without_history_a_spread_is_assumed(cupel: Cupel) -> None:
    document = json.loads(cupel("plan", "--effect", "0.5", "--json").stdout)
    assert document["plans"][0] == {"repeats": 1, "scenarios": scenarios_for(0.5, 1, 0.05, 1), "probes": 34}


def test_the_spread_can_be_given(cupel: Cupel) -> None:
    result = cupel("plan", "--effect", "0.1", "--metric", "pass_rate", "--spread", "0.3")
    assert "Standard deviation of scenarios' differences 0.30, as given." in result.stdout
    assert "probes per target" in result.stdout


def test_it_is_estimated_from_two_targets_of_a_run(cupel: Cupel, cloud: Settings) -> None:
    run = run_of("def_shared", "+-++--++" + "++--+-+-", models=("sim/steady", "sim/bold"))
    document = json.loads(cupel("plan", "--effect", "0.1", "--run", run.id, "--json").stdout)
    assert (document["metric"], document["varianceWithinScenarios"]) == ("PASS_RATE", 0)
    assert document["varianceBetweenScenarios"] == pytest.approx(4.875 / 7)


def test_repeats_tell_noise_from_differences(cupel: Cupel, cloud: Settings) -> None:
    run = run_of("def_shared", "+-", models=("sim/steady", "sim/bold"), repeats=2)
    document = json.loads(cupel("plan", "--effect", "0.1", "--run", run.id, "--json").stdout)
    assert (document["varianceBetweenScenarios"], document["varianceWithinScenarios"]) == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "sim/none"], "--model: the run has no target 'sim/none'; it has sim/steady"),
        ([], "the run has a single target: name a run with two, or give --spread"),
        (["--spread", "1"], "--spread: is estimated from --run; give one of them"),
    ],
)
def test_what_a_run_does_not_have_is_named(cupel: Cupel, cloud: Settings, arguments: list[str], message: str) -> None:
    result = cupel("plan", "--effect", "0.1", "--run", run_of("def_shared", "+-").id, *arguments)
    assert (result.exit_code, message in result.stderr) == (2, True)
