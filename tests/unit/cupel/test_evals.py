"""`cupel evals run`, `try` and `settings`, against the real API function and the real worker."""

import json

import pytest
from typer.testing import CliRunner, Result

from cupel.cli import app
from cupel.client import Client
from cupel.session import Session
from cupel_core.runs.finishing import phases
from cupel_core.store import active_runs, executions, runs
from cupel_core.store.settings import Settings
from tests.started_runs import NOW, dispatch_and_probe, ref_of
from tests.unit.api.client import Client as ApiClient
from tests.unit.api.client import api_transport
from tests.unit.cupel.fake_api import Cupel


@pytest.fixture
def client(cloud: Settings, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr(executions, "start_finish", lambda *_: None)
    api = ApiClient(None)
    return Client("http://api.test", api.issue("ws_a"), transport=api_transport(api))


@pytest.fixture
def cupel(client: Client) -> Cupel:
    client.close = lambda: None  # type: ignore[method-assign]

    def invoke(*arguments: str) -> Result:
        session = Session(connect=lambda: client, sleep=lambda _: finish_all())
        return CliRunner().invoke(app, list(arguments), obj=session, catch_exceptions=False)

    return invoke


def finish_all() -> None:
    """Does the work of the functions while the command waits."""
    for one in list(active_runs.list_active_runs()):
        run = runs.get(one.ref)
        dispatch_and_probe(run)
        phases.settle(ref_of(run), run.fencing_token, NOW)
        phases.complete(ref_of(run), run.fencing_token, NOW)


@pytest.fixture
def scenario_id(client: Client) -> str:
    definition = client.create_definition({"name": "tables", "content": {"system": "Be kind."}})
    item = {"prompt": "A table, please.", "assertions": [{"type": "regex", "value": "."}]}
    return str(client.create_scenarios(definition["id"], [item])["ids"][0])


def test_a_scenario_is_run_and_shown(cupel: Cupel, scenario_id: str) -> None:
    result = cupel("try", scenario_id, "--target", "sim/echo")
    assert (result.exit_code, "A table, please." in result.stdout, "passed" in result.stdout) == (0, True, True)


def test_a_playground_run_is_printed_as_json(cupel: Cupel, scenario_id: str) -> None:
    probe = json.loads(cupel("try", scenario_id, "--target", "sim/echo", "--json").stdout)
    assert (probe["status"], probe["result"]["success"]) == ("COMPLETED", True)


def test_an_invalid_target_is_a_usage_error(cupel: Cupel, scenario_id: str) -> None:
    assert cupel("try", scenario_id, "--target", "echo").exit_code == 2


def test_an_eval_is_run_with_a_gate(cupel: Cupel, client: Client, scenario_id: str) -> None:
    body = {"name": "booking", "model": "sim/echo", "scenarioIds": [scenario_id]}
    eval_id = str(client.create_eval(body)["id"])
    result = cupel("evals", "run", eval_id, "--watch", "--fail-under", "1", "--repeats", "2")
    assert (result.exit_code, "sim/echo" in result.stdout) == (0, True)
    (run,) = client.list_runs(eval_id=eval_id)
    assert (run["progress"]["completed"], run["executionId"]) == (2, 1)


def test_an_eval_is_run_at_a_pace(cupel: Cupel, client: Client, scenario_id: str) -> None:
    evaluated = client.create_eval({"name": "tables", "scenarioIds": [scenario_id], "model": "sim/echo"})
    run = cupel("evals", "run", evaluated["id"], "--concurrency", "5", "--stagger", "0", "100", "--json")
    config = json.loads(run.stdout)["run"]["config"]
    assert (config["maxConcurrency"], config["staggerMs"]) == (5, [0, 100])


def test_the_attempts_of_an_eval_are_chosen_by_options(cupel: Cupel, client: Client, scenario_id: str) -> None:
    created = {"name": "e", "scenarioIds": [scenario_id], "model": "sim/steady"}
    eval_id = client.create_eval(created)["id"]
    answer = cupel("evals", "run", eval_id, "--max-attempts", "2", "--retry-delay-seconds", "30", "--json")
    assert answer.exit_code == 0, answer.stderr
    config = client.get_run(json.loads(answer.stdout)["run"]["id"])["config"]
    assert (config["maxAttempts"], config["retryDelaySeconds"]) == (2, 30)


def test_an_eval_is_run_with_a_report(cupel: Cupel, client: Client, scenario_id: str) -> None:
    evaluated = client.create_eval({"name": "tables", "scenarioIds": [scenario_id], "model": "sim/echo"})
    options = ("--report", "--summarizer-model", "sim/bold", "--json")
    run = json.loads(cupel("evals", "run", evaluated["id"], *options).stdout)["run"]
    assert (run["report"], run["config"]["summarizerModel"]) == (True, "sim/bold")
    [summary] = json.loads(cupel("evals", "estimate", evaluated["id"], *options).stdout)["graders"]
    assert (summary["model"], summary["role"]) == ("sim/bold", "report")


def test_models_of_an_eval_outside_the_price_list_are_a_warning(cupel: Cupel, client: Client, scenario_id: str) -> None:
    client.update_provider("openai", {"apiKey": "sk-x"})
    eval_id = client.create_eval({"name": "typo", "model": "openai/gpt5-mini", "scenarioIds": [scenario_id]})["id"]
    assert "did you mean openai/gpt-5-mini?" in cupel("evals", "run", str(eval_id)).stderr


def test_the_judge_model_is_set_shown_and_removed(cupel: Cupel) -> None:
    assert "judgeModel: sim/steady" in cupel("settings", "--judge-model", "sim/steady").stdout
    assert json.loads(cupel("settings", "--json").stdout)["judgeModel"] == "sim/steady"
    assert "analysisModel: openai/x" in cupel("settings", "--analysis-model", "openai/x").stdout
    assert "summarizerModel: sim/bold" in cupel("settings", "--summarizer-model", "sim/bold").stdout
    assert json.loads(cupel("settings", "--judge-model", "", "--json").stdout)["judgeModel"] is None
