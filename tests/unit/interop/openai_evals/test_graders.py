"""Graders, validated and run with OpenAI's own client."""

from typing import Any

import openai as sdk
import pytest
from openai import OpenAI

from cupel_core.scoring.text_metrics import fuzzy_match
from tests.unit.interop.openai_evals.flows import EXACT

FUZZY: Any = {
    "type": "text_similarity",
    "name": "near",
    "input": "{{ sample.output_text }}",
    "reference": "{{ item.answer }}",
    "evaluation_metric": "fuzzy_match",
}
ITEM = {"answer": "Paris"}


def multi(graders: Any, formula: str = "1") -> Any:
    return {"type": "multi", "name": "m", "graders": graders, "calculate_output": formula}


def run(openai: OpenAI, grader: Any, sample: str = "paris!", item: Any = ITEM) -> Any:
    return openai.fine_tuning.alpha.graders.run(grader=grader, model_sample=sample, item=item)


@pytest.mark.parametrize("grader", [EXACT, FUZZY, {**FUZZY, "evaluation_metric": "cosine"}])
def test_a_valid_grader_is_returned(openai: OpenAI, grader: Any) -> None:
    returned = openai.fine_tuning.alpha.graders.validate(grader=grader).grader
    assert returned is not None
    assert returned.model_dump(exclude_none=True) == grader


@pytest.mark.parametrize(
    ("grader", "param"),
    [
        ({**EXACT, "operation": "regex"}, "grader.operation"),
        ({**EXACT, "input": "{{ other }}"}, "grader.input"),
        ({"type": "python", "name": "code", "source": "1"}, "grader"),
        (multi(EXACT, "exact +"), "grader"),
        (multi(EXACT, "near"), "grader"),
        (multi({"a": EXACT, "b": EXACT}, "a + c"), "grader"),
        (multi({"a": EXACT}, "a+" * 300 + "a"), "grader.calculate_output"),
        (multi({**EXACT, "operation": "regex"}), "grader.graders.operation"),
        (multi({"a": {**EXACT, "operation": "regex"}}), "grader.graders.a.operation"),
        (multi({"a": multi(EXACT)}), "grader.graders.a"),
        (multi({}), "grader.graders"),
        (multi("exact"), "grader.graders"),
        ({"type": "unknown"}, "grader"),
    ],
)
def test_an_invalid_grader_is_refused(openai: OpenAI, grader: Any, param: str) -> None:
    with pytest.raises(sdk.BadRequestError) as refused:
        openai.fine_tuning.alpha.graders.validate(grader=grader)
    assert refused.value.param == param


def test_a_string_check_has_a_reward_of_0_or_1(openai: OpenAI) -> None:
    assert run(openai, EXACT).reward == 0.0
    found = run(openai, EXACT, "Paris")
    assert (found.reward, found.metadata.name, found.metadata.type) == (1.0, "exact", "string_check")
    assert found.metadata.scores == {"exact": 1.0}


def test_a_similarity_has_its_metric_as_reward(openai: OpenAI) -> None:
    assert run(openai, FUZZY).reward == pytest.approx(fuzzy_match("paris!", "Paris"))


def test_a_multi_grader_combines_the_rewards_of_its_parts(openai: OpenAI) -> None:
    multi = {
        "type": "multi",
        "name": "both",
        "graders": {"same": EXACT, "near": FUZZY},
        "calculate_output": "0.25 * same + 0.75 * near",
    }
    near = fuzzy_match("paris!", "Paris")
    found = run(openai, multi)
    assert found.reward == pytest.approx(0.75 * near)
    assert found.sub_rewards == {"same": 0.0, "near": pytest.approx(near)}


def test_a_multi_grader_may_have_one_part_by_its_own_name(openai: OpenAI) -> None:
    multi = {"type": "multi", "name": "one", "graders": EXACT, "calculate_output": "1 - exact"}
    assert run(openai, multi).reward == 1.0


def test_a_formula_that_cannot_be_computed_is_an_error(openai: OpenAI) -> None:
    found = run(openai, {"type": "multi", "name": "one", "graders": EXACT, "calculate_output": "1 / exact"})
    assert (found.reward, found.metadata.errors.formula_parse_error) == (0.0, True)


def test_an_unknown_variable_is_an_error(openai: OpenAI) -> None:
    found = run(openai, EXACT, item={"other": 1})
    assert (found.reward, found.metadata.errors.invalid_variable_error) == (0.0, True)


def test_a_model_is_asked_for_a_score_in_its_range(openai: OpenAI) -> None:
    score: Any = {
        "type": "score_model",
        "name": "quality",
        "model": "sim/steady",
        "range": [1, 7],
        "input": [{"role": "user", "content": "Rate {{ sample.output_text }}"}],
    }
    found = run(openai, score)
    assert 1 <= found.reward <= 7
    assert found.metadata.sampled_model_name == "sim/steady"
    assert found.api_model_grader_token_usage_per_model["sim/steady"] > 0


def test_a_model_that_cannot_be_called_is_refused(openai: OpenAI) -> None:
    score: Any = {"type": "score_model", "name": "q", "model": "gpt-5", "input": [{"role": "user", "content": "x"}]}
    with pytest.raises(sdk.BadRequestError, match="API key"):
        run(openai, score)


def test_models_are_listed_and_found_by_their_names(openai: OpenAI) -> None:
    listed = {model.id: model for model in openai.models.list()}
    assert listed["sim/echo"].owned_by == "sim"
    assert any(model.owned_by == "openai" and "/" not in model.id for model in listed.values())
    assert openai.models.retrieve("sim/echo") == listed["sim/echo"]
    with pytest.raises(sdk.NotFoundError):
        openai.models.retrieve("nobody/x")
