"""The amount to reserve for a call before it is made, so that it cannot exceed a budget."""

from typing import NamedTuple

from cupel_core.domain.budgets.call_tokens import (
    expected_input_tokens,
    max_input_tokens,
    unlimited_output_tokens,
)
from cupel_core.domain.budgets.money import nano_usd, usd
from cupel_core.domain.conversations.model_request import ModelRequest, Reply, RequestParameter, Usage
from cupel_core.domain.conversations.spend import Spend
from cupel_core.providers import is_claude, model_name_of, wire_format_of
from cupel_core.providers.account import Account
from cupel_core.providers.adaptation import ADAPTER
from cupel_core.providers.errors import ProviderError
from cupel_core.providers.prices import cost_usd, spend_of


class CallBound(NamedTuple):
    """The maximum cost of a call, in billionths of a USD. `is_certain` is true if it cannot cost more."""

    nano_usd: int
    is_certain: bool


def bound_of_call(account: Account, model: str, request: ModelRequest, mean_output_tokens: float = 0.0) -> CallBound:
    """Return the bound at the account's prices, which is 0 if the price is unknown."""
    from cupel_core.providers.file_formulas import file_formulas

    limit = output_limit(account, model, request)
    formulas = file_formulas(model)
    if limit is None:
        usage = Usage(expected_input_tokens(request, formulas), unlimited_output_tokens(mean_output_tokens))
    else:
        usage = Usage(max_input_tokens(request, formulas), limit)
    return CallBound(nano_usd(cost_usd(model, usage, account) or 0.0), limit is not None)


def spend_of_failure(account: Account, model: str, request: ModelRequest, error: ProviderError) -> Spend:
    """Return the reported cost of a call without a usable answer, or else its maximum cost, which a budget counts for
    it."""
    if error.usage is not None or error.cost_usd is not None:
        return spend_of(account, model, Reply("", usage=error.usage, cost_usd=error.cost_usd))
    if not error.may_be_billed:
        return Spend()
    if error.charged_usd is not None:
        return Spend(uncertain_usd=error.charged_usd)
    return Spend(uncertain_usd=usd(bound_of_call(account, model, request).nano_usd))


def spend_of_failed_embedding(account: Account, model: str, texts: tuple[str, ...], error: ProviderError) -> Spend:
    return Spend(uncertain_usd=usd(bound_of_embedding(account, model, texts)) if error.may_be_billed else 0.0)


def bound_of_embedding(account: Account, model: str, texts: tuple[str, ...]) -> int:
    return nano_usd(cost_usd(model, Usage(sum(len(text.encode()) + 1 for text in texts)), account) or 0.0)


def output_limit(account: Account, model: str, request: ModelRequest) -> int | None:
    """Return the maximum of generated tokens, or None if the request sets no limit, or the model rejects it."""
    wire_format, name, parameters = wire_format_of(model), model_name_of(model), request.parameters
    if wire_format == "anthropic" or (wire_format == "vertex" and is_claude(name)):
        from cupel_core.providers import anthropic

        return anthropic.max_tokens(name, parameters)
    if RequestParameter.MAX_OUTPUT_TOKENS in ADAPTER.omitted(account, model, request):
        return None
    from cupel_core.providers.openai_responses import MIN_OUTPUT_TOKENS

    limit = parameters.max_output_tokens
    return limit and max(limit, MIN_OUTPUT_TOKENS)
