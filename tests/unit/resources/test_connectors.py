"""Connectors: header values are sent only to the server they were set for."""

import time
from datetime import timedelta

import pytest

from cupel_core import sandbox
from cupel_core.base.errors import Invalid, NotFound
from cupel_core.domain.resources.connectors import Connector, ConnectorFields, ConnectorType
from cupel_core.resources import connectors
from cupel_core.runs import connection_tests
from cupel_core.sandbox import pool
from cupel_core.sandbox.limits import MAX_EXCEEDED
from tests.unit.resources.conftest import HTTP_CONFIG, NOW, connect

LATER = NOW + timedelta(minutes=1)


def test_a_connector_is_read_with_its_headers() -> None:
    connector = connectors.get("acme", connect(Authorization="Bearer x"))
    assert (connector.type, connector.base_url) == (ConnectorType.HTTP, "https://agent.test/v1")
    assert connector.headers == {"Authorization": "Bearer x"}


def test_a_deleted_connector_is_found_only_by_started_runs() -> None:
    connector_id = connect(Authorization="x")
    connectors.delete("acme", connector_id, LATER)
    with pytest.raises(NotFound):
        connectors.get("acme", connector_id)
    found = connectors.find("acme", connector_id)
    assert found is not None
    assert found.headers == {"Authorization": "x"}


def test_an_unknown_connector_is_not_found() -> None:
    assert connectors.find("acme", "con_unknown") is None


def test_a_new_config_replaces_the_old_one() -> None:
    connector_id = connect()
    connectors.update("acme", connector_id, {"config": {**HTTP_CONFIG, "path": "/ask"}}, LATER)
    assert connectors.update("acme", connector_id, {"config": HTTP_CONFIG}, LATER).item.config == HTTP_CONFIG


def test_invalid_config_fields_are_named() -> None:
    connector_id = connect()
    with pytest.raises(Invalid) as refused:
        connectors.update("acme", connector_id, {"config": {**HTTP_CONFIG, "reply": "answer["}}, LATER)
    assert [error.field for error in refused.value.errors] == ["config.reply"]


def test_a_connector_of_another_type_needs_another_config() -> None:
    connector_id = connect()
    with pytest.raises(Invalid, match=r"config\.reply"):
        connectors.update("acme", connector_id, {"type": ConnectorType.LANGGRAPH}, LATER)
    connectors.update("acme", connector_id, {"type": ConnectorType.LANGGRAPH, "config": None}, LATER)
    assert connectors.get("acme", connector_id).config == {}


def test_header_values_do_not_move_to_another_server() -> None:
    connector_id = connect(Authorization="x")
    with pytest.raises(Invalid, match="headers: must be set again"):
        connectors.update("acme", connector_id, {"base_url": "https://elsewhere.test"}, LATER)


@pytest.mark.parametrize("headers", [None, {"Authorization": "y"}])
def test_a_connector_moves_with_new_headers_or_none(headers: dict[str, str] | None) -> None:
    connector_id = connect(Authorization="x")
    fields: ConnectorFields = {"base_url": "https://elsewhere.test", "headers": headers}
    connectors.update("acme", connector_id, fields, LATER)
    assert connectors.get("acme", connector_id).headers == (headers or {})


@pytest.mark.parametrize(
    "change", [{"base_url": "https://agent.test/v2"}, {"type": "http", "config": {**HTTP_CONFIG, "path": "/tenant-2"}}]
)
def test_another_path_needs_the_headers_again(change: ConnectorFields) -> None:
    connector_id = connect(Authorization="x")
    with pytest.raises(Invalid, match="headers: must be set again"):
        connectors.update("acme", connector_id, change, LATER)


def test_the_same_address_in_another_spelling_keeps_the_headers() -> None:
    connector_id = connect(Authorization="x")
    connectors.update("acme", connector_id, {"base_url": "https://AGENT.test/v1/"}, LATER)
    assert connectors.get("acme", connector_id).headers == {"Authorization": "x"}


def test_a_snapshot_of_a_connector_holds_no_values() -> None:
    connector = connectors.get("acme", connect(Authorization="s3cret"))
    told = connector.to_json()
    assert "s3cret" not in str(told)
    assert connectors.with_headers("acme", Connector.from_json(told)) == connector
    assert connectors.with_headers("acme", Connector.from_json(told)).headers == connector.headers


def test_a_connection_test_counts_against_its_own_workspace() -> None:
    connector_id = connect()
    connectors.update("acme", connector_id, {"config": {**HTTP_CONFIG, "request": "join(' ', [missing])"}}, LATER)
    pool.reset_budgets()
    sandbox.use_workspace("hostile")
    for _ in range(MAX_EXCEEDED):
        pool.budget().record_exceeded(time.monotonic())
    error = connection_tests.test_connection("acme", connector_id).error
    pool.reset_budgets()
    assert "the expression `request`" in str(error), "it was computed, and its own error found before any call"
