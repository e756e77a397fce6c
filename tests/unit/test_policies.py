"""The policies of the functions allow the AWS calls that the tests have recorded, and no others."""

import json
import runpy
from pathlib import Path

import pytest

from tests.aws_calls.policies import (
    Permission,
    own_permissions,
    refused,
    shared_permissions,
    shared_policies,
    unused,
)
from tests.aws_calls.recording import HOOK, read, recorded
from tests.unit.test_template import functions, of_type

POLLED = frozenset({"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"})
"""Lambda polls a function's queue with the function's role."""
NOT_RECORDED = {
    "bedrock:InvokeModel": "no test calls Bedrock",
    "bedrock:InvokeModelWithResponseStream": "no test calls Bedrock",
    "iam:PassRole": "EventBridge Scheduler checks it when a schedule is created",
    "kms:Decrypt": "only with a customer managed key",
    "kms:GenerateDataKey": "only with a customer managed key",
    "s3:DeleteObjectVersion": "the bucket is not versioned, unless its owner changes that",
}
RARE = {
    ("api", "sqs:SendMessage", "probe_*"): "redrives dead letters of a crash",
    ("api", "s3:DeleteObject", "uploads"): "an uploaded file, once it was checked",
    ("sweep", "s3:DeleteObject", "openai-files"): "20 minutes after the erasure of a workspace",
    ("sweep", "s3:DeleteObject", "files"): "after the deletion of a file",
    ("sweep", "s3:DeleteObject", "uploads"): "20 minutes after the erasure of a workspace",
    ("api", "s3:DeleteObject", "comparisons"): "deletes a comparison",
    ("dispatch", "sqs:ChangeMessageVisibility", "dispatch"): "after an error",
    ("generate", "sqs:ChangeMessageVisibility", "generate"): "after an error",
    ("notify", "sqs:ChangeMessageVisibility", "notify"): "after an error",
    ("analyze", "sqs:ChangeMessageVisibility", "analyze"): "after an error",
    ("turn", "sqs:ChangeMessageVisibility", "turn"): "after an error",
    (
        "analyze",
        "sqs:SendMessage",
        "dispatch",
    ): "trials of scale runs; no simulated judge revises a prompt",
    ("sweep", "sqs:SendMessage", "turn"): "after the loss of a message",
    ("api", "sqs:SendMessage", "turn"): "turns of chats",
    ("analyze", "s3:DeleteObject", "comparisons"): "a comparison that is deleted while it is computed",
    ("analyze", "s3:ListBucketVersions", "bucket"): "a comparison that is deleted while it is computed",
    ("generate", "sqs:SendMessage", "generate"): "a generation that outlasts an invocation",
    ("schedule", "secretsmanager:GetSecretValue", "cupel"): "schedules of providers with keys",
    ("sweep", "s3:DeleteObject", "runs"): "20 minutes after the deletion of a run",
    ("sweep", "s3:DeleteObject", "scenarios"): "20 minutes after the erasure of a definition",
    ("sweep", "s3:DeleteObject", "generations"): "20 minutes after the erasure of a definition",
    ("sweep", "s3:DeleteObject", "analyses"): "20 minutes after the deletion of a run",
    ("sweep", "s3:DeleteObject", "chats"): "20 minutes after the deletion of a chat",
    ("sweep", "s3:DeleteObject", "comparisons"): "20 minutes after the deletion of a run",
    ("sweep", "sqs:SendMessage", "analyze"): "after the loss of a message",
    ("sweep", "secretsmanager:DeleteSecret", "cupel"): "20 minutes after the erasure of a workspace",
    ("sweep", "scheduler:DeleteSchedule", "schedule"): "an erasure of a workspace that its request did not complete",
    ("sweep", "sqs:SendMessage", "generate"): "after the loss of a message",
    ("sweep", "sqs:GetQueueAttributes", "probe_*-dlq"): "part of the pattern of all probe queues",
    ("sweep", "states:StartExecution", "score"): "after the death of an execution",
    ("sweep", "states:DescribeExecution", "score"): "rescores that are open when it sweeps",
    ("api", "states:StartExecution", "finish"): "analyses of more than 10,000 probes",
    ("api", "states:DescribeExecution", "finish"): "analyses of more than 10,000 probes",
    ("graphqlapi", "sqs:SendMessage", "turn"): "turns of chats",
    ("graphqlapi", "sqs:SendMessage", "probe_*"): "redrives dead letters of a crash",
    ("graphqlapi", "secretsmanager:CreateSecret", "cupel"): "headers and keys, which the tests store over REST",
    ("graphqlapi", "secretsmanager:DeleteSecret", "cupel"): "headers and keys, which the tests store over REST",
    ("graphqlapi", "secretsmanager:PutSecretValue", "cupel"): "headers and keys, which the tests store over REST",
    ("graphqlapi", "scheduler:CreateSchedule", "schedule"): "schedules, which the tests create over REST",
    ("graphqlapi", "scheduler:DeleteSchedule", "schedule"): "schedules, which the tests create over REST",
    ("graphqlapi", "scheduler:UpdateSchedule", "schedule"): "schedules, which the tests create over REST",
    ("graphqlapi", "states:StartExecution", "score"): "rescores, which the tests start over REST",
    ("graphqlapi", "states:StartExecution", "finish"): "analyses of more than 10,000 probes",
    ("graphqlapi", "states:DescribeExecution", "finish"): "analyses of more than 10,000 probes",
    ("mcpserver", "sqs:SendMessage", "probe_*"): "redrives dead letters of a crash",
    ("mcpserver", "sqs:SendMessage", "turn"): "turns of chats",
    ("mcpserver", "s3:DeleteObject", "comparisons"): "deletes a comparison",
    ("mcpserver", "secretsmanager:CreateSecret", "cupel"): "headers of personas, which the tests write over REST",
    ("mcpserver", "secretsmanager:DeleteSecret", "cupel"): "headers of personas, which the tests write over REST",
    ("mcpserver", "secretsmanager:PutSecretValue", "cupel"): "headers of personas, which the tests write over REST",
    ("mcpserver", "scheduler:CreateSchedule", "schedule"): "schedules, which the tests create over REST",
    ("mcpserver", "scheduler:DeleteSchedule", "schedule"): "schedules, which the tests create over REST",
    ("mcpserver", "scheduler:UpdateSchedule", "schedule"): "schedules, which the tests create over REST",
    ("mcpserver", "states:StartExecution", "finish"): "analyses of more than 10,000 probes",
    ("mcpserver", "states:DescribeExecution", "finish"): "analyses of more than 10,000 probes",
    ("DataPolicy", "dynamodb:ConditionCheckItem", "table"): "forks of a definition, whose parent must exist",
    ("DataPolicy", "s3:ListBucket", "bucket"): "without it, a missing object is AccessDenied instead of NoSuchKey",
}
"""Calls that a session of the tests does not make, and when they are made."""


def test_every_recorded_call_is_allowed() -> None:
    calls = refused(recorded())
    assert not calls, "\n".join(calls)


def test_a_call_that_no_policy_allows_is_named() -> None:
    assert refused({"api": {"sqs:PurgeQueue": ["dispatch"], "sqs:SendMessage": ["dispatch"]}}) == [
        "functions/api calls sqs:PurgeQueue on dispatch, which its policies in template.yaml do not allow"
    ]


def test_a_function_that_the_template_does_not_have_may_call_nothing() -> None:
    assert len(refused({"former": {"dynamodb:GetItem": ["table"]}})) == 1


@pytest.mark.parametrize("folder", sorted(functions()))
def test_a_function_makes_every_call_that_its_own_policies_allow(folder: str) -> None:
    granted = [each for each in own_permissions(folder) if not _is_for_polling(folder, each)]
    _check_expected(folder, unused(granted, {folder}))


@pytest.mark.parametrize("key", sorted(of_type("AWS::IAM::ManagedPolicy")))
def test_every_action_of_a_shared_policy_is_used_by_a_function(key: str) -> None:
    users = {each for each in functions() if key in shared_policies(each)}
    _check_expected(key, unused(shared_permissions(key), users))


def test_every_exception_names_a_permission_that_no_recorded_call_needs() -> None:
    unneeded = {
        (owner, each.action, each.resource)
        for owner, users in _owners().items()
        for each in unused(own_permissions(owner) if owner in functions() else shared_permissions(owner), users)
    }
    assert sorted(set(RARE) - unneeded) == []
    assert sorted(set(NOT_RECORDED) - {action for _, action, _ in unneeded}) == []


def test_recorded_calls_have_the_names_of_actions_and_no_generated_names(tmp_path: Path) -> None:
    calls = [
        ("cupel-local-probe", "sqs", "SendMessageBatch", "http://localhost/1/cupel-local-probe_openai-high"),
        ("cupel-local-probe", "s3", "PutObject", "bucket-1a2b/transcripts"),
        ("cupel-local-api", "dynamodb", "Query", "cupel-local-table/index/byToken"),
        ("cupel-local-api", "secretsmanager", "GetSecretValue", "cupel/ws_1/openai"),
    ]
    file = tmp_path / "calls.jsonl"
    file.write_text("".join(json.dumps(call) + "\n" for call in calls))
    assert read(file, "cupel-local") == {
        "api": {"dynamodb:Query": ["index"], "secretsmanager:GetSecretValue": ["cupel"]},
        "probe": {"s3:PutObject": ["transcripts"], "sqs:SendMessage": ["probe_*"]},
    }


def test_writes_of_a_transaction_are_recorded_one_by_one() -> None:
    items = [{"Put": {"TableName": "t"}}, {"ConditionCheck": {"TableName": "t"}}]
    calls = runpy.run_path(str(HOOK / "sitecustomize.py"))["_calls"]
    assert [*calls("TransactWriteItems", {"TransactItems": items})] == [("PutItem", "t"), ("ConditionCheckItem", "t")]


def _owners() -> dict[str, set[str]]:
    """Functions and shared policies, with the functions that have them."""
    policies = of_type("AWS::IAM::ManagedPolicy")
    users = {key: {each for each in functions() if key in shared_policies(each)} for key in policies}
    return {folder: {folder} for folder in functions()} | users


def _check_expected(owner: str, permissions: list[Permission]) -> None:
    unexpected = [
        f"{owner} allows {each.action} on {each.resource}, which no test needed: remove it, or say in RARE who needs it"
        for each in permissions
        if each.action not in NOT_RECORDED and (owner, each.action, each.resource) not in RARE
    ]
    assert not unexpected, "\n".join(unexpected)


def _is_for_polling(folder: str, permission: Permission) -> bool:
    return permission.resource.startswith(folder) and permission.action in POLLED
