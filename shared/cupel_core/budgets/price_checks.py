"""Refusals of calls that a budget could not limit, because the price of their model is unknown."""

from collections.abc import Iterable

from cupel_core.accounts.keys import load_account, model_error, with_prices
from cupel_core.base.errors import Invalid
from cupel_core.domain.budgets.confirmation import unpriced_message
from cupel_core.domain.conversations.model_request import Usage
from cupel_core.domain.resources.providers import Prices
from cupel_core.domain.runs.run import Run
from cupel_core.providers.prices import cost_usd
from cupel_core.store import evaluation_settings


def is_workspace_limited(workspace: str) -> bool:
    return evaluation_settings.get_budgets(workspace).is_set


def needs_prices(run: Run) -> bool:
    """Return whether a budget limits calls after the run's end and its starter did not agree to unknown prices."""
    return is_workspace_limited(run.workspace) if run.budget is None else not run.budget.allows_unpriced


def has_price(workspace: str, model: str, own_prices: Prices | None = None) -> bool:
    """Return whether the price of the model is known, by the workspace's present prices unless others are given."""
    account = with_prices(load_account(workspace, model.partition("/")[0]), own_prices)
    return cost_usd(model, Usage(1, 1), account) is not None


def may_cost(workspace: str, model: str) -> bool:
    """Return whether calls of the model may cost something. It is False for a name that is not a model's."""
    if model_error(workspace, model):
        return False
    return cost_usd(model, Usage(1, 1), load_account(workspace, model.partition("/")[0])) != 0


def refuse_unpriced(models: Iterable[str]) -> None:
    if named := sorted(models):
        raise Invalid.field("allowUnpriced", unpriced_message(named))
