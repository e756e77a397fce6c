"""What a call costs at most."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.budgets.call_tokens import MIN_UNLIMITED_OUTPUT_TOKENS, max_input_tokens
from cupel_core.domain.conversations.model_parameters import ModelParameters, ReasoningEffort, ResponseFormat
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest
from cupel_core.domain.conversations.parts import FilePart, PartType, TextPart
from cupel_core.domain.conversations.tools import Tool
from cupel_core.domain.estimates.file_tokens import FileFormulas, file_tokens
from cupel_core.domain.resources.providers import ModelPrice
from cupel_core.domain.text.token_counts import estimated_tokens
from cupel_core.providers.account import Account
from cupel_core.providers.file_formulas import file_formulas
from cupel_core.providers.reservations import bound_of_call, bound_of_embedding, output_limit

ACCOUNT = Account("custom", "http://models.test", prices=(ModelPrice(None, 1.0, 10.0),))
"""A nano-dollar is a thousandth of an input token, and a ten-thousandth of an output token."""


FILES = FileFormulas()


def request(text: str = "Hi", **parameters: object) -> ModelRequest:
    return ModelRequest((Message(MessageRole.USER, text),), ModelParameters(**parameters))  # type: ignore[arg-type]


def test_a_call_with_a_limit_costs_at_most_a_token_per_byte_and_its_whole_limit() -> None:
    bound = bound_of_call(ACCOUNT, "custom/m", request("Grüße", max_output_tokens=100))
    assert bound == ((7 + 16) * 1_000 + 100 * 10_000, True)


def test_a_call_without_a_limit_has_no_certain_bound() -> None:
    bound = bound_of_call(ACCOUNT, "custom/m", request())
    assert not bound.is_certain
    assert bound.nano_usd >= MIN_UNLIMITED_OUTPUT_TOKENS * 10_000


def test_for_an_answer_without_a_limit_four_times_the_mean_is_set_aside() -> None:
    long_ones = bound_of_call(ACCOUNT, "custom/m", request(), mean_output_tokens=2_000.0)
    assert long_ones.nano_usd - bound_of_call(ACCOUNT, "custom/m", request()).nano_usd == 6_000 * 10_000


def test_anthropic_requires_a_limit_so_there_is_always_one() -> None:
    account, model = Account("anthropic", "https://api.anthropic.com/v1"), "anthropic/claude-sonnet-4-5"
    assert output_limit(account, model, request()) == 4_096
    assert bound_of_call(account, model, request()).is_certain


def test_thinking_counts_towards_the_limit() -> None:
    account, model = Account("anthropic", "https://api.anthropic.com/v1"), "anthropic/claude-sonnet-4-5"
    thinking = output_limit(account, model, request(max_output_tokens=100, reasoning_effort=ReasoningEffort.LOW))
    assert thinking is not None
    assert thinking > 100


def test_claude_on_vertex_has_a_limit_too() -> None:
    assert output_limit(Account("vertex", "https://v.test"), "vertex/claude-sonnet-4-5", request()) == 4_096


def test_functions_and_schemas_are_part_of_the_prompt() -> None:
    tool = Tool("find_train", "Finds a train." * 10, {"type": "object", "properties": {}})
    schema = ResponseFormat.of_schema({"type": "object", "properties": {"a": {"type": "string"}}})
    plain = max_input_tokens(request(), FILES)
    assert max_input_tokens(request(tools=(tool,)), FILES) > plain + 140
    assert max_input_tokens(request(response_format=schema), FILES) > plain + 50


def test_an_image_counts_twice_what_its_formula_says() -> None:
    message = Message.of_parts(MessageRole.USER, (TextPart("What is this?"), FilePart(PartType.IMAGE, "file_1")))
    asked = ModelRequest((message,), ModelParameters(max_output_tokens=1))
    [formula_tokens] = file_tokens(message.files, file_formulas("custom/gpt-4o-mini"))[:1]
    texts = replace(asked, messages=(Message(MessageRole.USER, message.text),))
    bounds = [bound_of_call(ACCOUNT, "custom/gpt-4o-mini", each).nano_usd for each in (asked, texts)]
    assert bounds[0] - bounds[1] == 2 * formula_tokens * 1_000


def test_a_longer_prompt_is_reserved_at_the_price_of_its_tier() -> None:
    """Gemini's prompts above 200,000 tokens cost twice as much per token."""
    account, model = Account("google", "https://g.test"), "google/gemini-2.5-pro"
    short = bound_of_call(account, model, request("x" * 150_000, max_output_tokens=1))
    long = bound_of_call(account, model, request("x" * 300_000, max_output_tokens=1))
    assert long.nano_usd > 3.9 * short.nano_usd


def test_a_model_without_a_price_reserves_nothing() -> None:
    assert bound_of_call(Account("custom", "http://models.test"), "custom/m", request()).nano_usd == 0


def test_an_embedding_costs_at_most_a_token_per_byte() -> None:
    assert bound_of_embedding(ACCOUNT, "custom/e", ("ab", "ü")) == (3 + 3) * 1_000


@given(st.text(max_size=200))
def test_the_bound_of_the_input_is_never_below_the_estimate_of_its_text(text: str) -> None:
    assert max_input_tokens(request(text), FILES) >= estimated_tokens(text)


@pytest.mark.parametrize("model", ["openai/gpt-5-mini", "google/gemini-2.5-flash", "bedrock/amazon.nova-lite-v1:0"])
def test_other_providers_have_a_bound_only_with_a_limit(model: str) -> None:
    account = Account(model.partition("/")[0], "https://p.test")
    assert output_limit(account, model, request()) is None
    assert output_limit(account, model, request(max_output_tokens=500)) == 500
