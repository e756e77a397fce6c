"""The gate passes on to the embedded cloud the API's path, presigned objects, and what is signed with the key."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from botocore.awsrequest import HeadersDict
from botocore.parsers import create_parser
from botocore.session import get_session
from hypothesis import given, settings
from hypothesis import strategies as st

from cupel.stack.access import gate as gate_module
from cupel.stack.access.gate import AccessGate
from cupel.stack.asgi import AsgiMessage
from tests.effort import EXAMPLES
from tests.in_one_test import in_one_test
from tests.unit.cupel.stack.access.requests import (
    API_PATH,
    BUCKET,
    KEY,
    OTHER_KEY,
    PAGE,
    PORTS,
    FakeBuckets,
    Sent,
    ask,
    presigned,
    signed_by_botocore,
)

OWN_HOSTS = ("127.0.0.1", "localhost", "[::1]", "LOCALHOST")
FOREIGN_HOSTS = (
    *("evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.2", "[::]", "127.1", "0", ""),
    *("2130706433", "evil@127.0.0.1", "127.0.0.1, evil.example", "localhost."),
)
FOREIGN_ORIGINS = ("https://evil.example", "null", "http://localhost:3000", "http://127.0.0.1", "file://", "")
FOREIGN_SITES = ("cross-site", "same-site", "unknown")
INTERNAL_PATHS = (
    *("/", "/health", "/_ministack/health", "/_ministack/ready", "/_ministack/config", "/_localstack/health"),
    *("/_ministack/reset", "/_ministack/lambda-code/cupel-api", "/_cupel/checkpoint", "/2015-03-31/functions"),
    *("/2015-03-31/functions/cupel-api/invocations", "/latest/meta-data/iam/", "/_aws/lambda-url/x/", "/oauth2/token"),
    *("/login", "/cupel-bucket", "/cupel-bucket/files/1", "/000000000000/queue", "/_aws/execute-api/other/$default/"),
    *("/_aws/execute-api/cupel", "/_aws/execute-api/cupel/prod/v1", f"{API_PATH}x", f"{API_PATH}/@connections/1"),
    *(f"/x{API_PATH}/v1", "/restapis/cupel/$default/_user_request_/v1", "//_aws/execute-api/cupel/$default/v1/runs"),
)


def scan() -> Sent:
    """A signature holds for 15 minutes, so each test signs its own request."""
    return signed_by_botocore("dynamodb", "scan", {"TableName": "t"})


def forged() -> Sent:
    return signed_by_botocore("dynamodb", "scan", {"TableName": "t"}, key=OTHER_KEY)


def presigned_object() -> Sent:
    return presigned("get_object", Key="files/1")


@in_one_test("path", ["", "/", "/v1/runs?limit=1", "/assets/x.js", "/v1/mcp"])
@in_one_test("origin", [*FOREIGN_ORIGINS, "http://127.0.0.1:4566"])
def test_the_api_decides_itself_about_origins(path: str, origin: str) -> None:
    sent = Sent("POST", f"{API_PATH}{path}", body=b"{}").with_headers(origin=origin, sec_fetch_site="cross-site")
    answer = ask(sent)
    assert (answer.status, answer.received) == (200, b"{}")
    assert answer.headers["access-control-allow-origin"] == "*", "its CORS headers are not changed"


def test_the_percent_encoded_path_of_the_api_is_the_apis() -> None:
    assert ask(Sent(target="/_aws/execute-api/cupel/%24default/v1/runs")).status == 200


@in_one_test("port", PORTS)
@in_one_test("method", ["GET", "POST", "PUT", "OPTIONS", "DELETE"])
@in_one_test("path", INTERNAL_PATHS)
def test_no_other_path_is_open(path: str, method: str, port: int) -> None:
    answer = ask(Sent(method, path, port=port))
    assert (answer.status, answer.reached) == (403, [])
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_the_api_is_not_at_the_origin_of_objects() -> None:
    assert ask(Sent(target=f"{API_PATH}/", port=PORTS.objects)).status == 403


@pytest.mark.parametrize("host", OWN_HOSTS)
def test_the_stack_answers_at_its_own_hosts(host: str) -> None:
    assert ask(Sent(target=f"{API_PATH}/").with_headers(host=f"{host}:{PORTS.first}")).status == 200


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
@pytest.mark.parametrize("suffix", ["", ":4566"])
def test_the_stack_does_not_answer_at_other_hosts(host: str, suffix: str) -> None:
    for sent in (Sent(target=f"{API_PATH}/v1/runs"), scan(), presigned_object()):
        answer = ask(sent.with_headers(host=f"{host}{suffix}"))
        assert (answer.status, answer.reached) == (403, [])


@pytest.mark.parametrize("host", ["localhost", "localhost:80", "127.0.0.1:4567", "localhost:45660"])
def test_the_port_is_part_of_the_host(host: str) -> None:
    assert ask(Sent(target=f"{API_PATH}/").with_headers(host=host)).status == 403


def test_two_hosts_are_none() -> None:
    headers = [(b"host", b"127.0.0.1:4566"), (b"Host", b"evil.example")]
    assert gate_module._read_headers(headers)["host"] == "127.0.0.1:4566,evil.example"


def test_a_further_host_is_allowed_by_name_and_port() -> None:
    hosts = {"dev.example:8443"}
    asked = Sent(target=f"{API_PATH}/")
    statuses = [ask(asked.with_headers(host=host), hosts=hosts).status for host in ("dev.example:8443", "dev.example")]
    assert statuses == [200, 403]


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
def test_a_signed_request_of_a_page_of_another_origin_is_refused(origin: str) -> None:
    if origin:
        assert ask(scan().with_headers(origin=origin)).status == 403


@pytest.mark.parametrize("site", FOREIGN_SITES)
def test_a_signed_request_of_another_site_is_refused(site: str) -> None:
    assert ask(scan().with_headers(sec_fetch_site=site)).status == 403


def test_responses_of_the_embedded_cloud_allow_no_origin() -> None:
    for sent in (scan(), presigned_object()):
        answer = ask(sent)
        assert (answer.status, answer.headers["etag"]) == (200, '"1"')
        assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(("origin", "allowed"), [(PAGE, PAGE), ("https://evil.example", None), ("null", None)])
def test_objects_have_the_cors_rules_of_their_bucket(origin: str, allowed: str | None) -> None:
    preflight = replace(presigned_object(), method="OPTIONS").with_headers(
        origin=origin, access_control_request_method="GET"
    )
    answers = ask(preflight), ask(presigned_object().with_headers(origin=origin))
    assert [answer.headers.get("access-control-allow-origin") for answer in answers] == [allowed, allowed]
    assert [answer.status for answer in answers] == [200 if allowed else 403, 200]
    assert [answer.headers["vary"] for answer in answers] == ["Origin", "Origin"]
    assert answers[0].reached == []


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
def test_a_presigned_object_may_be_asked_for_from_anywhere(site: str) -> None:
    assert ask(presigned_object().with_headers(sec_fetch_site=site, origin="null")).status == 200


def test_headers_that_were_not_signed_do_not_reach_the_embedded_cloud() -> None:
    (scope,) = ask(presigned_object().with_headers(authorization="x", cookie="a=b", range="bytes=0-1", te="x")).reached
    assert sorted(name.decode() for name, _ in scope["headers"]) == ["host", "range"]


def test_a_body_that_is_too_large_to_verify_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate_module, "MAX_SIGNED_BODY_BYTES", 10)
    answer = ask(replace(scan(), body=b"x" * 11))
    assert (answer.status, answer.reached) == (413, [])


@pytest.mark.parametrize(
    ("service", "operation", "parameters", "code"),
    [
        ("cloudformation", "describe_stacks", {"StackName": "a"}, "AccessDenied"),
        ("sts", "get_caller_identity", {}, "AccessDenied"),
        ("s3", "get_object", {"Bucket": "b", "Key": "<k>"}, "AccessDenied"),
        ("dynamodb", "scan", {"TableName": "t"}, "AccessDeniedException"),
        ("sqs", "list_queues", {}, "AccessDeniedException"),
        ("lambda", "list_functions", {}, "AccessDeniedException"),
    ],
)
def test_the_client_of_each_service_reads_why_it_is_refused(
    service: str, operation: str, parameters: dict[str, str], code: str
) -> None:
    answer = ask(signed_by_botocore(service, operation, parameters, key=OTHER_KEY))
    model = get_session().get_service_model(service)
    output = model.operation_model(operation.title().replace("_", "")).output_shape
    response = {"body": answer.body, "headers": HeadersDict(answer.headers), "status_code": answer.status}
    error = create_parser(model.resolved_protocol).parse(response, output)["Error"]
    assert (error["Code"], "`cupel env`" in error["Message"]) == (code, True)


def test_websockets_are_closed() -> None:
    messages: list[AsgiMessage] = []

    async def fail(*_: Any) -> Any:
        raise AssertionError("the emulator was asked")

    async def note(message: AsgiMessage) -> None:
        messages.append(message)

    gate = AccessGate(fail, KEY.secret, PORTS, API_PATH, tuple, FakeBuckets)
    asyncio.run(gate({"type": "websocket", "path": f"{API_PATH}/", "headers": []}, fail, note))
    assert [message["type"] for message in messages] == ["websocket.close"]


def test_the_embedded_cloud_is_started_and_stopped_by_the_server() -> None:
    scopes: list[Any] = []

    async def emulator(scope: Any, *_: Any) -> None:
        scopes.append(scope)

    gate = AccessGate(emulator, KEY.secret, PORTS, API_PATH, tuple, FakeBuckets)
    asyncio.run(gate({"type": "lifespan"}, None, None))  # type: ignore[arg-type]
    assert scopes == [{"type": "lifespan"}]


AUTHORIZATIONS: dict[str, Callable[[], Sent]] = {
    "none": Sent,
    "signed": scan,
    "forged": forged,
    "presigned": presigned_object,
    "key id": lambda: Sent(
        "POST", headers={"authorization": f"AWS4-HMAC-SHA256 Credential={KEY.key_id}/20260101/us-east-1/"}
    ),
    "old": lambda: Sent("POST", headers={"authorization": f"AWS {KEY.key_id}:signature"}),
}


@settings(max_examples=5 * EXAMPLES)
@given(
    host=st.sampled_from((*OWN_HOSTS, *FOREIGN_HOSTS)),
    named_port=st.sampled_from((*PORTS, 80)),
    port=st.sampled_from(PORTS),
    origin=st.sampled_from((None, "http://127.0.0.1:4566", *FOREIGN_ORIGINS)),
    site=st.sampled_from((None, "none", "same-origin", *FOREIGN_SITES)),
    authorization=st.sampled_from(sorted(AUTHORIZATIONS)),
    path=st.sampled_from((None, f"{API_PATH}/v1/runs", *INTERNAL_PATHS)),
    method=st.sampled_from((None, "GET", "POST", "OPTIONS", "PUT")),
)
def test_nothing_is_passed_on_that_is_not_listed(
    host: str,
    named_port: int,
    port: int,
    origin: str | None,
    site: str | None,
    authorization: str,
    path: str | None,
    method: str | None,
) -> None:
    sent = AUTHORIZATIONS[authorization]()
    signed = sent
    sent = replace(sent, port=port, target=path or sent.target, method=method or sent.method)
    sent = sent.with_headers(host=f"{host}:{named_port}", origin=origin or "", sec_fetch_site=site or "")
    is_own = host in OWN_HOSTS and named_port == port
    is_api = port == PORTS.first and sent.target == f"{API_PATH}/v1/runs"
    is_same = (sent.method, sent.target, sent.headers["host"]) == (signed.method, signed.target, _host_of(signed))
    is_of_another_site = site in FOREIGN_SITES or bool(origin and origin != f"http://{sent.headers['host']}")
    is_signed = authorization == "signed" and is_same and not is_of_another_site
    is_object = authorization == "presigned" and is_same and port == PORTS.objects
    answer = ask(sent)
    assert bool(answer.reached) == (is_own and (is_api or is_signed or is_object))
    if not is_api:
        assert answer.headers.get("access-control-allow-origin") is None


def _host_of(sent: Sent) -> str:
    return sent.headers.get("host", "")


def test_the_bucket_of_the_tests_is_that_of_the_addresses() -> None:
    assert presigned_object().target.startswith(f"/{BUCKET}/files/1?")
