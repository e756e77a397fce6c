from collections.abc import Callable
from functools import partial

from cupel_core.domain.codec import decode
from cupel_core.domain.conversations.model_parameters import ModelParameters, ParameterFields
from cupel_core.domain.conversations.model_request import ModelRequest, Usage
from cupel_core.domain.estimates.conversations import Calls
from cupel_core.domain.estimates.expectations import ExpectedCalls
from cupel_core.domain.estimates.run_estimate import CallCapacity
from cupel_core.domain.resources.connectors import PROVIDER as CONNECTOR_PROVIDER
from cupel_core.providers.account import Account
from cupel_core.providers.file_formulas import file_formulas
from cupel_core.providers.model_metadata import metadata_of
from cupel_core.providers.prices import cost_usd
from cupel_core.providers.reservations import output_limit
from cupel_core.providers.sim import MAX_LATENCY_SECONDS, MIN_LATENCY_SECONDS

type AccountOf = Callable[[str], Account]


def expected_calls(account_of: AccountOf) -> ExpectedCalls:
    return ExpectedCalls(
        partial(price_of, account_of),
        partial(capacity_of, account_of),
        reasons,
        file_formulas,
        partial(has_limit, account_of),
    )


def reasons(model: str) -> bool:
    """Return whether the model can reason. Many do unless they are told not to."""
    return "reasoningEffort" in (metadata_of(model).supported_parameters or ())


def has_limit(account_of: AccountOf, model: str, params: ParameterFields) -> bool:
    """Return whether the maximum cost of an answer is known, as it is for a free model. An agent behind a connector
    decides for itself."""
    provider = model.partition("/")[0]
    if provider == CONNECTOR_PROVIDER:
        return False
    account, request = account_of(provider), ModelRequest((), decode(ModelParameters, params))
    return cost_usd(model, Usage(0, 1_000_000), account) == 0 or output_limit(account, model, request) is not None


def price_of(account_of: AccountOf, model: str, calls: Calls) -> float | None:
    """Return the price of these calls, if all are equally long, or None if it is unknown."""
    if not calls.count:
        return 0.0
    usage = Usage(round(calls.input_tokens / calls.count), round(calls.output_tokens / calls.count))
    price = cost_usd(model, usage, account_of(model.partition("/")[0]))
    return None if price is None else price * calls.count


def capacity_of(account_of: AccountOf, provider: str) -> CallCapacity:
    is_simulated = provider == "sim"
    return CallCapacity(
        account_of(provider).max_parallel_requests,
        call_seconds=(MIN_LATENCY_SECONDS + MAX_LATENCY_SECONDS) / 2 if is_simulated else None,
    )
