"""ETag and If-Match of what always exists: settings, providers and probes. A refused change changes nothing."""

from typing import Any

import pytest

from cupel_core.accounts import keys as accounts
from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.transcripts import TranscriptResult
from cupel_core.resources import evaluation_settings
from cupel_core.runs import corrections
from cupel_core.store import outcomes, providers, secrets
from tests.answered_runs import AnsweredRun
from tests.unit.api.client import Client

PROVIDER = "/v1/providers/openai"
SETTINGS = "/v1/settings"
CHANGES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    PROVIDER: ("PUT", {"maxParallelRequests": 7}, {"maxParallelRequests": 8, "apiKey": "other"}),
    SETTINGS: (
        "PUT",
        {"judgeModel": "sim/contrarian"},
        {"evaluator": {"url": "https://a.test", "headers": {"X": "other"}}},
    ),
    "probe": ("PATCH", {"result": {"success": False}}, {"result": None}),
}


class Edited:
    """Something that is edited in place: its path and the change of it that is refused or accepted."""

    def __init__(self, client: Client, kind: str) -> None:
        self.method, first, self.change = CHANGES[kind]
        self.path = completed_probe() if kind == "probe" else kind
        self.client = client
        self.unchanged_tag = client.get(self.path).headers["ETag"]
        self.tag = client.request(self.method, self.path, json=first).headers["ETag"]

    def edit(self, tag: str) -> Any:
        return self.client.request(self.method, self.path, json=self.change, headers={"If-Match": tag})


@pytest.fixture(params=CHANGES)
def edited(client: Client, request: pytest.FixtureRequest) -> Edited:
    return Edited(client, request.param)


def completed_probe() -> str:
    run = AnsweredRun(workspace="acme").start()
    return f"/v1/probes/{run.id}-0"


def test_a_change_with_the_current_tag_is_accepted_and_answers_the_next(edited: Edited) -> None:
    assert edited.tag != edited.unchanged_tag
    changed = edited.edit(edited.tag)
    assert (changed.status, changed.headers["ETag"] != edited.tag) == (200, True)
    assert edited.client.get(edited.path).headers["ETag"] == changed.headers["ETag"]


def test_a_change_with_an_outdated_tag_is_refused_and_changes_nothing(edited: Edited) -> None:
    before = edited.client.get(edited.path)
    refused = edited.edit(edited.unchanged_tag)
    assert (refused.status, refused.headers["ETag"]) == (412, edited.tag)
    after = edited.client.get(edited.path)
    assert (after.json(), after.headers["ETag"]) == (before.json(), edited.tag)


def test_any_tag_matches(edited: Edited) -> None:
    assert edited.edit("*").status == 200


def test_a_provider_has_its_tag_before_anything_is_set(client: Client) -> None:
    answer = client.get(PROVIDER)
    assert (answer.headers["ETag"], answer.json()) == ('"0"', client.get("/v1/providers").json()["items"][0])
    assert client.put(PROVIDER, {"enabled": False}, headers={"If-Match": '"0"'}).status == 200


def test_an_unknown_provider_is_not_found(client: Client) -> None:
    assert client.get("/v1/providers/acme").status == 404


def test_a_key_of_a_refused_change_is_never_used(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another admin's change is stored between the check of the tag and the write."""
    client.put(PROVIDER, {"apiKey": "mine"})
    before = providers.get("acme", "openai")
    client.put(PROVIDER, {"enabled": True})
    with monkeypatch.context() as patched:
        patched.setattr(providers, "get", lambda *_: before)
        refused = client.put(PROVIDER, {"apiKey": "theirs"}, headers={"If-Match": f'"{before.revision}"'})
    assert refused.status == 412
    assert secrets.get("acme", "openai") == "theirs"
    assert accounts.load_account("acme", "openai").api_key == "mine"


def test_an_evaluator_is_not_moved_while_its_headers_change(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.put(SETTINGS, {"evaluator": {"url": "https://a.test/score"}})
    before = evaluation_settings.get_settings("acme")
    client.put(SETTINGS, {"evaluator": {"url": "https://a.test/score", "headers": {"X-Key": "secret"}}})
    monkeypatch.setattr(evaluation_settings, "get_settings", lambda _: before)
    assert client.put(SETTINGS, {"evaluator": {"url": "https://b.test/score"}}).status == 409


def test_a_correction_between_the_check_and_the_write_is_noticed(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = completed_probe()
    tag, ref = client.get(path).headers["ETag"], RunRef("acme", path.rpartition("/")[2].rpartition("-")[0])
    read = outcomes.get(ref, 0)
    outcomes.set_correction(ref, 0, TranscriptResult(True))
    monkeypatch.setattr(corrections.outcomes, "get", lambda *_: read)
    assert client.patch(path, {"result": {"success": False}}, headers={"If-Match": tag}).status == 412
