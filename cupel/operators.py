"""Carries out actions of the operator of a stack on AWS directly in its resources, with their own AWS credentials.

An operator issues the first admin token, repeats deletions after a restore, and deletes a stack, on request with its
data. The deletion is a command rather than a custom resource of the template: it needs no function with the right to
delete everything, says what it is going to delete, and can be repeated after a failure.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any, NamedTuple

import boto3
from botocore.exceptions import BotoCoreError, ClientError, WaiterError

from cupel.aws_problems import aws_problem
from cupel.counts import count_of
from cupel.environment import set_variables
from cupel.errors import CupelError, UsageError
from cupel.stack.address import FirstToken
from cupel_core.base.errors import Invalid
from cupel_core.domain.access import AccessRole
from cupel_core.store.settings import Settings

_ABSENT = ("ResourceNotFoundException", "NoSuchBucket", "404")
_BATCH = 1000
"""S3 deletes so many versions in one request."""
Report = Callable[[str], None]


class StackData(NamedTuple):
    table: str
    bucket: str
    secrets: tuple[str, ...]
    other_users: tuple[str, ...] = ()
    deleted_with_stack: bool = False
    """True if CloudFormation deletes the table and the bucket with the stack, as far as they are its own."""


def find_data(stack_name: str) -> StackData:
    """Return the data of a stack: its table, bucket and secrets. Raises CupelError if there is no such stack."""
    try:
        stack = boto3.client("cloudformation").describe_stacks(StackName=stack_name)["Stacks"][0]
        outputs = outputs_of(stack)
        table, bucket = outputs["TableName"], outputs["BucketName"]
        other_users = tuple(_other_users(stack, {table, bucket}))
        return StackData(table, bucket, tuple(_secrets(stack_name)), other_users, _loses_data(stack))
    except KeyError as error:
        raise CupelError(f"{stack_name} is not a stack of Cupel: it has no output {error}") from error
    except (BotoCoreError, ClientError) as error:
        raise CupelError(aws_problem(error)) from error


def check_sharing(stack_name: str, data: StackData, *, delete_data: bool) -> None:
    """Raise CupelError if another stack would lose the table and the bucket that it uses."""
    if data.other_users and (delete_data or data.deleted_with_stack):
        users = f"{', '.join(data.other_users)} also uses table {data.table} and bucket {data.bucket}"
        if data.deleted_with_stack:
            raise CupelError(f"{users}: deploy {stack_name} with DataDeletionPolicy=Retain first")
        raise CupelError(f"{users}: leave out --delete-data")


def delete_stack(stack_name: str, data: StackData | None, report: Report) -> None:
    """Delete the stack, then its data if given. This may be repeated until the stack is deleted."""
    try:
        if data:
            # CloudFormation cannot delete a bucket with objects, nor a protected table.
            _empty(data.bucket, report)
            _unprotect(data.table)
        _delete_and_wait(stack_name, report)
    except (BotoCoreError, ClientError) as error:
        raise CupelError(f"{aws_problem(error)}; the command may be repeated") from error
    if data:
        try:
            _delete_data(data, report)
        except (BotoCoreError, ClientError, CupelError) as error:
            raise CupelError(_left(stack_name, data, error)) from error


def _left(stack_name: str, data: StackData, error: Exception) -> str:
    """List the remaining data: without the stack, its data is unknown, and the command cannot be repeated."""
    return (
        f"the stack is deleted, but not all of its data: {error}; delete what is left yourself: bucket {data.bucket}, "
        f"table {data.table}, {count_of(len(data.secrets), 'secret')} named {stack_name}/…"
    )


def _delete_and_wait(stack_name: str, report: Report) -> None:
    cloudformation = boto3.client("cloudformation")
    cloudformation.delete_stack(StackName=stack_name)
    try:
        cloudformation.get_waiter("stack_delete_complete").wait(StackName=stack_name)
    except WaiterError as error:
        raise CupelError(f"the stack was not deleted: {error}; see its events, then repeat the command") from error
    report(f"deleted stack {stack_name}")


def _delete_data(data: StackData, report: Report) -> None:
    _empty(data.bucket, report)  # Functions may have written until they were deleted.
    if _succeeds(lambda: boto3.client("s3").delete_bucket(Bucket=data.bucket)):
        report(f"deleted bucket {data.bucket}")
    if _succeeds(lambda: boto3.client("dynamodb").delete_table(TableName=data.table)):
        report(f"deleted table {data.table}")
    for secret in data.secrets:
        boto3.client("secretsmanager").delete_secret(SecretId=secret, ForceDeleteWithoutRecovery=True)
    report(f"deleted {count_of(len(data.secrets), 'secret')}")


def _empty(bucket: str, report: Report) -> None:
    client, deleted = boto3.client("s3"), 0
    try:
        for page in client.get_paginator("list_object_versions").paginate(
            Bucket=bucket, PaginationConfig={"PageSize": _BATCH}
        ):
            listed = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
            if not listed:
                continue
            reply = client.delete_objects(
                Bucket=bucket,
                Delete={
                    "Objects": [{"Key": each["Key"], "VersionId": each["VersionId"]} for each in listed],
                    "Quiet": True,
                },
            )
            errors = reply.get("Errors")
            if errors:
                raise CupelError(f"objects of {bucket} could not be deleted: {errors[0].get('Message')}")
            deleted += len(listed)
    except ClientError as error:
        _ignore_absent(error)
    if deleted:
        report(f"deleted {deleted:,} objects of {bucket}")


def _unprotect(table: str) -> None:
    client = boto3.client("dynamodb")
    try:
        if client.describe_table(TableName=table)["Table"].get("DeletionProtectionEnabled"):
            client.update_table(TableName=table, DeletionProtectionEnabled=False)
            client.get_waiter("table_exists").wait(TableName=table)
    except ClientError as error:
        _ignore_absent(error)


def _other_users(stack: Mapping[str, Any], data: set[str]) -> Iterator[str]:
    for page in boto3.client("cloudformation").get_paginator("describe_stacks").paginate():
        for each in page["Stacks"]:
            if each["StackId"] != stack["StackId"] and data & set(outputs_of(each).values()):
                yield each["StackName"]


def _loses_data(stack: Mapping[str, Any]) -> bool:
    parameters = {each["ParameterKey"]: each["ParameterValue"] for each in stack.get("Parameters", [])}
    return parameters.get("DataDeletionPolicy") == "Delete" and not parameters.get("TableName")


def _secrets(stack_name: str) -> Iterator[str]:
    paginator = boto3.client("secretsmanager").get_paginator("list_secrets")
    for page in paginator.paginate(Filters=[{"Key": "name", "Values": [f"{stack_name}/"]}]):
        # The filter also ignores case.
        yield from (each["Name"] for each in page["SecretList"] if each["Name"].startswith(f"{stack_name}/"))


def _succeeds(delete: Callable[[], object]) -> bool:
    try:
        delete()
    except ClientError as error:
        _ignore_absent(error)
        return False
    return True


def _ignore_absent(error: ClientError) -> None:
    if error.response["Error"]["Code"] not in _ABSENT:
        raise error


def issue_first_token(
    stack_name: str, workspace: str, name: str, now: datetime, role: AccessRole = AccessRole.ADMIN
) -> FirstToken:
    """Issue the first token.

    This requires `cloudformation:DescribeStacks`, and `dynamodb:PutItem` on the stack's table.
    """
    from cupel_core.workspace.access import tokens  # It reads the environment that was set above.

    try:
        outputs = stack_outputs(stack_name)
        set_variables(_settings(stack_name, outputs))
        issued = tokens.issue(workspace, role, name, now)
    except Invalid as error:
        raise UsageError(error.detail) from error
    except (BotoCoreError, ClientError) as error:
        raise CupelError(aws_problem(error)) from error
    return FirstToken(outputs["ApiUrl"], issued.token_id, issued.secret)


def reapply_deletions(stack_name: str, now: datetime) -> int:
    """Repeat the deletions that the stack's bucket has on record, and return their number.

    This requires `cloudformation:DescribeStacks`, reading and writing the stack's table, reading, listing and deleting
    objects of its bucket, and for workspaces `scheduler:DeleteSchedule`.
    """
    from cupel_core.runs import workspace_erasure  # It reads the environment that was set above.

    try:
        set_variables(_settings(stack_name, stack_outputs(stack_name)))
        return workspace_erasure.reapply_deletions(now)
    except (BotoCoreError, ClientError) as error:
        raise CupelError(aws_problem(error)) from error


def stack_outputs(stack_name: str) -> dict[str, str]:
    return outputs_of(boto3.client("cloudformation").describe_stacks(StackName=stack_name)["Stacks"][0])


def outputs_of(stack: Mapping[str, Any]) -> dict[str, str]:
    return {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])}


def _settings(stack_name: str, outputs: dict[str, str]) -> dict[str, str]:
    known = {each.name.upper() for each in fields(Settings)}
    named = {re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).upper(): value for key, value in outputs.items()}
    return {"STACK_NAME": stack_name, **{name: value for name, value in named.items() if name in known}}
