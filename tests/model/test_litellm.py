"""Evaluations through LiteLLM's proxy, whose models give fixed answers."""

from typing import Any

import cupel

ANSWER = "A mock answer"


def evaluate(litellm: dict[str, str], *models: str, **options: Any) -> Any:
    definition = {"name": "a gateway", "content": {"followUps": ["And now?"]}, "scenarios": ["Hello"]}
    return cupel.evaluate(definition, list(models), providers={"custom": litellm}, progress=False, **options)


def test_both_formats_get_the_answer(litellm: dict[str, str]) -> None:
    evaluation = evaluate(litellm, "custom/parrot", "custom/responses:parrot")
    assert not evaluation.errors, [each.error for each in evaluation.errors]
    for found in evaluation.to_json()["probes"]:
        texts = [each["content"] for each in found["content"]["messages"] if each["role"] == "assistant"]
        assert texts == [ANSWER, ANSWER]
        assert found["finishReason"] == "stop"
        assert found["usage"]["outputTokens"] > 0


def test_a_failing_model_is_asked_again_and_reported_in_the_proxys_words(litellm: dict[str, str]) -> None:
    evaluation = evaluate(litellm, "custom/broken", max_attempts=2, retry_delay_seconds=0)
    (result,) = evaluation.errors
    assert (result.error.code, result.error.attempts) == ("provider_error", 2)
    assert "InternalServerError" in result.error.message


def test_an_unknown_model_and_a_wrong_key_are_asked_once(litellm: dict[str, str]) -> None:
    (unknown,) = evaluate(litellm, "custom/nobody").errors
    assert (unknown.error.code, unknown.error.attempts) == ("invalid_request", 1)
    (refused,) = evaluate({**litellm, "api_key": "sk-which-is-wrong"}, "custom/parrot").errors
    assert (refused.error.code, refused.error.attempts) == ("auth", 1), refused.error.message
    assert "sk-which-is-wrong" not in refused.error.message
