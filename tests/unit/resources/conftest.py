"""Definitions with scenarios, and the resources that evals refer to, in moto's table."""

from datetime import UTC, datetime

import pytest

from cupel_core.definitions import catalog
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.resources.connectors import ConnectorType
from cupel_core.resources import connectors
from cupel_core.store import scenarios
from cupel_core.store.settings import Settings
from tests.added_scenarios import add_scenarios, current_manifest

HTTP_CONFIG = {"request": "{question: message}", "reply": "answer"}
NOW = datetime(2026, 11, 20, tzinfo=UTC)


@pytest.fixture(autouse=True)
def stack(cloud: Settings) -> None:
    """Every test has a stack."""


def define(count: int = 3, workspace: str = "acme") -> str:
    """A definition with so many scenarios."""
    made = catalog.create(workspace, Labels("facts"), {"system": "Be brief."}, NOW)
    said = Message(MessageRole.USER, "?")
    add_scenarios(workspace, made.head.id, (Scenario("", "", (said,)) for _ in range(count)))
    return made.head.id


def scenario_ids(definition_id: str) -> list[str]:
    manifest = current_manifest("acme", definition_id)
    return [scenarios.get_scenario(manifest, position).id for position in range(manifest.total)]


def connect(name: str = "agent", **headers: str) -> str:
    """The id of a new connector."""
    made = connectors.create(
        "acme",
        {
            "name": name,
            "type": ConnectorType.HTTP,
            "base_url": "https://agent.test/v1",
            "headers": headers,
            "config": HTTP_CONFIG,
        },
        NOW,
    )
    return made.item.id
