"""Every field that reads something is refused to roles that may not call its operation of the API."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
from graphql import GraphQLResolveInfo
from graphql.pyutils import Path

from cupel_core.base.errors import Forbidden
from cupel_core.domain.access import AccessRole, Caller
from cupel_core.interfaces.graphql.registry import MODULES, find_resolver
from cupel_core.interfaces.graphql.request import Request
from cupel_core.interfaces.graphql.schema import schema
from tests.in_one_test import in_one_test
from tests.started_runs import NOW

READING = [field for field in MODULES if not field.startswith("Mutation.")]
"""Viewers may send no mutation: test_mutations.py sends each."""


class Reached(Exception):
    """The field was read."""


def read(field: str, role: AccessRole) -> None:
    """As a query does. Raises Reached, or Forbidden."""
    parent, _, name = field.partition(".")
    kind = cast(Any, schema().type_map[parent])
    request = Request("request-1", Caller("acme", role, "tok_1"), NOW)
    info = cast(
        GraphQLResolveInfo,
        SimpleNamespace(context=request, parent_type=kind, field_name=name, path=Path(None, name, parent)),
    )
    asyncio.run(kind.fields[name].resolve({}, info))


@in_one_test("role", AccessRole)
@in_one_test("field", READING)
def test_a_field_is_read_by_the_roles_of_its_operation(
    field: str, role: AccessRole, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reach(*_: object, **__: object) -> None:
        raise Reached

    found = find_resolver(field)
    assert found is not None
    resolver = found._replace(function=reach, is_async=False)
    monkeypatch.setattr("cupel_core.interfaces.graphql.schema._resolver_of", lambda *_: (resolver, {}))
    with pytest.raises(Reached if resolver.operation.permits(role) else Forbidden):
        read(field, role)


def test_operators_read_no_content_and_viewers_all_that_is_not_the_result_of_a_mutation() -> None:
    assert not _permits("Query.transcript", AccessRole.OPERATOR)
    refused = {each for each in READING if not _permits(each, AccessRole.VIEWER)}
    # As by REST: only who may start a trial may plan one.
    assert {each for each in refused if not each.startswith("RunStarted.")} == {
        "Query.auditRecords",
        "Query.estimateTrial",
        "Query.servedModels",
        "Query.tokens",
        "Query.webhook",
        "Query.webhookDeliveries",
        "Query.workspace",
        "Query.workspaces",
    }


def _permits(field: str, role: AccessRole) -> bool:
    found = find_resolver(field)
    assert found is not None
    return found.operation.permits(role)
