"""`--calibrated` and corrected pass rates in the result table of the command, against the real API function."""

from pathlib import Path

import pytest
from typer.testing import Result

from cupel_core.domain.runs.run import Run
from cupel_core.store.settings import Settings
from tests.unit.api.client import Client as ApiClient
from tests.unit.api.labelled import started
from tests.unit.api.test_corrected_rates import SCENARIOS, judged, label_all
from tests.unit.cupel.api_function import command_of, connect_to_api_function
from tests.unit.cupel.fake_api import Cupel


@pytest.fixture
def api(cloud: Settings) -> ApiClient:
    return ApiClient(None)


@pytest.fixture
def command(cloud: Settings) -> Cupel:
    return command_of(connect_to_api_function())


@pytest.fixture
def run(cloud: Settings) -> Run:
    """The judge lets three quarters pass."""
    return started(SCENARIOS, 1, scoring=judged(failures=10))


def words_of(result: Result) -> str:
    return " ".join(result.output.split())


def test_the_table_shows_the_corrected_rate_beside_that_of_the_judge(command: Cupel, api: ApiClient, run: Run) -> None:
    label_all(ApiClient(api.issue()), run, failing=4)
    shown = words_of(command("watch", run.id))
    assert "75.0% (" in shown
    assert "90.0% (" in shown
    assert "judge: κ −0.17 from 40 labels" in shown


def test_too_few_labels_are_named_in_the_legend(command: Cupel, api: ApiClient, run: Run) -> None:
    label_all(ApiClient(api.issue()), run, failing=2, number=15)
    assert "from 15 labels; not corrected: at least 20 scenarios need a label" in words_of(command("watch", run.id))


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--fail-under", "0.85"), 1, "pass rate 75.0% of 40 judged conversations"),
        (("--fail-under", "0.85", "--calibrated"), 0, "gate: passed"),
        (("--fail-under", "0.95", "--calibrated"), 1, "corrected pass rate 90.0% is below 0.95"),
        (
            ("--fail-under", "0.85", "--calibrated", "--confidence", "0.95"),
            1,
            "is shown with confidence 0.95, is below",
        ),
        (("--fail-under", "0.85", "--calibrated", "--confidence", "0.6"), 0, "gate: passed"),
    ],
)
def test_a_calibrated_gate_uses_the_corrected_rate_or_its_lower_bound(
    command: Cupel, api: ApiClient, run: Run, options: tuple[str, ...], code: int, words: str
) -> None:
    label_all(ApiClient(api.issue()), run, failing=4)
    result = command("watch", run.id, *options)
    assert (result.exit_code, words in words_of(result)) == (code, True), result.output


@pytest.mark.parametrize(
    ("number", "why"), [(0, "no transcript has a blind label"), (15, "at least 20 scenarios need")]
)
def test_a_calibrated_gate_refuses_an_uncalibrated_judge(
    command: Cupel, api: ApiClient, run: Run, number: int, why: str
) -> None:
    if number:
        label_all(ApiClient(api.issue()), run, failing=0, number=number)
    refused = command("watch", run.id, "--fail-under", "0.1", "--calibrated")
    assert refused.exit_code == 1
    assert f"gate: the judge is not calibrated: {why}" in words_of(refused)


def test_every_target_needs_labels(command: Cupel, api: ApiClient) -> None:
    run = started(SCENARIOS, 1, scoring=judged(failures=0), models=("sim/steady", "sim/bold"))
    label_all(ApiClient(api.issue()), run, failing=0)
    refused = command("watch", run.id, "--fail-under", "0.1", "--calibrated")
    assert "gate: sim/bold: the judge is not calibrated" in words_of(refused)
    assert "gate: sim/steady" not in words_of(refused)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--calibrated",), "--calibrated: needs --fail-under"),
        (("--calibrated", "--fail-under", "1", "--errors-as", "fail"), "--calibrated: cannot be combined with"),
    ],
)
def test_options_without_effect_are_refused(command: Cupel, run: Run, options: tuple[str, ...], words: str) -> None:
    refused = command("watch", run.id, *options)
    assert (refused.exit_code, words in words_of(refused)) == (2, True)


def test_a_run_in_process_has_no_labels(command: Cupel, tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    file.write_text("name: one\ntemplate: 'Hello'\n")
    options = ("--in-process", "--models", "sim/steady", "--fail-under", "0.9", "--calibrated")
    refused = command("run", str(file), *options)
    assert (refused.exit_code, "needs a stack, which stores the labels" in words_of(refused)) == (2, True)
