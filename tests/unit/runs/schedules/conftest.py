"""A definition that can be run, and the schedules installed in EventBridge."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from cupel_core.definitions import catalog
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.definitions import Labels
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.schedules import Schedule, ScheduleSpec
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.runs.schedules import schedules
from cupel_core.store import clients
from cupel_core.store.settings import Settings
from tests.added_scenarios import add_scenarios

NOW = datetime(2026, 11, 20, 12, 0, 30, tzinfo=UTC)
WORKSPACE = "ws_a"

type Make = Callable[..., Schedule]


@pytest.fixture
def definition_id(cloud: Settings) -> str:
    made = catalog.create(WORKSPACE, Labels(name="dilemma"), {"system": "Be brief."}, NOW)
    add_scenarios(
        WORKSPACE, made.head.id, [Scenario("", f"case {n}", (Message(MessageRole.USER, "?"),)) for n in range(3)]
    )
    return made.head.id


@pytest.fixture
def spec(definition_id: str) -> Callable[..., ScheduleSpec]:
    def made(expression: str = "rate(1 hour)", timezone: str = "UTC", **changes: Any) -> ScheduleSpec:
        run = RunSpec(definition_id, plain_targets("sim/steady"), **changes)
        return ScheduleSpec("nightly", expression, timezone, True, run)

    return made


@pytest.fixture
def make(spec: Callable[..., ScheduleSpec]) -> Make:
    """A schedule of this time and run."""
    return lambda *time, **changes: schedules.create(WORKSPACE, spec(*time, **changes), NOW)


def installed() -> list[str]:
    """The names of the schedules in the stack's group."""
    return [each["Name"] for each in clients.scheduler().list_schedules(GroupName="cupel-test")["Schedules"]]


def installed_schedule(schedule: Schedule) -> Any:
    return clients.scheduler().get_schedule(GroupName="cupel-test", Name=schedule.id)
