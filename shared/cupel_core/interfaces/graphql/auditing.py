"""Records changes and possible changes by mutations, and mutations that were refused because of the role."""

from collections.abc import Mapping
from typing import Any

from cupel_core.contract.routes import Route
from cupel_core.interfaces.gateway.auditing import Author, record_change
from cupel_core.interfaces.graphql.request import Request


def audit(operation: Route, request: Request, arguments: Mapping[str, Any], outcome: Any) -> None:
    """Record one mutation of a request. `outcome` is the result of the mutation, or the error."""
    if arguments.get("named_run_id") is not None:
        arguments = {**arguments, "run_id": arguments["named_run_id"]}
    record_change(operation, Author(_record_id(request), request.caller, request.now), arguments, outcome)


def _record_id(request: Request) -> str:
    return request.id if request.changes == 1 else f"{request.id}-{request.changes}"
