from tests.unit.api.client import Client

OURS = {"Origin": "http://localhost:5173"}
THEIRS = {"Origin": "https://evil.example"}


def test_a_preflight_of_our_page_is_answered_without_token(client: Client) -> None:
    client.token = None
    answer = client.request("OPTIONS", "/v1/runs", headers=OURS)
    assert (answer.status, answer.headers["Access-Control-Allow-Origin"]) == (204, OURS["Origin"])
    allowed = answer.headers["Access-Control-Allow-Headers"]
    assert all(name in allowed for name in ("Authorization", "If-Match", "Idempotency-Key", "Last-Event-ID"))
    assert {"PATCH", "HEAD"} <= set(answer.headers["Access-Control-Allow-Methods"].split(", "))


def test_our_page_may_read_the_headers_that_a_client_needs(client: Client) -> None:
    exposed = client.get("/v1/providers", headers=OURS).headers["Access-Control-Expose-Headers"]
    assert {"ETag", "Location", "Retry-After", "RateLimit", "apigw-requestid"} <= set(exposed.split(", "))


def test_another_origin_gets_no_cors_header(client: Client) -> None:
    for method in ("GET", "OPTIONS"):
        answer = client.request(method, "/v1/providers", headers=THEIRS)
        assert not [name for name in answer.headers if name.startswith("Access-Control")]


def test_every_answer_varies_by_origin(client: Client) -> None:
    for headers in (OURS, THEIRS, {}):
        assert client.get("/v1/providers", headers=headers).headers["Vary"] == "Origin, Accept-Encoding"


def test_our_page_may_read_a_refusal(client: Client) -> None:
    client.token = None
    answer = client.get("/v1/providers", headers=OURS)
    assert (answer.status, answer.headers["Access-Control-Allow-Origin"]) == (401, OURS["Origin"])
