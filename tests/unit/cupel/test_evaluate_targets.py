"""`cupel.evaluate` with labelled targets, parameters and several prompts."""

import json
from pathlib import Path
from typing import Any

import pytest

import cupel
from cupel.errors import UsageError
from tests.unit.cupel.conftest import Cupel

CAPITALS: dict[str, Any] = {
    "content": {
        "prompts": [{"id": "plain", "template": "[country]?"}, {"id": "polite", "template": "Please: [country]?"}]
    },
    "scenarios": [{"name": "France", "metadata": {"vars": {"country": "France"}}}],
}
ECHOES = [{"model": "sim/echo", "label": "a"}, {"model": "sim/echo", "label": "b", "params": {"maxOutputTokens": 1}}]


def test_every_target_is_asked_by_every_prompt() -> None:
    evaluation = cupel.evaluate(CAPITALS, ECHOES)
    answers = {(each.target, each.prompt): each.messages[-1].content for each in evaluation.results}
    assert answers == {
        ("a", "plain"): "France?",
        ("a", "polite"): "Please: France?",
        ("b", "plain"): "Fran",
        ("b", "polite"): "Plea",
    }
    assert [model.name for model in evaluation.models] == ["a · plain", "a · polite", "b · plain", "b · polite"]


def test_parameters_of_the_evaluation_apply_to_every_target() -> None:
    evaluation = cupel.evaluate(CAPITALS, ["sim/echo"], params={"stop": ["ance"]})
    assert {each.messages[-1].content for each in evaluation.results} == {"Fr", "Please: Fr"}
    assert evaluation.run_json()["config"]["params"] == {"stop": ["ance"]}


def test_a_scenario_without_a_value_for_its_prompt_is_refused() -> None:
    definition = {**CAPITALS, "scenarios": [{"name": "nowhere", "prompt": "?"}]}
    with pytest.raises(UsageError, match=r"scenarios.0: the prompt plain needs a value for \[country\]"):
        cupel.evaluate(definition, ["sim/echo"])


def test_a_call_of_a_tool_is_the_answer() -> None:
    tool = {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"enum": ["Bonn"]}}}}
    definition = {"content": {"maxTurns": 1}, "scenarios": [{"name": "rain", "prompt": "Is it raining?"}]}
    result = cupel.evaluate(definition, ["sim/steady"], params={"tools": [tool]}).results[0]
    assert [call.name for call in result.messages[-1].tool_calls] == ["weather"]
    called = result.to_json("run_1")["content"]["messages"][-1]["toolCalls"][0]
    assert (called["name"], json.loads(called["arguments"])) == ("weather", {"city": "Bonn"})


def test_a_json_answer_is_the_output() -> None:
    schema = {"type": "object", "properties": {"city": {"const": "Bonn"}}}
    reply_format = {"type": "json_schema", "schema": schema}
    definition = {"content": {"maxTurns": 1}, "scenarios": [{"name": "capital", "prompt": "Which?"}]}
    result = cupel.evaluate(definition, ["sim/steady"], params={"responseFormat": reply_format}).results[0]
    assert result.to_json("run_1")["output"] == {"city": "Bonn"}


@pytest.mark.parametrize(
    ("targets", "options", "message"),
    [
        ([{"model": "sim/echo", "lable": "a"}], {}, "targets.0.lable: "),
        ([{"model": "sim/echo", "params": {"topP": 2}}], {}, "targets.0.params.topP: "),
        ([{"label": "sober", "params": {"topP": 0.1}}], {}, "^targets.0.model: is required$"),
        (["sim/echo", {"maxAttempts": 2}], {}, "^targets.1.model: is required$"),
        (["sim/echo", {"type": "json"}], {}, "targets.1.name: is required; targets.1.baseUrl: is required"),
        ([{"model": "sim/nobody", "label": "a"}], {}, "targets.0.model: unknown simulated model"),
        (["sim/echo"], {"params": {"topP": 2}}, "params.topP: "),
        (["sim/echo"], {"retry_delay_seconds": -1}, "retry_delay_seconds: must be a number from 0 to 60"),
        (["sim/echo"], {"max_attempts": 0}, "max_attempts: must be a whole number from 1 to 10"),
    ],
)
def test_invalid_targets_and_parameters_are_named(targets: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        cupel.evaluate(CAPITALS, targets, **options)


def test_the_command_reads_targets_from_a_file(cupel: Cupel, tmp_path: Path) -> None:
    (tmp_path / "capitals.json").write_text(json.dumps({"name": "capitals", **CAPITALS}))
    (tmp_path / "targets.yaml").write_text(
        "targets:\n  - {model: sim/echo, label: short, params: {maxOutputTokens: 1}}\n"
    )
    files = [str(tmp_path / "capitals.json"), "--targets", str(tmp_path / "targets.yaml")]
    answer = cupel("run", *files, "--param", 'stop=["n"]', "--in-process", "--json")
    assert answer.exit_code == 0, answer.stderr
    probes = json.loads(answer.stdout)["probes"]
    assert [(each["targetId"], each["promptId"]) for each in probes] == [("short", "plain"), ("short", "polite")]
    assert probes[0]["content"]["messages"][-1]["content"] == "Fra"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--targets", '[{"model": "sim/echo", "params": {"topP": 5}}]'],
            "--targets: 0.params.topP: must be at most 1",
        ),
        (["--models", "sim/echo", "--param", "top=1"], "--param: top: is not a known field (did you mean topP?)"),
        (["--models", "sim/echo", "--param", "topP"], "--param: topP: expected NAME=VALUE"),
        (["--targets", "[{"], "--targets: is not JSON"),
        (["--targets", '["sim/echo"]'], "expected a list of targets"),
    ],
)
def test_problems_of_targets_name_option_and_field(
    cupel: Cupel, tmp_path: Path, options: list[str], message: str
) -> None:
    (tmp_path / "capitals.json").write_text(json.dumps({"name": "capitals", **CAPITALS}))
    answer = cupel("run", str(tmp_path / "capitals.json"), *options, "--in-process")
    assert (answer.exit_code, message in answer.stderr) == (2, True), answer.stderr


@pytest.mark.parametrize("options", [[], ["--models", "sim/echo", "--targets", "targets.yaml"]])
def test_the_command_needs_models_or_targets(cupel: Cupel, options: list[str]) -> None:
    answer = cupel("run", "capitals.json", *options, "--in-process")
    assert (answer.exit_code, "either --models or --targets" in answer.stderr) == (2, True)


def test_an_empty_decision_rule_decides_nothing() -> None:
    definition = {"content": {"maxTurns": 1, "decision": {}}, "scenarios": [{"prompt": "Which?"}]}
    result = cupel.evaluate(definition, ["sim/steady"]).results[0]
    assert result.to_json("run_1")["decisionCode"] is None
