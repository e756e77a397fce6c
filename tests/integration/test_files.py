"""An image from its upload to what a model says of it, by the addresses that the bucket really checks."""

import httpx
import pytest

from cupel.client import Client
from cupel.errors import ApiProblem, CupelError
from tests.eval_api import Json, evaluate
from tests.files_for_tests import png

RED, OTHER = png(64, 48, (220, 40, 40)), png(5, 5)


@pytest.fixture(scope="module")
def file(api: Client) -> Json:
    return api.upload_file(RED, "red.png", "image/png")


def test_a_model_sees_an_uploaded_image(api: Client, file: Json) -> None:
    content = [{"type": "text", "text": "Which color?"}, {"type": "image", "fileId": file["id"], "name": "red.png"}]
    scenario = {
        "messages": [{"role": "user", "content": content}],
        "assertions": [{"type": "contains", "value": "red"}],
    }
    definition = api.create_definition({"name": "Images", "content": {"maxTurns": 1}, "scenarios": [scenario]})
    run = evaluate(api, definition["id"], "sim/steady")
    (transcript,) = api.list_transcripts(run["id"])
    asked, answer = transcript["content"]["messages"]
    assert answer["content"].startswith("Image 1 (red.png): PNG, 64×48 pixels, average color #dc2828 (red).")
    assert asked["content"][1]["fileId"] == file["id"]
    assert transcript["result"]["success"]


def test_a_file_is_read_from_its_address(api: Client, file: Json) -> None:
    response = httpx.get(api.get_file(file["id"])["downloadUrl"])
    assert response.content == RED
    assert response.headers["content-disposition"].startswith("attachment")


def test_the_address_of_an_upload_accepts_no_other_content(api: Client) -> None:
    sizes = {"name": "x.png", "type": "image/png", "size": len(OTHER), "sha256": "0" * 64}
    announced = api.create_file(sizes)
    with pytest.raises(CupelError, match="the upload was refused with status 400"):
        api._put(announced["upload"]["url"], OTHER, announced["upload"]["headers"])
    with pytest.raises(ApiProblem) as caught:
        api.complete_file(announced["file"]["id"])
    assert caught.value.status == 409


def test_a_deleted_file_is_gone(api: Client) -> None:
    other = api.upload_file(OTHER, "other.png", "image/png")
    api.delete_file(other["id"])
    with pytest.raises(ApiProblem) as caught:
        api.get_file(other["id"])
    assert caught.value.status == 404
