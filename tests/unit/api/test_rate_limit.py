import pytest

from authorize import app as authorizer
from tests.unit.api.client import Client


def test_a_caller_above_its_limit_is_told_when_to_come_back(
    client: Client, viewer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authorizer, "time", lambda: 1_800_000_000.0)
    answers = [client.get("/v1/settings", token=viewer) for _ in range(110)]
    assert [answer.status for answer in answers] == [200] * 105 + [429] * 5
    headers = answers[-1].headers
    assert (headers["Retry-After"], headers["RateLimit-Policy"]) == ("1", '"token";q=100;w=2')
    assert headers["RateLimit"] == '"token";r=0;t=1'
    assert (answers[-1].json()["title"], headers["Content-Type"]) == ("Too many requests", "application/problem+json")
    assert client.get("/v1/settings").status == 200  # Of another token.
