"""The signatures of botocore are the reference: what it signs is valid, and any other request is not."""

import base64
import string
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from cupel.stack.access.signatures import AccessKey, sign
from tests.in_one_test import in_one_test
from tests.unit.cupel.stack.access.requests import KEY, OTHER_KEY, PORTS, Sent, ask, presigned, signed_by_botocore

ARN = "arn:aws:lambda:us-east-1:000000000000:function:cupel-probe"
CALLS: Mapping[str, tuple[str, str, dict[str, Any]]] = {
    "JSON": ("dynamodb", "get_item", {"TableName": "t", "Key": {"pk": {"S": "ä ~'*"}}}),
    "JSON without arguments": ("secretsmanager", "list_secrets", {}),
    "queue": ("sqs", "send_message", {"QueueUrl": "http://127.0.0.1:4566/000000000000/q", "MessageBody": "a=b&c"}),
    "query protocol": ("cloudformation", "describe_stacks", {"StackName": "cupel + more"}),
    "path with an encoded colon": ("lambda", "get_function", {"FunctionName": ARN}),
    "body of bytes": ("lambda", "invoke", {"FunctionName": "f", "Payload": b'{"a": "\xc3\xa4"}'}),
    "query with a space": ("scheduler", "list_schedules", {"NamePrefix": "a b+c/ä", "GroupName": "g"}),
    "repeated query": ("apigatewayv2", "untag_resource", {"ResourceArn": f"{ARN}/x y", "TagKeys": ["b", "a c", "~"]}),
    "object": ("s3", "put_object", {"Bucket": "bucket", "Key": "a b/ä+~'(1).txt", "Body": b"content"}),
    "list of objects": ("s3", "list_objects_v2", {"Bucket": "bucket", "Prefix": "runs/ä b/", "Delimiter": "/"}),
    "query without a value": ("s3", "delete_objects", {"Bucket": "bucket", "Delete": {"Objects": [{"Key": "a"}]}}),
}
PRESIGNED: Mapping[str, tuple[str, dict[str, Any]]] = {
    "download": (
        "get_object",
        {
            "Key": "files/ws/file 1+ä~",
            "ResponseContentType": "text/plain; charset=utf-8",
            "ResponseContentDisposition": "attachment; filename*=UTF-8''a%20%C3%A4%27.txt",
        },
    ),
    "upload": ("put_object", {"Key": "uploads/1", "ContentType": "image/png", "ContentLength": 3}),
    "upload with a checksum": ("put_object", {"Key": "uploads/1", "ChecksumSHA256": base64.b64encode(b"1").decode()}),
}
HEADERS_OF_UPLOADS = {"content-type": "image/png", "content-length": "3"}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_botocore_has_signed_is_passed_on_whole(name: str) -> None:
    sent = signed_by_botocore(*CALLS[name])
    answer = ask(sent)
    assert (answer.status, answer.body, answer.received) == (200, b"answer", sent.body)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_was_signed_with_another_secret_is_refused(name: str) -> None:
    answer = ask(signed_by_botocore(*CALLS[name], key=OTHER_KEY))
    assert (answer.status, answer.reached) == (403, [])


def at(time: str) -> datetime:
    return datetime.strptime(time, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)


def changes(sent: Sent) -> Mapping[str, Sent]:
    """The request with one thing changed."""
    path, mark, query = sent.target.partition("?")
    signature = sent.headers["authorization"]
    return {
        "method": replace(sent, method="DELETE" if sent.method != "DELETE" else "GET"),
        "path": replace(sent, target=f"{path}x{mark}{query}"),
        "query": replace(sent, target=f"{sent.target}{'&' if mark else '?'}Action=ListUsers"),
        "date": sent.with_headers(**{"x-amz-date": "20200101T000000Z"}),
        "service": sent.with_headers(authorization=signature.replace("/us-east-1/", "/us-east-1/iam", 1)),
        "signature": sent.with_headers(authorization=signature[:-1] + ("0" if signature[-1] != "0" else "1")),
        "no signature": sent.with_headers(authorization=signature.partition(", Signature=")[0]),
        "no header": sent.with_headers(authorization=""),
        "bearer": sent.with_headers(authorization=f"Bearer {KEY.key_id}"),
    }


@in_one_test("change", changes(signed_by_botocore(*CALLS["JSON"])))
@in_one_test("name", CALLS)
def test_a_call_that_was_changed_is_refused(name: str, change: str) -> None:
    answer = ask(changes(signed_by_botocore(*CALLS[name]))[change])
    assert (answer.status, answer.reached) == (403, [])


def test_another_body_than_the_signed_one_is_refused() -> None:
    sent = signed_by_botocore(*CALLS["JSON"])
    assert ask(replace(sent, body=sent.body.replace(b'"t"', b'"u"'))).status == 403


def test_another_operation_than_the_signed_one_is_refused() -> None:
    sent = signed_by_botocore(*CALLS["JSON"])
    assert "x-amz-target" in sent.headers
    assert ask(sent.with_headers(**{"x-amz-target": "DynamoDB_20120810.Scan"})).status == 403


@pytest.mark.parametrize("name", PRESIGNED)
def test_an_address_that_botocore_has_presigned_is_passed_on(name: str) -> None:
    operation, parameters = PRESIGNED[name]
    sent = presigned(operation, **parameters)
    checksum = {"x-amz-checksum-sha256": parameters.get("ChecksumSHA256", "")}
    headers = {**HEADERS_OF_UPLOADS, **checksum} if operation == "put_object" else {}
    answer = ask(replace(sent, headers={**sent.headers, **headers}, body=b"abc" if headers else b""))
    assert (answer.status, answer.body) == (200, b"answer"), answer.body


def presigned_changes(sent: Sent) -> Mapping[str, Sent]:
    return {
        "method": replace(sent, method="PUT"),
        "head": replace(sent, method="HEAD"),
        "delete": replace(sent, method="DELETE"),
        "post": replace(sent, method="POST"),
        "key": replace(sent, target=sent.target.replace("files/", "files/../", 1)),
        "bucket": replace(sent, target="/other" + sent.target),
        "query": replace(sent, target=f"{sent.target}&acl"),
        "expiry": replace(sent, target=sent.target.replace("X-Amz-Expires=600", "X-Amz-Expires=6000")),
        "disposition": replace(sent, target=sent.target.replace("attachment", "inline")),
        "service": replace(sent, target=sent.target.replace("%2Fs3%2F", "%2Flambda%2F")),
        "host": sent.with_headers(host=f"localhost:{PORTS.objects}"),
        "signature": replace(sent, target=sent.target.replace("X-Amz-Signature=", "X-Amz-Signature=0")),
        "no signature": replace(sent, target=sent.target.replace("X-Amz-Signature", "X-Amz-Signed")),
        "other operation": sent.with_headers(**{"x-amz-target": "secretsmanager.ListSecrets"}),
        "copied object": sent.with_headers(**{"x-amz-copy-source": "/bucket/secret"}),
        "port": replace(sent, port=PORTS.first, headers={"host": f"127.0.0.1:{PORTS.first}"}),
    }


@pytest.mark.parametrize("change", presigned_changes(presigned("get_object", Key="files/1")))
def test_an_address_that_was_changed_is_refused(change: str) -> None:
    operation, parameters = PRESIGNED["download"]
    answer = ask(presigned_changes(presigned(operation, **parameters))[change])
    assert (answer.status, answer.reached) == (403, [])


def test_an_address_of_another_start_is_refused() -> None:
    assert ask(presigned("get_object", key=OTHER_KEY, Key="files/1")).status == 403


@pytest.mark.parametrize(("seconds", "status"), [(-60, 200), (599, 200), (601, 403)])
def test_an_address_expires(seconds: int, status: int) -> None:
    sent = presigned("get_object", seconds=600, Key="files/1")
    (signed_at,) = parse_qs(sent.target)["X-Amz-Date"]
    assert ask(sent, now=at(signed_at) + timedelta(seconds=seconds)).status == status


def test_an_address_is_valid_for_a_week_at_most() -> None:
    assert ask(presigned("get_object", seconds=604_801, Key="files/1")).status == 403


def test_what_the_command_signs_is_what_botocore_signs() -> None:
    url = "http://127.0.0.1:4566/_cupel/checkpoint?a=b%20c"
    request = AWSRequest("POST", url, {})
    SigV4Auth(Credentials(*KEY), "cupel", "eu-central-1").add_auth(request)
    expected = {name: request.headers[name] for name in ("X-Amz-Date", "Authorization")}
    assert sign(KEY, "POST", url, "eu-central-1", at(expected["X-Amz-Date"])) == expected


def test_every_start_has_another_key_which_is_no_account() -> None:
    keys = {AccessKey.create() for _ in range(20)}
    assert len(keys) == 20
    assert not any(key.key_id.isdigit() or len(key.secret) < 64 for key in keys)


_NAMES = st.text(string.ascii_letters + string.digits + " /+~._-'äß%&=?#", min_size=1, max_size=20)


@given(key=_NAMES, prefix=_NAMES, body=st.binary(max_size=50))
def test_names_of_objects_are_signed_as_they_are_sent(key: str, prefix: str, body: bytes) -> None:
    put = signed_by_botocore("s3", "put_object", {"Bucket": "bucket", "Key": key, "Body": body}, port=PORTS.objects)
    listed = signed_by_botocore("s3", "list_objects_v2", {"Bucket": "bucket", "Prefix": prefix, "StartAfter": key})
    assert [ask(put).status, ask(listed).status] == [200, 200]
