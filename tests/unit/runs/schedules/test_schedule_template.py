"""What EventBridge Scheduler may do, and who may configure it."""

from typing import Any

from cupel_core.store.settings import Settings
from tests.conftest import template
from tests.unit.runs.schedules.conftest import Make, installed_schedule
from tests.unit.test_template import functions, resources, statements

FUNCTION = "function:${AWS::StackName}-schedule"


def role() -> dict[str, Any]:
    found: dict[str, Any] = resources()["ScheduleRole"]["Properties"]
    return found


def test_only_eventbridge_scheduler_of_this_account_takes_the_role() -> None:
    (statement,) = role()["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": "scheduler.amazonaws.com"}
    assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}


def test_the_role_calls_the_function_and_writes_its_dead_letters() -> None:
    (policy,) = role()["Policies"]
    call, give_up = policy["PolicyDocument"]["Statement"]
    assert call["Action"] == "lambda:InvokeFunction"
    assert call["Resource"]["Fn::Sub"].endswith(f":{FUNCTION}")
    assert (give_up["Action"], give_up["Resource"]) == (
        "sqs:SendMessage",
        {"Fn::GetAtt": ["ScheduleDeadLetters", "Arn"]},
    )


def test_the_settings_name_the_function_that_the_role_may_call() -> None:
    variables = template()["Globals"]["Function"]["Environment"]["Variables"]
    assert variables["SCHEDULE_FUNCTION_ARN"]["Fn::Sub"].endswith(f":{FUNCTION}")
    assert variables["SCHEDULE_ROLE_ARN"] == {"Fn::GetAtt": ["ScheduleRole", "Arn"]}


def test_only_schedules_of_this_stack_may_be_changed() -> None:
    granted = [each for _, each in statements() if "scheduler:" in str(each["Action"])]
    assert granted
    assert all(each["Resource"]["Fn::Sub"].endswith(":schedule/${ScheduleGroup}/*") for each in granted)


def test_only_functions_that_create_schedules_pass_the_role_and_only_to_eventbridge_scheduler() -> None:
    granted = {key: each for key, each in statements() if each["Action"] == "iam:PassRole"}
    assert set(granted) == {"ApiFunction", "GraphqlapiFunction", "McpserverFunction"}
    for statement in granted.values():
        assert statement["Resource"] == {"Fn::GetAtt": ["ScheduleRole", "Arn"]}
        assert statement["Condition"] == {"StringEquals": {"iam:PassedToService": "scheduler.amazonaws.com"}}


def test_failed_invocations_go_to_the_same_queue_as_undeliverable_events() -> None:
    target = functions()["schedule"]["DeadLetterQueue"]["TargetArn"]
    assert target == {"Fn::GetAtt": ["ScheduleDeadLetters", "Arn"]}


def test_the_group_of_schedules_is_named_after_the_stack(make: Make, cloud: Settings) -> None:
    assert resources()["ScheduleGroup"]["Properties"]["Name"] == {"Ref": "AWS::StackName"}
    assert installed_schedule(make())["GroupName"] == cloud.stack_name
