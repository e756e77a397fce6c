"""Deletion through the API of a stack: of a conversation, with its objects in all versions, and of a run."""

from collections.abc import Callable
from typing import Any

import pytest

from cupel.client import Client
from cupel.errors import ApiProblem
from tests.eval_api import create_definition, evaluate


def bucket_of(aws: Callable[[str], Any]) -> str:
    [stack] = aws("cloudformation").describe_stacks(StackName="cupel")["Stacks"]
    return next(str(each["OutputValue"]) for each in stack["Outputs"] if each["OutputKey"] == "BucketName")


def test_a_deleted_conversation_is_gone_and_its_result_stays(api: Client, aws: Callable[[str], Any]) -> None:
    run = evaluate(api, create_definition(api, 2), "sim/steady")
    bucket = bucket_of(aws)
    key = f"transcripts/default/{run['id']}/0000000-left-by-a-crash.json.gz"
    aws("s3").put_object(Bucket=bucket, Key=key, Body=b"what was said")
    before = api.get_transcript(f"{run['id']}-0")
    api.delete_probe_content(f"{run['id']}-0")
    after = api.get_transcript(f"{run['id']}-0")
    assert (after["content"], after["decisionText"]) == (None, "")
    assert (after["decisionCode"], after["usage"]) == (before["decisionCode"], before["usage"])
    assert aws("s3").list_objects_v2(Bucket=bucket, Prefix=key)["KeyCount"] == 0


def test_a_deleted_run_is_not_found(api: Client) -> None:
    run = evaluate(api, create_definition(api, 1), "sim/steady")
    api.delete_run(run["id"])
    with pytest.raises(ApiProblem) as error:
        api.get_transcript(f"{run['id']}-0")
    assert error.value.status == 404
