"""`cupel tokens bootstrap`: the first admin token of a stack, with AWS credentials alone."""

import json

import boto3
import pytest

from cupel_core.access import tokens
from cupel_core.domain.access import AccessRole, Caller
from cupel_core.settings import Settings
from tests.unit.cupel.fake_api import Cupel

STACK = {
    "Resources": {"Queue": {"Type": "AWS::SQS::Queue"}},
    "Outputs": {
        name: {"Value": value}
        for name, value in {
            "ApiUrl": "https://api.example",
            "TableName": "cupel-test",
            "BucketName": "cupel-test",
            "DispatchQueueUrl": "https://queue.example/cupel-test-dispatch",
            "GenerateQueueUrl": "https://queue.example/cupel-test-generate",
        }.items()
    },
}


@pytest.fixture
def stack(cloud: Settings) -> str:
    boto3.client("cloudformation").create_stack(StackName=cloud.stack_name, TemplateBody=json.dumps(STACK))
    return cloud.stack_name


def test_the_token_opens_the_workspace_as_admin(stack: str, cupel: Cupel):
    answer = cupel("tokens", "bootstrap", "--stack-name", stack, "--workspace", "team", "--json")
    first = json.loads(answer.stdout)
    assert first["apiUrl"] == "https://api.example"
    assert tokens.identify(first["token"]) == Caller("team", AccessRole.ADMIN, first["tokenId"])


def test_it_prints_what_to_put_into_the_environment(stack: str, cupel: Cupel):
    url, token = cupel("tokens", "bootstrap", "--stack-name", stack).stdout.splitlines()
    assert url == "export CUPEL_API_URL=https://api.example"
    assert token.startswith("export CUPEL_TOKEN=cupel_")


@pytest.mark.usefixtures("cloud")
def test_a_stack_that_is_not_there_is_a_failure(cupel: Cupel):
    answer = cupel("tokens", "bootstrap", "--stack-name", "nope")
    assert answer.exit_code == 1
    assert "nope" in answer.stderr


def test_a_bad_workspace_name_is_wrong_use(stack: str, cupel: Cupel):
    assert cupel("tokens", "bootstrap", "--stack-name", stack, "--workspace", "a#b").exit_code == 2
