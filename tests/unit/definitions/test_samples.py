"""The samples are definitions without errors or warnings, and do what their comments say."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from cupel import evaluate_async
from cupel_core.contract.scenarios import CreateScenario
from cupel_core.definitions.validation import validate_content
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import content_warnings
from cupel_core.domain.definitions.matrix import Matrix
from cupel_core.scoring.decision_search import read_decision
from tests.conftest import ROOT

SAMPLES = sorted((ROOT / "samples").glob("*.yaml"))


def read(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text())


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_has_neither_errors_nor_warnings(path: Path) -> None:
    assert content_warnings(validate_content(read(path)["content"])) == ()


DECIDING = [path for path in SAMPLES if "decision" in read(path)["content"]]


@pytest.mark.parametrize("path", DECIDING, ids=lambda path: path.stem)
async def test_a_sample_reads_the_decision_it_asks_for(path: Path) -> None:
    content = validate_content(read(path)["content"])
    asked = re.search(r"(\w+): N$", f"{content.system}\n{content.template or ''}", re.MULTILINE)
    assert asked
    assert content.decision
    answer = Message(MessageRole.ASSISTANT, f"Because.\n{asked[1]}: 4")
    decision = await read_decision(content.decision.pattern or "", [answer])
    assert decision
    assert decision[0] == "4"


def test_the_dilemma_has_a_scenario_for_each_of_36_combinations() -> None:
    sample = read(ROOT / "samples/value-dilemma.yaml")
    texts = {scenario.messages[0].content for scenario in Matrix(validate_content(sample["content"]))}
    assert len(texts) == 36
    assert sample["generate"] == {"mode": "matrix", "options": "first"}


def test_each_fact_is_a_question_whose_answer_is_one_of_its_choices() -> None:
    for item in read(ROOT / "samples/facts.yaml")["scenarios"]:
        scenario = CreateScenario.model_validate(item).to_scenario()
        choices = re.findall(r"([1-5])\)", scenario.messages[0].content)
        assert choices == list("12345"), scenario.name
        assert str(scenario.metadata["vars"]["answer"]) in choices


async def test_the_facts_are_graded() -> None:
    """A model that always chooses 3 is right where 3 is the answer."""
    evaluation = await evaluate_async(ROOT / "samples/facts.yaml", lambda _: "Let me think.\nAnswer: 3")
    right = [result.probe.scenario.metadata["vars"]["answer"] == 3 for result in evaluation.results]
    assert [result.success for result in evaluation.results] == right
    assert 0 < sum(right) < len(right)


async def test_simulated_models_do_what_the_shop_agent_is_asserted_to_do() -> None:
    evaluation = await evaluate_async(ROOT / "samples/shop-agent.yaml", "sim/steady", progress=False)
    rounds = [result.transcript.conversation.tool_rounds for result in evaluation.results if result.transcript]
    assert (evaluation.pass_rate, rounds) == (1.0, [2, 2, 1])


def test_the_web_page_has_the_same_sample() -> None:
    page = ROOT / "web/src/samples/value_dilemma.json"
    assert json.loads(page.read_text()) == read(ROOT / "samples/value-dilemma.yaml"), (
        f"write the sample to {page}, as JSON"
    )
