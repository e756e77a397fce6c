"""`cupel run --in-process`, gates and JUnit files of the command."""

import json
from pathlib import Path
from typing import Any

import pytest
from junitparser import JUnitXml

from tests.profiles import operation, profile
from tests.unit.cupel.fake_api import SIMULATED, Cupel, FakeApi, a_transcript

type Json = dict[str, Any]


@pytest.fixture
def echoes(tmp_path: Path) -> str:
    """Of four scenarios, sim/echo passes three."""
    scenarios = [{"name": word, "prompt": word} for word in ("gold", "golden", "old gold", "silver")]
    content = {"assertions": [{"type": "contains", "value": "gold"}]}
    path = tmp_path / "echoes.json"
    path.write_text(json.dumps({"name": "Echoes", "content": content, "scenarios": scenarios}))
    return str(path)


def here(cupel: Cupel, file: str, *options: str) -> Any:
    return cupel("run", file, "--models", "sim/echo", "--in-process", *options)


def test_the_table_is_that_of_a_run_and_the_api_is_not_called(api: FakeApi, cupel: Cupel, echoes: str) -> None:
    answer = here(cupel, echoes)
    assert answer.exit_code == 0
    assert "Echoes  COMPLETED" in answer.stdout
    assert "4 completed and 0 errored of 4 conversations" in answer.stdout
    assert "75.0% (30.1% to 95.4%)" in answer.stdout
    assert "failed: sim/echo: silver: contains: the output lacks" in answer.stdout
    assert api.requests == []


@pytest.mark.parametrize("attempts", [1, 3])
def test_attempts_and_their_delay_hold_in_process(cupel: Cupel, tmp_path: Path, attempts: int) -> None:
    """Nothing listens at port 9 of this machine."""
    path = tmp_path / "calls.json"
    connector = {"name": "bot", "type": "openai", "baseUrl": "http://127.0.0.1:9/v1", "config": {"model": "m"}}
    document = {"name": "Calls", "scenarios": [{"name": "one", "prompt": "a"}], "connectors": [connector]}
    path.write_text(json.dumps(document))
    limits = ("--max-attempts", str(attempts), "--retry-delay-seconds", "0")
    answer = cupel("run", str(path), "--models", "connector/bot", "--in-process", "--json", *limits)
    [probe] = json.loads(answer.stdout)["probes"]
    assert probe["error"]["attempts"] == attempts


def test_without_a_terminal_progress_is_a_line_at_the_end(cupel: Cupel, echoes: str) -> None:
    [line] = here(cupel, echoes).stderr.splitlines()
    assert "COMPLETED, 4 completed, 0 errored of 4 (100%)" in line


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--models", "sim/echo"], "--models: sim/echo is listed twice: give one of them a label, in `targets`\n"),
        (["--models", "openai/gpt-5-mini"], "--models: openai/gpt-5-mini needs an API key"),
        (["--name", "x" * 201], "--name: must have at most 200 characters"),
        (["--tag", ""], "--tag: must have at least 1 character"),
        (["--priority", "HIGH"], "--priority: has no effect with --in-process"),
    ],
)
def test_problems_name_the_option(
    cupel: Cupel, echoes: str, options: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    answer = here(cupel, echoes, *options)
    assert (answer.exit_code, message in answer.stderr) == (2, True), answer.stderr


def test_a_folder_that_cannot_be_written_to_is_named(
    cupel: Cupel, echoes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".cupel").touch()
    monkeypatch.chdir(tmp_path)
    answer = here(cupel, echoes)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr.startswith("cupel: .cupel/evaluations: Not a directory; run the command in a folder"), (
        answer.stderr
    )


@pytest.mark.parametrize(("place", "message"), [("missing/x.xml", "there is no folder"), ("", "is a folder")])
def test_a_junit_file_that_cannot_be_written_is_refused_before_the_first_call(
    cupel: Cupel, echoes: str, tmp_path: Path, place: str, message: str
) -> None:
    answer = here(cupel, echoes, "--junit", str(tmp_path / place))
    assert (answer.exit_code, message in answer.stderr, answer.stdout) == (2, True, "")


def test_without_a_decision_rule_nothing_is_said_of_decisions(cupel: Cupel, echoes: str) -> None:
    assert "decision" not in here(cupel, echoes).stdout


def test_decisions_that_could_not_be_read_are_a_warning(cupel: Cupel, echoes: str) -> None:
    document = json.loads(Path(echoes).read_text())
    document["content"]["decision"] = {"pattern": "Rating: ([1-5])"}
    Path(echoes).write_text(json.dumps(document))
    assert "warning: no decision could be read from 4 answers" in here(cupel, echoes).stdout


def test_with_json_every_probe_is_printed(cupel: Cupel, echoes: str) -> None:
    document = json.loads(here(cupel, echoes, "--json", "--seed", "3").stdout)
    assert document["passRate"] == 0.75
    assert [probe["scenarioName"] for probe in document["probes"]] == ["gold", "golden", "old gold", "silver"]
    assert document["run"]["config"]["sampleSeed"] == 3


@pytest.mark.parametrize(
    ("options", "exit_code", "message"),
    [
        (["--fail-under", "0.75"], 0, "gate: passed, pass rate 75.0%"),
        (
            ["--fail-under", "0.9"],
            1,
            "gate: pass rate 75.0% of 4 judged conversations, 95% interval 30.1% to 95.4%, is below 0.9",
        ),
        (["--allow-errors", "0"], 0, "gate: passed"),
    ],
)
def test_the_gate_is_the_exit_code(cupel: Cupel, echoes: str, options: list[str], exit_code: int, message: str) -> None:
    answer = here(cupel, echoes, *options)
    assert answer.exit_code == exit_code
    assert message in answer.stderr


@pytest.mark.parametrize(
    ("variable", "options", "costs"),
    [
        ("", ["--price", "custom/small=1000,2000"], True),
        ("small=1000,2000", [], True),
        ("*=0,0; other=3,4", [], False),
        ("small=0,0", ["--price", "custom/small=1000,2000"], True),
        ("small=1000,2000", ["--price", "custom/small=0,0,,0"], False),
    ],
)
def test_a_server_of_ones_own_has_prices(
    cupel: Cupel, echoes: str, monkeypatch: pytest.MonkeyPatch, variable: str, options: list[str], costs: bool
) -> None:
    monkeypatch.setenv("CUSTOM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("CUSTOM_PRICES", variable)
    answer = cupel("estimate", echoes, "--in-process", "--models", "custom/small", "--json", *options)
    estimate = json.loads(answer.stdout)
    assert estimate["unpriced"] == []
    assert (estimate["usd"]["expected"] > 0) is costs


@pytest.mark.parametrize(
    ("price", "message"),
    [
        ("custom/small", "--price: custom/small is not a model and two prices, such as llama3.3=0.2,0.6"),
        ("custom/small=-1,2", "--price: custom/small=-1,2 is not a model and two prices"),
        ("small=1,2", "--price: small=1,2: name the model with its provider, such as custom/small=0.2,0.6"),
        ("costum/small=1,2", "unknown provider; known providers"),
    ],
)
def test_a_price_that_cannot_be_read_is_refused(cupel: Cupel, echoes: str, price: str, message: str) -> None:
    answer = cupel("estimate", echoes, "--in-process", "--models", "sim/echo", "--price", price)
    assert answer.exit_code == 2
    assert message in answer.stderr


def test_a_budget_of_unpriced_calls_says_how_to_set_prices(
    cupel: Cupel, echoes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUSTOM_BASE_URL", "http://127.0.0.1:9/v1")
    answer = cupel("run", echoes, "--in-process", "--models", "custom/small", "--budget", "1")
    assert "a price must be set (--price, CUSTOM_PRICES or `providers`)" in answer.stderr


def test_the_junit_file_is_written_even_if_the_gate_fails(cupel: Cupel, echoes: str, tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    assert here(cupel, echoes, "--fail-under", "1", "--junit", str(path)).exit_code == 1
    (suite,) = JUnitXml.fromfile(str(path))
    assert (suite.name, suite.tests, suite.failures) == ("sim/echo", 4, 1)
    assert [case.name for case in suite if not case.is_passed] == ["silver"]


def test_a_junit_file_that_cannot_be_written_is_a_failure(cupel: Cupel, echoes: str) -> None:
    answer = here(cupel, echoes, "--junit", "/dev/full")
    assert answer.exit_code == 1
    assert "No space left" in answer.stderr


def test_an_evaluation_without_completed_probes_fails(
    cupel: Cupel, echoes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUSTOM_BASE_URL", "http://127.0.0.1:9/v1")
    answer = cupel("run", echoes, "--models", "custom/nobody", "--in-process")
    assert answer.exit_code == 1
    assert "0 completed and 4 errored of 4 conversations" in answer.stdout
    assert "4 errored with" in answer.stdout


def test_an_unknown_simulated_model_is_refused_with_a_suggestion(cupel: Cupel, echoes: str) -> None:
    answer = cupel("run", echoes, "--models", "sim/steddy", "--in-process")
    assert (answer.exit_code, "did you mean sim/steady?" in answer.stderr) == (2, True)


def test_a_simulated_judge_is_named_as_such(cupel: Cupel, echoes: str) -> None:
    assert "the judge is simulated" in here(cupel, echoes, "--judge-model", "sim/steady").stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--models", "nope/x"], 'unknown provider for model "nope/x"'),
        (["--models", "custom/x"], "custom/x needs an address: set CUSTOM_BASE_URL"),
        (["--models", "sim/echo", "--judge-model", "nope"], "--judge-model"),
        (
            ["--models", "sim/echo", "--judge-model", "sim/steddy"],
            '--judge-model: unknown simulated model "sim/steddy"; did you mean sim/steady? known models: sim/',
        ),
        (
            ["--models", "sim/echo", "--persona-model", "sim/none"],
            '--persona-model: unknown simulated model "sim/none"',
        ),
    ],
)
def test_a_model_that_cannot_be_called_is_a_usage_error(
    cupel: Cupel, echoes: str, options: list[str], message: str
) -> None:
    answer = cupel("run", echoes, "--in-process", *options)
    assert answer.exit_code == 2
    assert message in answer.stderr


def test_an_estimate_needs_no_key(cupel: Cupel, echoes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("CUSTOM_BASE_URL", raising=False)
    answer = cupel("estimate", echoes, "--in-process", "--models", "openai/gpt-5-mini,custom/x")
    assert answer.exit_code == 0, answer.stderr
    assert answer.stdout.splitlines()[-2:] == [
        "to start it: provider custom needs an address: set CUSTOM_BASE_URL",
        "to start it: provider openai needs an API key: set OPENAI_API_KEY",
    ]


@pytest.mark.parametrize("command", ["run", "estimate"])
@pytest.mark.parametrize("option", [["--report"], ["--summarizer-model", "sim/bold"]])
def test_reports_need_a_stack(cupel: Cupel, echoes: str, command: str, option: list[str]) -> None:
    answer = cupel(command, echoes, "--models", "sim/echo", "--in-process", *option)
    assert (answer.exit_code, "a stack, which" in answer.stderr, option[0] in answer.stderr) == (2, True, True)


def test_a_missing_judge_is_named_by_its_option(cupel: Cupel, tmp_path: Path) -> None:
    path = tmp_path / "judged.yaml"
    path.write_text("name: x\ncontent: {system: s}\nscenarios: [{prompt: q, successCriteria: polite}]\n")
    answer = cupel("run", str(path), "--models", "sim/echo", "--in-process")
    assert (answer.exit_code, "--judge-model: is required" in answer.stderr) == (2, True)


def test_code_is_only_allowed_in_process(cupel: Cupel, echoes: str) -> None:
    result = cupel("run", echoes, "--models", "sim/echo", "--allow-code")
    assert result.exit_code == 2
    assert "--allow-code: only with --in-process" in result.stderr


def test_a_definition_by_its_id_needs_a_stack(cupel: Cupel) -> None:
    assert cupel("run", "def_7", "--models", "sim/echo", "--in-process").exit_code == 2


@pytest.mark.parametrize("option", [["--fail-under", "0.9"], ["--allow-errors", "1"], ["--junit", "x.xml"]])
def test_options_for_the_end_of_a_run_require_watch(api: FakeApi, cupel: Cupel, option: list[str]) -> None:
    answer = cupel("run", "def_7", "--models", "sim/echo", *option)
    assert answer.exit_code == 2
    assert "add --watch" in answer.stderr
    assert api.requests == []


@pytest.fixture
def judged(api: FakeApi) -> FakeApi:
    """A run of three conversations, of which two passed."""
    results = [{"success": success, "score": float(success), "reason": "so"} for success in (True, True, False)]
    api.transcripts = [a_transcript(index, SIMULATED, None, result=each) for index, each in enumerate(results)]
    api.runs[0]["progress"] = {"total": 3, "completed": 3, "failed": 0}
    api.runs[0]["config"]["models"] = [SIMULATED]
    api.scenarios["def_1"] = [{"id": f"scn_{number}", "name": f"case {number}"} for number in range(3)]
    return api


@pytest.mark.parametrize("command", [["run", "def_7", "--models", SIMULATED, "--watch"], ["watch", "run_1"]])
@pytest.mark.parametrize(("share", "exit_code"), [("0.6", 0), ("0.7", 1)])
def test_a_run_of_a_stack_has_a_gate_and_a_junit_file_too(
    judged: FakeApi, cupel: Cupel, tmp_path: Path, command: list[str], share: str, exit_code: int
) -> None:
    path = tmp_path / "report.xml"
    assert cupel(*command, "--fail-under", share, "--junit", str(path)).exit_code == exit_code
    (suite,) = JUnitXml.fromfile(str(path))
    assert [(case.name, case.is_passed) for case in suite] == [("case 0", True), ("case 1", True), ("case 2", False)]


def test_a_profile_is_a_file(cupel: Cupel, echoes: str, tmp_path: Path) -> None:
    file = tmp_path / "polite.json"
    file.write_text(json.dumps(profile(operation())))
    probe = json.loads(here(cupel, echoes, "--profile", str(file), "--json").stdout)["probes"][0]
    assert [each["operationId"] for each in probe["content"]["turns"][0]["operations"]] == ["tone"]
    refused = here(cupel, echoes, "--profile", str(tmp_path / "none.yaml"))
    assert (refused.exit_code, "none.yaml: No such file" in refused.stderr) == (2, True)


@pytest.fixture
def partly(echoes: str) -> str:
    """The first scenario lacks two checks that its author wrote."""
    document = json.loads(Path(echoes).read_text())
    document["scenarios"][0]["leftOutChecks"] = {"javascript": 1, "is-sql": 1}
    Path(echoes).write_text(json.dumps(document))
    return echoes


def test_results_say_that_checks_were_left_out(cupel: Cupel, partly: str) -> None:
    stdout = " ".join(here(cupel, partly).stdout.split())
    message = "1 of 4 conversations lack checks that their author wrote (is-sql 1, javascript 1)"
    assert f"caution: sim/echo: {message}" in stdout
    document = json.loads(here(cupel, partly, "--json").stdout)
    left_out = {"javascript": 1, "is-sql": 1}
    assert (document["results"][0]["partlyChecked"], document["results"][0]["leftOutChecks"]) == (1, left_out)
    assert [each["scoring"]["leftOutChecks"] for each in document["probes"]] == [left_out, {}, {}, {}]


@pytest.mark.parametrize(("options", "exit_code"), [([], 1), (["--allow-left-out-checks"], 0)])
def test_the_gate_fails_without_checks_that_were_left_out(
    cupel: Cupel, partly: str, options: list[str], exit_code: int
) -> None:
    answer = here(cupel, partly, "--fail-under", "0.5", *options)
    assert answer.exit_code == exit_code, answer.stderr
    assert ("gate: 1 of 4 conversations lack checks" in answer.stderr) == (exit_code == 1)


def test_a_junit_case_names_the_checks_that_were_left_out(cupel: Cupel, partly: str, tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    here(cupel, partly, "--junit", str(path))
    assert path.read_text().count('<property name="leftOutChecks" value="is-sql 1, javascript 1" />') == 1
