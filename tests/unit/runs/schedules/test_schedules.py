"""Creating, updating and deleting schedules: the table is written first, EventBridge follows."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from cupel_core.base.errors import Conflict, Invalid, NotFound, RetryableError
from cupel_core.domain.conversations.conversation import Criteria
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.schedules import Schedule, ScheduleChanges, ScheduleSpec, ScheduleStatus
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.runs.schedules import schedules
from cupel_core.store import scheduler
from cupel_core.store import schedules as stored
from cupel_core.store.settings import Settings
from tests.added_scenarios import add_scenarios
from tests.unit.runs.schedules.conftest import NOW, WORKSPACE, Make, installed, installed_schedule

LATER = NOW + timedelta(minutes=5)


def fails(*_: object) -> None:
    raise RetryableError("EventBridge is away")


@pytest.fixture
def unreachable() -> Iterator[Callable[[], None]]:
    """EventBridge is unavailable until this is called."""
    context = pytest.MonkeyPatch()
    context.setattr(scheduler, "install", fails)
    yield context.undo
    context.undo()


def test_a_schedule_is_stored_and_installed(make: Make) -> None:
    schedule = make("cron(0 9 ? * MON-FRI *)", "Europe/Berlin")
    told = installed_schedule(schedule)
    assert (told["ScheduleExpression"], told["ScheduleExpressionTimezone"]) == (
        "cron(0 9 ? * MON-FRI *)",
        "Europe/Berlin",
    )
    assert (told["State"], told["ActionAfterCompletion"]) == ("ENABLED", "NONE")
    assert stored.get(WORKSPACE, schedule.id) == schedule
    assert schedule.status(NOW) is ScheduleStatus.ENABLED


def test_eventbridge_calls_the_function_of_the_stack_with_the_scheduled_time(make: Make, cloud: Settings) -> None:
    schedule = make()
    target = installed_schedule(schedule)["Target"]
    assert (target["Arn"], target["RoleArn"]) == (cloud.schedule_function_arn, cloud.schedule_role_arn)
    assert target["DeadLetterConfig"] == {"Arn": cloud.schedule_dead_letters_arn}
    assert json.loads(target["Input"]) == {
        "workspace": WORKSPACE,
        "scheduleId": schedule.id,
        "scheduledTime": "<aws.scheduler.scheduled-time>",
    }


def test_a_firing_is_given_up_before_its_key_expires(make: Make) -> None:
    assert installed_schedule(make())["Target"]["RetryPolicy"]["MaximumEventAgeInSeconds"] < 24 * 3600


def test_a_single_time_removes_itself_from_eventbridge(make: Make) -> None:
    told = installed_schedule(make("at(2026-11-21T09:00:00)", "Asia/Tokyo"))
    assert (told["ScheduleExpression"], told["ActionAfterCompletion"]) == ("at(2026-11-21T00:00:00)", "DELETE")


def test_a_time_that_is_over_is_refused(make: Make) -> None:
    with pytest.raises(Invalid, match="expression: is in the past"):
        make("at(2026-11-20T12:00:00)")


def test_an_invalid_run_is_refused_by_its_field(spec: Callable[..., ScheduleSpec]) -> None:
    run = replace(spec().run, targets=plain_targets("sim/steady", "openai/gpt-5-mini"))
    with pytest.raises(Invalid) as refused:
        schedules.create(WORKSPACE, replace(spec(), run=run), NOW)
    assert [error.field for error in refused.value.errors] == ["run.models.1"]


def test_a_run_with_criteria_and_no_judge_is_refused(spec: Callable[..., ScheduleSpec], definition_id: str) -> None:
    judged = Scenario("", "judged", (Message(MessageRole.USER, "?"),), criteria=Criteria("is polite"))
    add_scenarios(WORKSPACE, definition_id, [judged])
    with pytest.raises(Invalid) as refused:
        schedules.create(WORKSPACE, spec(), NOW)
    assert [error.field for error in refused.value.errors] == ["run.config.judgeModel"]


def test_a_run_of_an_unknown_definition_is_refused(spec: Callable[..., ScheduleSpec]) -> None:
    with pytest.raises(Invalid) as refused:
        schedules.create(WORKSPACE, replace(spec(), run=RunSpec("def_none", plain_targets("sim/steady"))), NOW)
    assert [error.field for error in refused.value.errors] == ["run.definitionId"]


def test_a_schedule_that_eventbridge_refuses_is_not_stored(
    spec: Callable[..., ScheduleSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(_: Schedule) -> None:
        raise Invalid.field("expression", "no")

    monkeypatch.setattr(scheduler, "install", refuses)
    with pytest.raises(Invalid):
        schedules.create(WORKSPACE, spec(), NOW)
    assert schedules.list_schedules(WORKSPACE, 10, None, NOW).items == ()


def test_a_schedule_that_is_not_installed_is_pending(
    spec: Callable[..., ScheduleSpec], unreachable: Callable[[], None]
) -> None:
    with pytest.raises(RetryableError):
        schedules.create(WORKSPACE, spec(), NOW)
    (pending,) = schedules.list_schedules(WORKSPACE, 10, None, NOW).items
    assert pending.status(NOW) is ScheduleStatus.PENDING


def test_the_next_read_installs_it(spec: Callable[..., ScheduleSpec], unreachable: Callable[[], None]) -> None:
    with pytest.raises(RetryableError):
        schedules.create(WORKSPACE, spec(), NOW)
    unreachable()
    (seen,) = schedules.list_schedules(WORKSPACE, 10, None, NOW).items
    assert seen.status(NOW) is ScheduleStatus.ENABLED
    assert installed() == [seen.id]


def test_a_single_time_that_has_passed_is_not_installed(
    spec: Callable[..., ScheduleSpec], unreachable: Callable[[], None]
) -> None:
    with pytest.raises(RetryableError):
        schedules.create(WORKSPACE, spec("at(2026-11-20T12:03:00)"), NOW)
    unreachable()
    (seen,) = schedules.list_schedules(WORKSPACE, 10, None, LATER).items
    assert (seen.status(LATER), installed()) == (ScheduleStatus.ENDED, [])


def test_disabling_updates_eventbridge(make: Make) -> None:
    schedule = make()
    disabled = schedules.update(WORKSPACE, schedule.id, ScheduleChanges(enabled=False), LATER)
    assert (disabled.status(LATER), installed_schedule(schedule)["State"]) == (ScheduleStatus.DISABLED, "DISABLED")


def test_a_schedule_is_enabled_again(make: Make) -> None:
    schedule = make()
    schedules.update(WORKSPACE, schedule.id, ScheduleChanges(enabled=False), LATER)
    schedules.update(WORKSPACE, schedule.id, ScheduleChanges(enabled=True), LATER)
    assert installed_schedule(schedule)["State"] == "ENABLED"


def test_a_change_that_is_not_installed_is_installed_by_the_next_read(make: Make) -> None:
    schedule = make()
    stored.update(replace(stored.get(WORKSPACE, schedule.id), enabled=False, installed=False))
    assert schedules.get(WORKSPACE, schedule.id, LATER).installed
    assert installed_schedule(schedule)["State"] == "DISABLED"


def test_a_schedule_whose_time_is_over_cannot_be_changed(make: Make) -> None:
    schedule = make("at(2026-11-20T12:03:00)")
    with pytest.raises(Conflict):
        schedules.update(WORKSPACE, schedule.id, ScheduleChanges(enabled=False), LATER)


def test_eventbridge_has_the_last_change(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = make()
    put = scheduler.install

    def overtaken(told: Schedule) -> None:
        monkeypatch.setattr(scheduler, "install", put)
        schedules.update(WORKSPACE, schedule.id, ScheduleChanges(enabled=True), LATER)
        put(told)

    monkeypatch.setattr(scheduler, "install", overtaken)
    ended = schedules.update(WORKSPACE, schedule.id, ScheduleChanges(enabled=False), LATER)
    assert (ended.enabled, installed_schedule(schedule)["State"]) == (True, "ENABLED")


def test_a_deleted_schedule_is_gone(make: Make) -> None:
    schedule = make()
    schedules.delete(WORKSPACE, schedule.id, LATER)
    assert (installed(), schedules.list_schedules(WORKSPACE, 10, None, LATER).items) == ([], ())
    with pytest.raises(NotFound):
        schedules.get(WORKSPACE, schedule.id, LATER)


def test_deleting_again_completes_an_interrupted_deletion(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = make()
    with monkeypatch.context() as context:
        context.setattr(scheduler, "remove", fails)
        with pytest.raises(RetryableError):
            schedules.delete(WORKSPACE, schedule.id, LATER)
    schedules.delete(WORKSPACE, schedule.id, LATER)
    assert installed() == []


def test_a_schedule_deleted_during_a_change_stays_deleted(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = make()
    put = scheduler.install

    def overtaken(told: Schedule) -> None:
        schedules.delete(WORKSPACE, schedule.id, LATER)
        put(told)

    monkeypatch.setattr(scheduler, "install", overtaken)
    with pytest.raises(NotFound):
        schedules.update(WORKSPACE, schedule.id, ScheduleChanges(enabled=True), LATER)
    assert installed() == []


def test_another_workspace_neither_sees_nor_deletes_it(make: Make) -> None:
    schedule = make()
    for act in (lambda: schedules.get("ws_b", schedule.id, NOW), lambda: schedules.delete("ws_b", schedule.id, NOW)):
        with pytest.raises(NotFound):
            act()
    assert schedules.list_schedules("ws_b", 10, None, NOW).items == ()
    assert installed() == [schedule.id]


def test_schedules_are_listed_newest_first_and_by_pages(spec: Callable[..., ScheduleSpec]) -> None:
    made = [schedules.create(WORKSPACE, spec(), NOW + timedelta(seconds=n)).id for n in range(3)]
    first = schedules.list_schedules(WORKSPACE, 2, None, NOW)
    second = schedules.list_schedules(WORKSPACE, 2, first.next_cursor, NOW)
    assert [each.id for each in (*first.items, *second.items)] == made[::-1]
    assert second.next_cursor is None
