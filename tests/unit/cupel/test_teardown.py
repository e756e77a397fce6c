"""`cupel teardown`, with CloudFormation, S3, DynamoDB and Secrets Manager in moto."""

import json
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from cupel import operators
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
        "Parameters": {"DataDeletionPolicy": {"Type": "String", "Default": policy}},
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


def adopt_data(name: str) -> None:
    """Create a stack that uses the table and the bucket of the first one."""
    parameters = {"TableName": "data-table", "BucketName": "data-bucket"}
    body = {
        "Parameters": {key: {"Type": "String", "Default": value} for key, value in parameters.items()},
        "Resources": {"Queue": {"Type": "AWS::SQS::Queue"}},
        "Outputs": {key: {"Value": {"Ref": key}} for key in parameters},
    }
    boto3.client("cloudformation").create_stack(StackName=name, TemplateBody=json.dumps(body))


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

    monkeypatch.setattr(operators, "_succeeds", refuse)
    answer = cupel("teardown", "--stack-name", NAME, "--delete-data", "--yes")
    assert (answer.exit_code, "may be repeated" in answer.stderr) == (1, False)
    assert f"bucket data-bucket, table data-table, 1 secret named {NAME}/" in answer.stderr


@pytest.mark.parametrize("stack", ["Retain"], indirect=True)
@pytest.mark.usefixtures("stack")
def test_nothing_is_deleted_unless_the_name_is_confirmed(cupel: Cupel):
    before = existing()
    assert cupel("teardown", "--stack-name", NAME, "--delete-data", stdin="no\n").exit_code == 1
    assert existing() == before


@pytest.mark.parametrize("stack", ["Retain"], indirect=True)
@pytest.mark.usefixtures("stack")
@pytest.mark.parametrize("deleted", [NAME, "cupel-adopting"])
def test_data_that_another_stack_uses_is_not_deleted(cupel: Cupel, deleted: str):
    adopt_data("cupel-adopting")
    before = existing()
    answer = cupel("teardown", "--stack-name", deleted, "--delete-data", "--yes")
    other = ({NAME, "cupel-adopting"} - {deleted}).pop()
    assert f"{other} also uses table data-table and bucket data-bucket" in answer.stderr
    assert (answer.exit_code, existing()) == (1, before)


@pytest.mark.parametrize(("stack", "exit_code"), [("Retain", 0), ("Delete", 1)], indirect=["stack"])
@pytest.mark.usefixtures("stack")
def test_a_stack_whose_data_another_one_uses_is_deleted_only_if_it_retains_it(cupel: Cupel, exit_code: int):
    adopt_data("cupel-adopting")
    assert cupel("teardown", "--stack-name", NAME, "--yes").exit_code == exit_code
    left = existing()
    assert (left["tables"], left["buckets"]) == (["data-table"], ["data-bucket"])


@pytest.mark.parametrize("stack", ["Retain"], indirect=True)
@pytest.mark.usefixtures("stack")
def test_a_stack_that_uses_the_data_of_another_one_is_deleted_without_it(cupel: Cupel):
    adopt_data("cupel-adopting")
    assert cupel("teardown", "--stack-name", "cupel-adopting", "--yes").exit_code == 0
    left = existing()
    assert (left["stacks"], left["tables"], left["buckets"]) == ([NAME], ["data-table"], ["data-bucket"])


@pytest.mark.usefixtures("cloud")
def test_a_stack_of_something_else_is_refused(cupel: Cupel):
    body = json.dumps({"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}})
    boto3.client("cloudformation").create_stack(StackName="other", TemplateBody=body)
    answer = cupel("teardown", "--stack-name", "other", "--yes")
    assert (answer.exit_code, "not a stack of Cupel" in answer.stderr) == (1, True)
