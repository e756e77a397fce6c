"""The account of the budget of a run, a rescore or a generation: one item, rewritten with optimistic locking.

It is written once for about a hundred probes. A worker's lease takes 60 bytes, so the item of a run with a hundred
workers is 6 KB.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from cupel_core.base.messages import RunRef
from cupel_core.domain.budgets.account import (
    BudgetAccount,
    BudgetLease,
    BudgetReport,
    Refusal,
    after_leave,
    after_report,
)
from cupel_core.domain.budgets.money import SpentByRole
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.store import keys, versioned_items
from cupel_core.store.batches import get_batch
from cupel_core.store.versioned_items import Versioned


class RescoreRef(NamedTuple):
    """A rescore that has a budget of its own."""

    run: RunRef
    rescore_id: str


class GenerationRef(NamedTuple):
    """A generation of scenarios that has a budget of its own."""

    workspace: str
    definition_id: str
    generation_id: str


type BudgetOwner = RunRef | RescoreRef | GenerationRef
type StoredAccount = Versioned[BudgetAccount]
_SORT_KEY = "budget"


def report(
    owner: BudgetOwner, limit: int, budget_report: BudgetReport, now: float, last: StoredAccount | None = None
) -> StoredAccount:
    """Apply a worker's report; its lease in the result says what it may spend.

    `last` is what this worker wrote last, which saves one that is alone a read.
    """
    return _change(owner, lambda account: after_report(account, limit, budget_report, now), last)


def leave(owner: BudgetOwner, budget_report: BudgetReport, now: float, last: StoredAccount | None = None) -> None:
    """Apply a worker's last report and end its lease."""
    _change(owner, lambda account: after_leave(account, budget_report, now), last)


def get(owner: BudgetOwner) -> BudgetAccount:
    """Empty if no worker has reported yet."""
    return versioned_items.read(key_of(owner), CODEC).value


def get_of_rescores(owners: Iterable[RescoreRef]) -> dict[RescoreRef, BudgetAccount]:
    """The accounts of these rescores. One request per hundred."""
    wanted = {(key["pk"]["S"], key["sk"]["S"]): owner for owner in owners for key in [key_of(owner)]}
    found = get_batch({"pk": {"S": pk}, "sk": {"S": sk}} for pk, sk in wanted)
    items = {(item["pk"]["S"], item["sk"]["S"]): item for item in found}
    return {owner: versioned_items.from_item(items.get(key), CODEC).value for key, owner in wanted.items()}


def get_all(refs: Iterable[RunRef]) -> dict[RunRef, BudgetAccount]:
    """The accounts of these runs. One request per hundred."""
    wanted = {keys.run(ref): ref for ref in refs}
    items = {item["pk"]["S"]: item for item in get_batch(map(key_of, wanted.values()))}
    return {ref: versioned_items.from_item(items.get(key), CODEC).value for key, ref in wanted.items()}


def _change(
    owner: BudgetOwner, change: Callable[[BudgetAccount], BudgetAccount], last: StoredAccount | None
) -> StoredAccount:
    is_alone = last is not None and len(last.value.leases) < 2
    return versioned_items.change(key_of(owner), CODEC, change, last if is_alone else None)


def key_of(owner: BudgetOwner) -> dict[str, Any]:
    if isinstance(owner, GenerationRef):
        pk = keys.definition(owner.workspace, owner.definition_id)
        return {"pk": {"S": pk}, "sk": {"S": f"{_SORT_KEY}#{owner.generation_id}"}}
    if isinstance(owner, RescoreRef):
        return {"pk": {"S": keys.run(owner.run)}, "sk": {"S": f"{_SORT_KEY}#{owner.rescore_id}"}}
    return {"pk": {"S": keys.run(owner)}, "sk": {"S": _SORT_KEY}}


def account_to_json(account: BudgetAccount) -> dict[str, Any]:
    return {
        "spent": _spent_json(account.spent),
        "uncertain": account.uncertain,
        "leases": {worker_id: _lease_json(lease) for worker_id, lease in account.leases.items()},
        "expired": {worker_id: _lease_json(lease) for worker_id, lease in account.expired.items()},
        **({"refusals": {run_id: list(each) for run_id, each in account.refusals.items()}} if account.refusals else {}),
    }


def account_from_json(body: dict[str, Any]) -> BudgetAccount:
    return BudgetAccount(
        spent=_spent(body["spent"]),
        uncertain=body["uncertain"],
        leases={worker_id: _lease(stored) for worker_id, stored in body["leases"].items()},
        expired={worker_id: _lease(stored) for worker_id, stored in body["expired"].items()},
        refusals={run_id: Refusal(*stored) for run_id, stored in body.get("refusals", {}).items()},
    )


def _lease_json(lease: BudgetLease) -> list[Any]:
    return [_spent_json(lease.spent), lease.uncertain, lease.reserved, lease.until]


def _lease(stored: list[Any]) -> BudgetLease:
    spent, uncertain, reserved, until = stored
    return BudgetLease(_spent(spent), uncertain, reserved, until)


def _spent_json(spent: SpentByRole) -> dict[str, int]:
    return {str(role): amount for role, amount in spent.items()}


def _spent(stored: dict[str, int]) -> SpentByRole:
    return {ModelRole(role): amount for role, amount in stored.items()}


class _AccountCodec:
    name = "the budget"
    default = BudgetAccount
    encode = staticmethod(account_to_json)
    decode = staticmethod(account_from_json)


CODEC = _AccountCodec()
