"""`cupel.evaluate` with an operation profile: every turn goes through its operations, as in a stack."""

from pathlib import Path
from typing import Any

import pytest
import yaml

import cupel
from cupel.errors import UsageError
from cupel.in_process import ProbeResult
from cupel_core.domain.runs.transcripts import ProbeError
from tests.conftest import ROOT
from tests.profiles import AFTER, LLM, operation, profile

type Json = dict[str, Any]
DEFINITION: Json = {
    "content": {"assertions": [{"type": "contains", "value": "yours"}]},
    "scenarios": [{"name": "one", "prompt": "How are you?"}],
}
SIGNED = profile(
    operation(params={"template": "Be polite to: {{ user.text }}"}),
    operation(
        "sign",
        hooks=[AFTER],
        params={"template": "{{ answer.text }}, yours"},
        effects=[{"type": "turn.assistant.rewrite"}],
    ),
)


class Agent:
    """Repeats its number, and notes the messages."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, messages: list[dict[str, str]]) -> str:
        self.asked.append([each["content"] for each in messages])
        return f"answer {len(self.asked)}"


def completed(evaluation: cupel.Evaluation) -> ProbeResult:
    (result,) = evaluation.results
    assert result.transcript is not None, result.error
    return result


def test_every_turn_goes_through_the_operations() -> None:
    agent = Agent()
    evaluation = cupel.evaluate(DEFINITION, agent, profile=SIGNED)
    assert agent.asked == [["Be polite to: How are you?", "How are you?"]]
    result = completed(evaluation)
    assert [message.content for message in result.messages] == ["How are you?", "answer 1, yours"]
    assert result.success
    (turn,) = result.turns
    ended = [(each["operationId"], each["status"]) for each in turn["operations"]]
    assert ended == [("tone", "done"), ("sign", "done")]
    assert evaluation.to_json()["probes"][0]["content"]["turns"] == [dict(turn)]
    assert (turn["originalAnswer"], [each["status"] for each in turn["commits"]]) == ("answer 1", ["applied"] * 2)


@pytest.mark.parametrize("name", ["guarded", "planned", "summarized"])
def test_the_samples_run_in_process(name: str) -> None:
    evaluation = cupel.evaluate(DEFINITION, "sim/steady", profile=ROOT / f"samples/profiles/{name}.yaml", seed=1)
    assert completed(evaluation).turns[0]["operations"]


def test_models_of_operations_are_counted_and_estimated() -> None:
    prices = {"sim": {"prices": {"*": (1.0, 1.0)}}}
    planned = profile(operation("plan", **LLM, effects=[]))
    evaluation = cupel.evaluate(DEFINITION, "sim/steady", profile=planned, providers=prices, budget_usd=1, seed=1)
    spent = completed(evaluation).spends["operation"]
    assert (spent.calls, (spent.cost_usd or 0) > 0) == (1, True)


def test_a_required_operation_that_fails_is_an_error_and_no_result() -> None:
    failing = operation("check", required=True, params={"template": "{{ missing }}", "strictVariables": True})
    agent = Agent()
    (result,) = cupel.evaluate(DEFINITION, agent, profile=profile(failing)).results
    assert isinstance(result.outcome, ProbeError)
    assert (result.outcome.code, agent.asked) == ("operation_error", [])


def test_a_disabled_profile_runs_nothing() -> None:
    agent = Agent()
    assert not completed(cupel.evaluate(DEFINITION, agent, profile={**SIGNED, "enabled": False})).turns


def test_errors_of_a_file_name_its_lines(tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(yaml.safe_dump(profile(operation(dependsOn=["tone"], params={"template": "{{"}))))
    with pytest.raises(UsageError) as refused:
        cupel.evaluate(DEFINITION, Agent(), profile=file)
    assert "wrong.yaml:" in str(refused.value)
    assert "operations.0.dependsOn.0: cannot depend on itself" in str(refused.value)
    assert "operations.0.params.template: does not compile" in str(refused.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "profile: must be a path or a mapping"),
        ({"operations": 3}, "profile: operations: "),
        (profile(operation("plan", kind="llm", params={"target": {"model": "nobody/x"}, "prompt": "x"})), "nobody"),
        (profile(operation("plan", kind="llm", params={"target": {"model": "openai/x"}, "prompt": "x"})), "OPENAI"),
    ],
)
def test_a_profile_that_cannot_be_executed_is_refused(
    given: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError, match=message):
        cupel.evaluate(DEFINITION, Agent(), profile=given)


def test_operations_do_not_change_the_prompt_of_an_agent_with_threads() -> None:
    agent = {"name": "graph", "type": "langgraph", "baseUrl": "http://localhost:1"}
    with pytest.raises(UsageError, match="LangGraph"):
        cupel.evaluate(DEFINITION, agent, profile=SIGNED)


def test_a_continuation_has_the_same_profile(tmp_path: Path) -> None:
    file = tmp_path / "saved.jsonl"
    cupel.evaluate(DEFINITION, capital, profile=SIGNED, resume=file, seed=1)
    with pytest.raises(UsageError, match="different configuration"):
        cupel.evaluate(DEFINITION, capital, resume=file, seed=1)


def capital(_: list[dict[str, str]]) -> str:
    return "Paris"
