"""promptfoo's `http` provider becomes a connector."""

from typing import Any

import pytest

from cupel_core.domain.definitions.drafts import ConnectorDraft
from cupel_core.domain.resources.connectors import ConnectorType
from cupel_core.providers.connectors.config import config_errors
from cupel_core.providers.connectors.expressions import select
from tests.in_one_test import in_one_test
from tests.unit.interop.imports.reading import read_suite

BODY = {"messages": [{"role": "user", "content": "{{prompt}}"}]}
VARIABLES = {"language": "French", "year": 1999, "user": {"name": "Ann"}, "tags": ["a"]}
MESSAGE = {
    "message": "Hi 'there'",
    "messages": [],
    "conversationId": "c-1",
    "turn": 0,
    "persona": None,
    "vars": VARIABLES,
}


def config(**options: Any) -> dict[str, Any]:
    provider = {
        "id": "https",
        "label": "Agent",
        "config": {"url": "https://agent.example/chat", "body": BODY, **options},
    }
    return {"prompts": ["{{x}}"], "providers": [provider], "tests": [{"vars": {"x": "Hi"}}]}


def connector(**options: Any) -> ConnectorDraft:
    [draft] = read_suite(config(**options)).connectors
    assert config_errors(ConnectorType.HTTP, draft.config) == []
    return draft


def sent(body: Any) -> Any:
    """The request that the connector makes."""
    request = connector(body=body).config["request"]
    return select({"request": request}, MESSAGE)["request"][0]


def test_a_provider_becomes_a_connector() -> None:
    suite = read_suite(config(method="put"))
    [draft] = suite.connectors
    assert (draft.name, draft.base_url, draft.config["method"]) == ("Agent", "https://agent.example/chat", "PUT")
    assert suite.drafts[0].models == ()
    assert not suite.report.skipped
    assert suite.report.imported["connectors"] == 1


@pytest.mark.parametrize(
    ("body", "request_body"),
    [
        (BODY, {"messages": [{"role": "user", "content": "Hi 'there'"}]}),
        (
            {"a-b": "say: {{ prompt }}!", "n": 1, "no": None, "empty": {}},
            {"a-b": "say: Hi 'there'!", "n": 1, "no": None, "empty": {}},
        ),
        ('{"q": "{{prompt}}", "session": "{{sessionId}}"}', {"q": "Hi 'there'", "session": "c-1"}),
        ('{"q": {{ prompt | dump }}, "quote": "`it\'s` \\\\"}', {"q": "Hi 'there'", "quote": "`it's` \\"}),
        ({"to": "{{language}}", "q": "In {{ year }}: {{prompt}}"}, {"to": "French", "q": "In 1999: Hi 'there'"}),
        ({"year": "{{year}}", "none": "{{nothing}}", "in": "a{{nothing}}b"}, {"year": "1999", "none": "", "in": "ab"}),
        ({"who": "{{user.name}}", "tags": "{{tags | dump}}"}, {"who": "Ann", "tags": ["a"]}),
        ('{"tags": {{ tags | dump }}}', {"tags": ["a"]}),
    ],
)
def test_a_body_becomes_an_expression(body: Any, request_body: Any) -> None:
    assert sent(body) == request_body


@pytest.mark.parametrize(
    ("parser", "reply"),
    [
        (None, "@"),
        ("json", "@"),
        ("text", "@"),
        ("json.choices[0].message.content", "choices[0].message.content"),
        ("json?.output?.[0]?.text;", "output[0].text"),
        ("json['my key'].a", '"my key".a'),
        ("(json, text) => json.reply", "reply"),
        ("(data) => data.reply", "reply"),
        ("JSON.parse(text).reply", "reply"),
        ("json.reply || json.error?.message || text", "reply || error.message || @"),
        ("(json) => json.reply ?? 'none'", 'reply || `"none"`'),
    ],
)
def test_a_path_of_the_response_is_the_reply(parser: str | None, reply: str) -> None:
    assert connector(transformResponse=parser).config["reply"] == reply


def test_the_agents_own_session_is_the_conversation() -> None:
    assert connector(sessionParser="data.body.session.id").config["conversationId"] == "session.id"


def test_values_of_headers_are_never_kept() -> None:
    headers = {
        "Content-Type": "application/json",
        "Authorization": "Bearer {{env.TOKEN}}",
        "X-Api-Key": "sk-secret",
        "X-Key": "sk-{{ env['A'] }}",
    }
    draft = connector(headers=headers)
    assert draft.headers == {
        "Authorization": "Bearer ${TOKEN}",
        "X-Api-Key": "${X_API_KEY}",
        "X-Key": "${X_KEY}",
    }
    assert "secret" not in str(draft.to_json())


RAW = """
POST /v1/chat?stream=false HTTP/1.1
Host: agent.example:8443
Content-Type: application/json
Authorization: Bearer {{env.TOKEN}}

{"q": "{{prompt}}", "to": "{{language}}"}
"""


@pytest.mark.parametrize(
    ("provider", "files", "url"),
    [
        ({"id": "https", "config": {"request": RAW}}, {}, "https://agent.example:8443/v1/chat?stream=false"),
        ({"id": "http", "config": {"request": RAW}}, {}, "http://agent.example:8443/v1/chat?stream=false"),
        (
            {"id": "http", "config": {"request": "file://raw.http", "useHttps": True}},
            {"raw__http": RAW.replace("\n", "\r\n")},
            "https://agent.example:8443/v1/chat?stream=false",
        ),
    ],
)
def test_a_raw_request_is_read(provider: dict[str, Any], files: dict[str, str], url: str) -> None:
    suite = read_suite({**config(), "providers": [provider]}, **files)
    [draft] = suite.connectors
    assert (f"{draft.base_url}{draft.config['path']}", draft.config["method"]) == (url, "POST")
    assert draft.headers == {"Authorization": "Bearer ${TOKEN}"}
    request = select({"request": draft.config["request"]}, MESSAGE)["request"][0]
    assert request == {"q": "Hi 'there'", "to": "French"}
    assert not suite.report.skipped


def test_fixed_parameters_are_part_of_the_path() -> None:
    draft = connector(url="https://agent.example/chat?a=1", queryParams={"version": 2, "q": "x y"})
    assert (draft.base_url, draft.config["path"]) == ("https://agent.example", "/chat?a=1&version=2&q=x+y")


@pytest.mark.parametrize(
    ("auth", "headers"),
    [
        ({"type": "bearer", "token": "{{env.TOKEN}}"}, {"Authorization": "Bearer ${TOKEN}"}),
        ({"type": "bearer", "token": "sk-secret"}, {"Authorization": "${AUTHORIZATION}"}),
        ({"type": "basic", "username": "a", "password": "sk-secret"}, {"Authorization": "${AUTHORIZATION}"}),
        (
            {"type": "api_key", "placement": "header", "keyName": "X-Api-Key", "value": "{{env.KEY}}"},
            {"X-Api-Key": "${KEY}"},
        ),
    ],
)
def test_an_authentication_is_a_header_to_set(auth: dict[str, str], headers: dict[str, str]) -> None:
    draft = connector(auth=auth)
    assert draft.headers == headers
    assert "secret" not in str(draft.to_json())


@in_one_test(
    ("options", "reason"),
    [
        ({"request": "POST / HTTP/1.1"}, "has no header Host"),
        ({"request": "chat\nHost: a.example"}, "does not begin with a line such as POST /chat HTTP/1.1"),
        ({"request": "POST / HTTP/1.1\nHost"}, "a header without a colon"),
        ({"request": "POST / HTTP/1.1\nHost: a.example\n\nq={{prompt}}"}, "is not JSON"),
        ({"request": "GET /{{prompt}} HTTP/1.1\nHost: a.example"}, "its url has variables"),
        ({"request": "file://missing.http"}, "does not exist"),
        ({"request": 7}, "its request is not a text"),
        ({"multipart": {"parts": []}}, "not forms"),
        ({"transformRequest": "{a: prompt}"}, "code is not executed"),
        ({"queryParams": {"q": "{{prompt}}"}}, "its queryParams.q has variables"),
        ({"queryParams": {"api_key": "sk-1"}}, "its queryParams.api_key may be a secret"),
        ({"session": {"url": "https://agent.example/session"}}, "one request for an answer"),
        ({"auth": {"type": "oauth"}}, "its auth is oauth"),
        ({"method": "GET"}, "not GET"),
        ({"body": None}, "not GET"),
        ({"body": None, "method": "POST"}, "has no body"),
        ({"body": "prompt={{prompt}}"}, "is not JSON"),
        ({"body": {"q": "{{env.TOKEN}}"}}, "has the environment variable env.TOKEN"),
        ({"body": {"q": "{{topic | upper}}"}}, "has a template"),
        ({"body": {"q": "{% if prompt %}x{% endif %}"}}, "has a template"),
        ({"url": "https://{{host}}/chat"}, "its url has variables"),
        ({"url": "ftp://x"}, "its url is not an address"),
        ({"url": "https://user:secret@x"}, "must not contain a user or password"),
        ({"transformResponse": "json.items.map(x => x.text)"}, "its transformResponse is code"),
        ({"transformResponse": "file://parse.js"}, "its transformResponse is code"),
        ({"sessionParser": "data.headers['set-cookie']"}, "its sessionParser"),
        ({"body": {"q": "x" * 3_000 + "{{prompt}}"}}, "at most 2000 characters"),
    ],
)
def test_a_provider_whose_requests_would_differ_is_left_out(options: dict[str, Any], reason: str) -> None:
    suite = read_suite(config(**options))
    assert suite.connectors == ()
    assert [reason in note.why for note in suite.report.skipped] == [True]


def test_other_options_are_reported() -> None:
    suite = read_suite(config(tls={"rejectUnauthorized": False}))
    assert [(note.where, note.what) for note in suite.report.skipped] == [("providers.0.config.tls", "tls")]


def test_the_id_may_be_the_address_and_names_are_distinct() -> None:
    providers = [{"id": "https://agent.example/chat", "config": {"body": {"q": "{{prompt}}", "n": n}}} for n in (1, 2)]
    suite = read_suite({**config(), "providers": providers})
    assert [draft.name for draft in suite.connectors] == ["agent.example", "agent.example 2"]
