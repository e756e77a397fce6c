"""The requests that wait, of a workspace or of the whole stack: one item each, changed with optimistic locking."""

from collections.abc import Callable
from typing import Any

from cupel_core.domain.limits.waiting import WaitingRequest, WaitingRequests
from cupel_core.store import keys, versioned_items
from cupel_core.store.versioned_items import Versioned

_SORT_KEY = "waiting"


class _WaitingCodec:
    name = "the list of waiting requests"

    def default(self) -> WaitingRequests:
        return WaitingRequests()

    def encode(self, value: WaitingRequests) -> dict[str, Any]:
        return {"requests": [[each.id, each.owner, each.until] for each in value.requests]}

    def decode(self, body: dict[str, Any]) -> WaitingRequests:
        return WaitingRequests(tuple(WaitingRequest(*each) for each in body["requests"]))


_CODEC = _WaitingCodec()


def change(
    workspace: str | None,
    change_value: Callable[[WaitingRequests], WaitingRequests],
    last: Versioned[WaitingRequests] | None = None,
) -> Versioned[WaitingRequests]:
    """Change those of a workspace, or of the stack if it is None. RetryableError if too many change them at once."""
    partition = keys.workspace_settings(workspace) if workspace is not None else keys.WAITING
    key = {"pk": {"S": partition}, "sk": {"S": _SORT_KEY}}
    return versioned_items.change(key, _CODEC, change_value, last)
