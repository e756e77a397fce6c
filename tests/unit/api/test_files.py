"""Files over the API, and definitions whose messages refer to them."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from cupel_core.base.messages import RunRef
from cupel_core.domain.files.data_urls import encode
from cupel_core.domain.files.formats import FileFormat, digest_of, file_id
from cupel_core.runs.workspace_erasure import reapply_deletions
from cupel_core.store import active_runs, blobs, keys, object_names
from cupel_core.store.active_runs import ActiveRunItem
from cupel_core.store.settings import Settings
from cupel_core.workspace.sweeping.erasure import ErasureResult, erase_due
from tests.files_for_tests import PDF, png
from tests.stored_text import places_with
from tests.unit.api.client import Client
from tests.unit.test_template import resources

CAT = png(4, 3)
CAT_ID = file_id(digest_of(CAT))
NOW = datetime.now(UTC)


def announced(content: bytes, name: str = "cat.png", media_type: str = "image/png", **changes: Any) -> dict[str, Any]:
    return {"name": name, "type": media_type, "size": len(content), "sha256": digest_of(content), **changes}


def put(content: bytes, stored_id: str, workspace: str = "acme") -> None:
    """What S3 does with an upload to the presigned address."""
    blobs.put_file(object_names.upload_blob(workspace, stored_id), content, "image/png")


def upload(client: Client, content: bytes = CAT, **changes: Any) -> dict[str, Any]:
    started = client.post("/v1/files", announced(content, **changes)).json()
    put(content, started["file"]["id"])
    completed = client.post(f"/v1/files/{started['file']['id']}/complete")
    assert completed.status == 200, completed.text
    return dict(completed.json())


def image(**fields: Any) -> dict[str, Any]:
    return {"type": "image", "fileId": CAT_ID, **fields}


def messages(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, *parts]}]


def define(client: Client, *parts: dict[str, Any]) -> Any:
    scenario = {"name": "one", "messages": messages(*parts)}
    return client.post("/v1/definitions", {"name": "Images", "content": {"maxTurns": 1}, "scenarios": [scenario]})


def sweep(later: timedelta) -> dict[ErasureResult, int]:
    return {result: n for result, n in erase_due(datetime.now(UTC) + later, lambda: 900.0).items() if n}


def test_an_upload_is_bound_to_the_announced_content(client: Client) -> None:
    answer = client.post("/v1/files", announced(CAT))
    assert answer.status == 200
    file, sent = answer.json()["file"], answer.json()["upload"]
    assert (file["id"], file["status"], file["width"]) == (CAT_ID, "PENDING", None)
    assert sent["method"] == "PUT"
    assert sent["headers"].keys() == {"content-type", "x-amz-checksum-sha256"}
    url = urlsplit(sent["url"])
    assert url.path.endswith(f"/uploads/acme/{CAT_ID}")
    assert parse_qs(url.query)["X-Amz-SignedHeaders"] == ["content-length;content-type;host;x-amz-checksum-sha256"]


def test_the_bucket_lets_pages_send_the_headers_of_an_upload(client: Client) -> None:
    sent = client.post("/v1/files", announced(CAT)).json()["upload"]
    cors = resources()["Bucket"]["Properties"]["CorsConfiguration"]["Fn::If"][1]
    (rule,) = cors["CorsRules"]
    assert sent["headers"].keys() <= {*rule["AllowedHeaders"]}
    assert sent["method"] in rule["AllowedMethods"]


def test_an_uploaded_file_is_checked_listed_and_read(client: Client) -> None:
    file = upload(client)
    assert (file["status"], file["width"], file["height"]) == ("READY", 4, 3)
    assert client.get("/v1/files").json()["items"] == [file]
    read = client.get(f"/v1/files/{CAT_ID}").json()
    query = parse_qs(urlsplit(read.pop("downloadUrl")).query)
    assert read == file
    assert query["response-content-disposition"] == ["attachment; filename*=UTF-8''cat.png"]
    assert list(blobs.list_keys("uploads/")) == []


def test_content_that_is_there_needs_no_upload(client: Client) -> None:
    upload(client)
    again = client.post("/v1/files", announced(CAT, name="other.png")).json()
    assert again["upload"] is None
    assert (again["file"]["status"], again["file"]["name"]) == ("READY", "cat.png")


def test_completing_twice_changes_nothing(client: Client) -> None:
    file = upload(client)
    assert client.post(f"/v1/files/{CAT_ID}/complete").json() == file


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": "../cat.png"}, "name"),
        ({"name": "a\\b.png"}, "name"),
        ({"name": "cat\n.png"}, "name"),
        ({"name": ".."}, "name"),
        ({"type": "image/svg+xml"}, "type"),
        ({"size": 6 * 1024 * 1024}, "size"),
        ({"size": 0}, "size"),
        ({"sha256": "abc"}, "sha256"),
    ],
)
def test_what_cannot_be_uploaded_is_refused_at_once(client: Client, changes: dict[str, Any], field: str) -> None:
    answer = client.post("/v1/files", announced(CAT, **changes))
    assert answer.status == 422
    assert answer.fields() == [field]


@pytest.mark.parametrize(
    ("content", "uploaded", "media_type", "field"),
    [
        (CAT, png(5, 5), "image/png", "sha256"),
        (CAT, CAT + bytes(5 * 1024 * 1024), "image/png", "size"),
        (b"<svg/>", b"<svg/>", "image/png", "type"),
        (CAT, CAT, "image/gif", "type"),
        (CAT[:-1], CAT[:-1], "image/png", "type"),
        (PDF, PDF, "image/png", "type"),
    ],
)
def test_an_upload_of_something_else_is_refused_and_removed(
    client: Client, content: bytes, uploaded: bytes, media_type: str, field: str
) -> None:
    stored_id = client.post("/v1/files", announced(content, media_type=media_type)).json()["file"]["id"]
    put(uploaded, stored_id)
    answer = client.post(f"/v1/files/{stored_id}/complete")
    assert answer.status == 422
    assert answer.fields() == [field]
    assert list(blobs.list_keys("uploads/")) == []
    assert client.get(f"/v1/files/{stored_id}").status == 404


def test_a_file_that_was_not_uploaded_cannot_be_completed(client: Client) -> None:
    client.post("/v1/files", announced(CAT))
    assert client.post(f"/v1/files/{CAT_ID}/complete").status == 409
    assert client.post("/v1/files/file_unknown/complete").status == 404


def test_a_viewer_may_read_files_but_not_change_them(client: Client, viewer: str) -> None:
    upload(client)
    assert client.get(f"/v1/files/{CAT_ID}", token=viewer).status == 200
    assert client.post("/v1/files", announced(CAT), token=viewer).status == 403
    assert client.delete(f"/v1/files/{CAT_ID}", token=viewer).status == 403


def test_another_workspaces_file_does_not_exist(client: Client, stranger: str) -> None:
    upload(client)
    assert client.get(f"/v1/files/{CAT_ID}", token=stranger).status == 404
    assert client.delete(f"/v1/files/{CAT_ID}", token=stranger).status == 404
    assert client.get("/v1/files", token=stranger).json()["items"] == []
    scenario = {"messages": messages(image())}
    answer = client.post(
        "/v1/definitions", {"name": "x", "content": {"maxTurns": 1}, "scenarios": [scenario]}, token=stranger
    )
    assert answer.fields() == ["scenarios.0.messages.0.content.1.fileId"]
    # Only who has the content gets the file: knowing the checksum is not enough.
    assert client.post("/v1/files", announced(CAT), token=stranger).json()["upload"] is not None


def test_a_deleted_file_is_erased_by_the_next_sweep(client: Client, cloud: Settings) -> None:
    upload(client)
    assert client.delete(f"/v1/files/{CAT_ID}").status == 204
    assert client.get(f"/v1/files/{CAT_ID}").status == 404
    assert client.get("/v1/files").json()["items"] == []
    assert client.delete(f"/v1/files/{CAT_ID}").status == 404
    assert sweep(timedelta(minutes=1)) == {ErasureResult.ERASED: 1}
    left = [place for place in places_with(CAT_ID, cloud) if "#audit" not in place]
    assert left == []
    assert list(blobs.list_keys("files/")) == []


def test_a_deleted_file_stays_for_active_runs_for_less_than_a_day(client: Client) -> None:
    upload(client)
    ActiveRunItem.for_run(RunRef("acme", "run_1")).save()
    client.delete(f"/v1/files/{CAT_ID}")
    sweep(timedelta(minutes=1))
    assert list(blobs.list_keys("files/")) == [f"files/acme/{CAT_ID}"]
    sweep(timedelta(hours=23, minutes=1))
    assert list(blobs.list_keys("files/")) == []
    active_runs.remove(RunRef("acme", "run_1"))


def test_a_deleted_file_is_there_again_once_it_is_announced(client: Client) -> None:
    upload(client)
    client.delete(f"/v1/files/{CAT_ID}")
    assert client.post("/v1/files", announced(CAT)).json()["upload"] is None
    sweep(timedelta(minutes=1))
    assert client.get(f"/v1/files/{CAT_ID}").status == 200
    assert list(blobs.list_keys("files/")) == [f"files/acme/{CAT_ID}"]


def test_a_restored_table_loses_a_deleted_file_again(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    upload(client)
    backup = _item()
    client.delete(f"/v1/files/{CAT_ID}")
    sweep(timedelta(minutes=1))
    backup.save()
    reapply_deletions(NOW + timedelta(minutes=2))
    assert client.get(f"/v1/files/{CAT_ID}").status == 404


def _item() -> Any:
    from cupel_core.store.files import FileItem

    return FileItem.get(keys.files("acme"), CAT_ID)


def test_a_message_refers_to_a_file(client: Client) -> None:
    upload(client)
    made = define(client, image(name="my cat.png", detail="high"))
    assert made.status == 201, made.text
    (scenario,) = client.get(f"/v1/definitions/{made.json()['id']}/scenarios").json()["items"]
    assert scenario["messages"][0]["content"] == [
        {"type": "text", "text": "What is this?"},
        {
            "type": "image",
            "fileId": CAT_ID,
            "name": "my cat.png",
            "detail": "high",
            "mediaType": "image/png",
            "size": len(CAT),
            "width": 4,
            "height": 3,
        },
    ]


def test_what_was_read_can_be_sent_back(client: Client) -> None:
    upload(client)
    made = define(client, image()).json()
    (scenario,) = client.get(f"/v1/definitions/{made['id']}/scenarios").json()["items"]
    changes = {"messages": scenario["messages"], "name": "two"}
    answer = client.patch(f"/v1/definitions/{made['id']}/scenarios/{scenario['id']}", changes)
    assert answer.status == 200, answer.text
    assert answer.json()["messages"] == scenario["messages"]


def test_a_data_url_is_stored_as_a_file(client: Client) -> None:
    made = define(client, {"type": "image", "dataUrl": encode(CAT, FileFormat.PNG), "name": "cat.png"})
    assert made.status == 201, made.text
    (scenario,) = client.get(f"/v1/definitions/{made.json()['id']}/scenarios").json()["items"]
    part = scenario["messages"][0]["content"][1]
    assert part["fileId"] == CAT_ID
    assert "dataUrl" not in part
    assert client.get(f"/v1/files/{CAT_ID}").json()["name"] == "cat.png"


def test_a_prompt_of_a_definition_may_have_a_file(client: Client) -> None:
    prompt = {"id": "p", "messages": messages({"type": "image", "dataUrl": encode(CAT, FileFormat.PNG)})}
    made = client.post("/v1/definitions", {"name": "Images", "content": {"prompts": [prompt]}})
    assert made.status == 201, made.text
    content = made.json()["content"]
    assert content["prompts"][0]["messages"][0]["content"][1]["fileId"] == CAT_ID
    # What was read can be sent back, and used in a fork.
    assert (
        client.patch(f"/v1/definitions/{made.json()['id']}", {"content": {"prompts": content["prompts"]}}).status == 200
    )
    fork = client.post(f"/v1/definitions/{made.json()['id']}/fork", {"content": {"prompts": content["prompts"]}})
    assert fork.status == 201


@pytest.mark.parametrize(
    ("part", "field"),
    [
        ({"type": "image", "fileId": "file_" + "0" * 32}, "scenarios.0.messages.0.content.1.fileId"),
        ({"type": "file", "fileId": CAT_ID}, "scenarios.0.messages.0.content.1.type"),
        ({"type": "image", "dataUrl": encode(CAT, FileFormat.GIF)}, "scenarios.0.messages.0.content.1.dataUrl"),
        ({"type": "image", "dataUrl": "https://x.test/a.png"}, "scenarios.0.messages.0.content.1.dataUrl"),
        ({"type": "image", "dataUrl": "data:image/svg+xml;base64,AA=="}, "scenarios.0.messages.0.content.1.dataUrl"),
        ({"type": "image", "fileId": CAT_ID, "name": "a/b"}, "scenarios.0.messages.0.content.1.name"),
    ],
)
def test_a_part_that_is_wrong_is_named(client: Client, part: dict[str, Any], field: str) -> None:
    upload(client)
    answer = define(client, part)
    assert answer.status == 422
    assert answer.fields() == [field]


def test_a_file_that_is_missing_is_named_by_both_fields_that_could_give_it(client: Client) -> None:
    answer = define(client, {"type": "image"})
    part = "scenarios.0.messages.0.content.1"
    assert (answer.status, answer.fields()) == (422, [f"{part}.fileId", f"{part}.dataUrl"])


def test_only_a_users_message_may_have_files(client: Client) -> None:
    upload(client)
    scenario = {"messages": [{"role": "system", "content": [image()]}, {"role": "user", "content": "Hello"}]}
    answer = client.post("/v1/definitions", {"name": "x", "content": {"maxTurns": 1}, "scenarios": [scenario]})
    assert answer.fields() == ["scenarios.0.messages.0"]


def test_a_data_url_larger_than_a_request_is_refused(client: Client) -> None:
    answer = define(client, {"type": "image", "dataUrl": f"data:image/png;base64,{'A' * 10_000_000}"})
    assert answer.status == 413
    assert "POST /v1/files" in answer.text


@pytest.mark.parametrize(
    ("targets", "field"),
    [
        ({"models": ["sim/steady", "custom/text"]}, None),
        ({"models": ["sim/steady", "openai/gpt-3.5-turbo"]}, "models.1"),
        ({"targets": [{"model": "openai/gpt-3.5-turbo", "label": "old"}]}, "targets.0.model"),
    ],
)
def test_a_target_that_takes_no_images_is_refused_at_the_start(
    client: Client, targets: dict[str, Any], field: str | None
) -> None:
    client.put("/v1/providers/openai", {"apiKey": "sk-test"})
    client.put("/v1/providers/custom", {"baseUrl": "https://models.test/v1"})
    upload(client)
    made = define(client, image()).json()
    answer = client.post("/v1/runs", {"definitionId": made["id"], **targets})
    assert answer.status == (201 if field is None else 422), answer.text
    if field:
        assert answer.fields() == [field]
        assert "takes no images, and a message has one" in answer.text


def test_scenarios_without_images_can_be_run_beside_others(client: Client) -> None:
    client.put("/v1/providers/openai", {"apiKey": "sk-test"})
    upload(client)
    made = define(client, image()).json()
    added = client.post(f"/v1/definitions/{made['id']}/scenarios", {"items": [{"prompt": "Hello"}]}).json()
    run = {"scenarioId": added["ids"][0], "model": "openai/gpt-3.5-turbo"}
    assert client.post("/v1/playground/runs", run).status == 201


def test_an_agent_that_takes_text_only_is_refused_at_the_start(client: Client) -> None:
    upload(client)
    made = define(client, image()).json()
    agent = client.post(
        "/v1/connectors", {"name": "agent", "type": "langgraph", "baseUrl": "https://agent.test"}
    ).json()
    run = {"definitionId": made["id"], "targets": [{"connectorId": agent["id"], "label": "agent"}]}
    answer = client.post("/v1/runs", run)
    assert answer.fields() == ["targets.0.connectorId"]
    assert "takes text only" in answer.text
