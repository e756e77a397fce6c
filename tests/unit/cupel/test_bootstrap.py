"""What the operator of a stack does with AWS credentials alone: the first admin token, and reapplying deletions."""

import json
import subprocess
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest

from cupel.stack import lifecycle
from cupel.stack.address import FirstToken
from cupel_core.base.errors import NotFound
from cupel_core.domain.access import AccessRole, Caller
from cupel_core.runs import erasure, queries
from cupel_core.store import keys
from cupel_core.store.run_items import RunItem
from cupel_core.store.settings import Settings
from cupel_core.workspace.access import tokens
from cupel_core.workspace.sweeping.erasure import erase_due
from tests.answered_runs import AnsweredRun, get_transcript
from tests.started_runs import NOW, ref_of
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
    assert tokens.identify(first["token"], datetime.now(UTC)) == Caller("team", AccessRole.ADMIN, first["tokenId"])


def test_it_prints_what_to_put_into_the_environment(stack: str, cupel: Cupel):
    url, token = cupel("tokens", "bootstrap", "--stack-name", stack).stdout.splitlines()
    assert url == "export CUPEL_API_URL=https://api.example"
    assert token.startswith("export CUPEL_TOKEN=cupel_")


def test_a_shell_reads_an_address_with_a_dollar_sign_as_it_is(monkeypatch: pytest.MonkeyPatch, cupel: Cupel):
    first = FirstToken("http://127.0.0.1:4566/_aws/execute-api/cupel/$default", "tok_1", "cupel_x")
    monkeypatch.setattr(lifecycle, "issue_first_token", lambda *_: first)
    exported = cupel("tokens", "bootstrap").stdout
    read = subprocess.run(["sh", "-c", f"{exported}echo $CUPEL_API_URL"], capture_output=True, text=True, check=True)
    assert read.stdout.strip() == first.api_url


@pytest.mark.usefixtures("cloud")
def test_a_stack_that_is_not_there_is_a_failure(cupel: Cupel):
    answer = cupel("tokens", "bootstrap", "--stack-name", "nope")
    assert answer.exit_code == 1
    assert "nope" in answer.stderr


def test_a_bad_workspace_name_is_wrong_use(stack: str, cupel: Cupel):
    assert cupel("tokens", "bootstrap", "--stack-name", stack, "--workspace", "a#b").exit_code == 2


def restore_table(before: list[dict[str, Any]], cloud: Settings) -> None:
    """The table as it was: what has been written since is gone, erasures included."""
    client = boto3.client("dynamodb")
    for item in client.scan(TableName=cloud.table_name)["Items"]:
        client.delete_item(TableName=cloud.table_name, Key={"pk": item["pk"], "sk": item["sk"]})
    for item in before:
        client.put_item(TableName=cloud.table_name, Item=item)


def test_deletions_are_repeated_after_the_table_was_restored(stack: str, cloud: Settings, cupel: Cupel):
    kept, deleted = AnsweredRun().completed(), AnsweredRun().completed()
    backup = boto3.client("dynamodb").scan(TableName=cloud.table_name)["Items"]
    erasure.delete_probe_content("ws_a", f"{kept.id}-0", NOW)
    erasure.delete_run("ws_a", deleted.id, NOW)
    restore_table(backup, cloud)
    assert get_transcript(kept, 0).messages
    answer = cupel("deletions", "reapply", "--stack-name", stack)
    assert answer.stdout.startswith("reapplied 2 deletions")
    assert [bool(get_transcript(kept, index).messages) for index in (0, 1)] == [False, True]
    with pytest.raises(NotFound):
        queries.get_run("ws_a", deleted.id, NOW)
    erase_due(datetime.now(UTC) + timedelta(minutes=1), lambda: 900.0)
    assert not list(RunItem.query(keys.run(ref_of(deleted))))
