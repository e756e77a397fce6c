"""`cupel teardown`, with CloudFormation, S3, DynamoDB and Secrets Manager in moto."""

import json
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from cupel import teardown
from tests.unit.cupel.fake_api import Cupel

NAME = "cupel-test"


def template(policy: str) -> dict[str, Any]:
    table = {
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
        "TableName": "data-table",
        "DeletionProtectionEnabled": policy == "Retain",
    }
    bucket = {"BucketName": "data-bucket", "VersioningConfiguration": {"Status": "Enabled"}}
    return {
        "Resources": {
            "Table": {"Type": "AWS::DynamoDB::Table", "DeletionPolicy": policy, "Properties": table},
            "Bucket": {"Type": "AWS::S3::Bucket", "DeletionPolicy": policy, "Properties": bucket},
        },
        "Outputs": {"TableName": {"Value": {"Ref": "Table"}}, "BucketName": {"Value": {"Ref": "Bucket"}}},
    }


@pytest.fixture(params=["Retain", "Delete"])
def stack(request: pytest.FixtureRequest):
    """A stack with a versioned, non-empty bucket, a secret, and another stack's secret."""
    with mock_aws():
        boto3.client("cloudformation").create_stack(StackName=NAME, TemplateBody=json.dumps(template(request.param)))
        s3 = boto3.client("s3")
        for body in (b"one", b"two"):
            s3.put_object(Bucket="data-bucket", Key="runs/a", Body=body)
        s3.delete_object(Bucket="data-bucket", Key="runs/a")
        for name in (f"{NAME}/acme/openai", f"{NAME}-2/acme/openai"):
            boto3.client("secretsmanager").create_secret(Name=name, SecretString="key")
        yield request.param


def existing() -> dict[str, list[str]]:
    return {
        "stacks": [each["StackName"] for each in boto3.client("cloudformation").describe_stacks()["Stacks"]],
        "tables": boto3.client("dynamodb").list_tables()["TableNames"],
        "buckets": [each["Name"] for each in boto3.client("s3").list_buckets()["Buckets"]],
        "secrets": [each["Name"] for each in boto3.client("secretsmanager").list_secrets()["SecretList"]],
    }


@pytest.mark.usefixtures("stack")
def test_a_stack_is_deleted_with_all_of_its_data_and_no_other(cupel: Cupel):
    answer = cupel("teardown", "--stack-name", NAME, "--delete-data", "--yes")
    assert answer.exit_code == 0, answer.stderr
    assert existing() == {"stacks": [], "tables": [], "buckets": [], "secrets": [f"{NAME}-2/acme/openai"]}


@pytest.mark.parametrize("stack", ["Retain"], indirect=True)
@pytest.mark.usefixtures("stack")
def test_data_is_kept_unless_its_deletion_is_requested(cupel: Cupel):
    assert cupel("teardown", "--stack-name", NAME, "--yes").exit_code == 0
    secrets = [f"{NAME}/acme/openai", f"{NAME}-2/acme/openai"]
    assert existing() == {"stacks": [], "tables": ["data-table"], "buckets": ["data-bucket"], "secrets": secrets}


@pytest.mark.parametrize("stack", ["Retain"], indirect=True)
@pytest.mark.usefixtures("stack")
def test_data_that_is_left_without_a_stack_is_named(cupel: Cupel, monkeypatch: pytest.MonkeyPatch):
    def refuse(_: object) -> bool:
        raise ClientError({"Error": {"Code": "BucketNotEmpty", "Message": "not empty"}}, "DeleteBucket")

    monkeypatch.setattr(teardown, "_succeeds", refuse)
    answer = cupel("teardown", "--stack-name", NAME, "--delete-data", "--yes")
    assert (answer.exit_code, "may be repeated" in answer.stderr) == (1, False)
    assert f"bucket data-bucket, table data-table, 1 secret named {NAME}/" in answer.stderr


@pytest.mark.parametrize("stack", ["Retain"], indirect=True)
@pytest.mark.usefixtures("stack")
def test_nothing_is_deleted_unless_the_name_is_confirmed(cupel: Cupel):
    before = existing()
    assert cupel("teardown", "--stack-name", NAME, "--delete-data", stdin="no\n").exit_code == 1
    assert existing() == before


@pytest.mark.usefixtures("cloud")
def test_a_stack_of_something_else_is_refused(cupel: Cupel):
    body = json.dumps({"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}})
    boto3.client("cloudformation").create_stack(StackName="other", TemplateBody=body)
    answer = cupel("teardown", "--stack-name", "other", "--yes")
    assert (answer.exit_code, "not a stack of Cupel" in answer.stderr) == (1, True)
