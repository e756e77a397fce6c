"""What only the operator of a stack on AWS does, directly in its table and bucket, with their own AWS credentials.

The first admin token, and the repetition of deletions after a restore.
"""

import re
from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from cupel.environment import set_variables
from cupel.errors import CupelError, UsageError
from cupel.stack.address import FirstToken
from cupel_core.base.errors import Invalid
from cupel_core.domain.access import AccessRole
from cupel_core.store.settings import Settings


def issue_first_token(
    stack_name: str, workspace: str, name: str, now: datetime, role: AccessRole = AccessRole.ADMIN
) -> FirstToken:
    """Requires `cloudformation:DescribeStacks`, and `dynamodb:PutItem` on the stack's table."""
    from cupel_core.workspace.access import tokens  # after the environment is set

    try:
        outputs = stack_outputs(stack_name)
        set_variables(_settings(stack_name, outputs))
        issued = tokens.issue(workspace, role, name, now)
    except Invalid as error:
        raise UsageError(error.detail) from error
    except (BotoCoreError, ClientError) as error:
        raise CupelError(f"the AWS request failed: {error}") from error
    return FirstToken(outputs["ApiUrl"], issued.token_id, issued.secret)


def reapply_deletions(stack_name: str, now: datetime) -> int:
    """Repeat the deletions that the stack's bucket has on record; returns how many.

    Requires `cloudformation:DescribeStacks`, reading and writing the stack's table, reading, listing and deleting
    objects of its bucket, and for workspaces `scheduler:DeleteSchedule`.
    """
    from cupel_core.runs import restored_deletions  # after the environment is set

    try:
        set_variables(_settings(stack_name, stack_outputs(stack_name)))
        return restored_deletions.reapply_deletions(now)
    except (BotoCoreError, ClientError) as error:
        raise CupelError(f"the AWS request failed: {error}") from error


def stack_outputs(stack_name: str) -> dict[str, str]:
    return outputs_of(boto3.client("cloudformation").describe_stacks(StackName=stack_name)["Stacks"][0])


def outputs_of(stack: Mapping[str, Any]) -> dict[str, str]:
    return {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])}


def _settings(stack_name: str, outputs: dict[str, str]) -> dict[str, str]:
    """Settings from the stack's outputs, which have the same names: `TableName` becomes `TABLE_NAME`."""
    known = {each.name.upper() for each in fields(Settings)}
    named = {re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).upper(): value for key, value in outputs.items()}
    return {"STACK_NAME": stack_name, **{name: value for name, value in named.items() if name in known}}
