"""Images and PDFs from files beside a definition: uploaded by the command, read in process without a stack."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from cupel import evaluate_async
from cupel.client import Client
from cupel.errors import CupelError, UsageError
from cupel.files import read_definition, read_definitions
from cupel.message_texts import content_text
from cupel_core.domain.files.data_urls import encode
from cupel_core.domain.files.formats import FileFormat, digest_of, file_id
from cupel_core.store.settings import Settings
from tests.files_for_tests import PDF, png
from tests.unit.cupel.api_function import command_of, connect_to_api_function
from tests.unit.cupel.fake_api import Cupel

CAT = png(4, 3)
CAT_ID = file_id(digest_of(CAT))
DEFINITION = """
name: Images
content:
  maxTurns: 1
  prompts:
    - {id: own}
    - {id: compare, messages: [{role: user, content: [{image: cat.png, name: reference.png}, "[message]"]}]}
scenarios:
  - name: one
    messages: [{role: user, content: ["What is this?", {image: cat.png, detail: low}, {file: docs/terms.pdf}]}]
"""


@pytest.fixture
def definition(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "cat.png").write_bytes(CAT)
    (tmp_path / "docs/terms.pdf").write_bytes(PDF)
    path = tmp_path / "images.yaml"
    path.write_text(DEFINITION)
    return path


@pytest.fixture
def client(cloud: Settings) -> Client:
    return connect_to_api_function()


@pytest.fixture
def cupel(client: Client) -> Cupel:
    return command_of(client)


def output_of(cupel: Cupel, *arguments: str) -> Any:
    result = cupel(*arguments)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_paths_become_ids(definition: Path) -> None:
    file = read_definition(definition)
    assert file.scenarios is not None
    assert file.scenarios[0]["messages"][0]["content"] == [
        {"type": "text", "text": "What is this?"},
        {"type": "image", "fileId": CAT_ID, "name": "cat.png", "detail": "low"},
        {"type": "file", "fileId": file_id(digest_of(PDF)), "name": "terms.pdf"},
    ]
    prompts = file.definition["content"]["prompts"]
    assert prompts[1]["messages"][0]["content"][0] == {"type": "image", "fileId": CAT_ID, "name": "reference.png"}
    assert {each.content for each in file.files.values()} == {CAT, PDF}


def test_another_image_makes_another_version(definition: Path) -> None:
    before = read_definition(definition).digest
    (definition.parent / "cat.png").write_bytes(png(5, 5))
    assert read_definition(definition).digest != before


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        ("{image: missing.png}", "images.yaml:4: scenarios.0.messages.0.content.0.image: missing.png cannot be read"),
        (
            "{image: /dev/zero}",
            "scenarios.0.messages.0.content.0.image: /dev/zero cannot be read: is not an ordinary file",
        ),
        ("{image: fake.png}", "fake.png is none of PNG, JPEG, WebP, GIF, PDF"),
        ("{image: terms.pdf}", "terms.pdf is a PDF: use `file`"),
        ("{file: cat.png}", "cat.png is a PNG: use `image`"),
        ("{image: cat.png, size: 3}", "size: is no field of {image: …}; known fields: image, name, detail"),
        ("{type: image, dataUrl: 'https://x.test/a.png'}", "must be a data URL with the file itself"),
        ("{type: image, fileId: nonsense}", "must match"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, part: str, problem: str) -> None:
    (tmp_path / "fake.png").write_text("<svg/>")
    (tmp_path / "terms.pdf").write_bytes(PDF)
    (tmp_path / "cat.png").write_bytes(CAT)
    path = tmp_path / "images.yaml"
    path.write_text(
        f"name: x\ncontent: {{maxTurns: 1}}\nscenarios:\n  - messages: [{{role: user, content: [{part}]}}]\n"
    )
    with pytest.raises(UsageError) as caught:
        read_definition(path)
    assert problem in str(caught.value)


def test_files_of_one_run_bring_their_images(definition: Path) -> None:
    other = definition.with_name("other.yaml")
    (definition.parent / "dog.png").write_bytes(png(9, 9))
    plain = DEFINITION.replace("name: Images", "name: Other").partition("  prompts:")[0]
    asked = "scenarios: [{{name: one, messages: [{{role: user, content: [{{image: {}}}]}}]}}]\n"
    definition.write_text(plain.replace("Other", "Images") + asked.format("cat.png"))
    other.write_text(plain + asked.format("dog.png"))
    assert {each.name for each in read_definitions([definition, other]).files.values()} == {"cat.png", "dog.png"}


async def test_without_a_stack_models_see_the_files(definition: Path) -> None:
    evaluation = await evaluate_async(definition, "sim/steady")
    own, compare = (result.messages for result in evaluation.results)
    assert own[-1].content.startswith("Image 1 (cat.png): PNG, 4×3 pixels, average color #ff0000 (red).\nFile 2 (terms")
    assert "Image 1 (reference.png)" in compare[-1].content
    assert "Image 2 (cat.png)" in compare[-1].content


async def test_without_a_stack_a_data_url_is_a_file_too() -> None:
    part = {"type": "image", "dataUrl": encode(CAT, FileFormat.PNG)}
    scenario = {"messages": [{"role": "user", "content": [part]}]}
    mapping = {"content": {"maxTurns": 1}, "scenarios": [scenario]}
    evaluation = await evaluate_async(mapping, "sim/steady")
    (result,) = evaluation.results
    assert "average color #ff0000" in result.messages[-1].content
    assert "dataUrl" not in json.dumps(result.to_json("run_1"))


async def test_without_a_stack_a_scenario_may_name_a_file(definition: Path) -> None:
    scenario = {"messages": [{"role": "user", "content": [{"image": str(definition.parent / "cat.png")}]}]}
    evaluation = await evaluate_async(
        {"content": {"maxTurns": 1}, "scenarios": [{"prompt": "?"}]}, "sim/steady", scenarios=[scenario]
    )
    assert "(red)" in evaluation.results[0].messages[-1].content


async def test_without_a_stack_a_model_of_texts_is_refused(definition: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with pytest.raises(UsageError, match=r"targets\.0: openai/gpt-3\.5-turbo takes no images, and a message has one"):
        await evaluate_async(definition, "openai/gpt-3.5-turbo")


async def test_without_a_stack_the_id_of_a_stored_file_is_unknown() -> None:
    scenario = {"messages": [{"role": "user", "content": [{"type": "image", "fileId": CAT_ID}]}]}
    with pytest.raises(UsageError, match=f"there is no file {CAT_ID}"):
        await evaluate_async({"content": {"maxTurns": 1}, "scenarios": [scenario]}, "sim/steady")


def test_a_definition_is_uploaded_with_its_files(cupel: Cupel, definition: Path) -> None:
    started = output_of(cupel, "run", str(definition), "--models", "sim/steady", "--json")
    assert started["jobCount"] == 2
    assert {file["name"] for file in output_of(cupel, "files", "--json")} == {"cat.png", "terms.pdf"}
    table = cupel("files").stdout
    assert CAT_ID in table
    assert "4×3" in table


def test_a_listed_scenario_shows_notes(cupel: Cupel, definition: Path) -> None:
    definition_id = output_of(cupel, "definitions", "create", str(definition), "--json")["id"]
    listed = cupel("scenarios", "list", definition_id).stdout
    assert "What is this?" in listed
    assert "[image cat.png, 4×3 PNG]" in listed.replace("\n", " ") or "…" in listed


def test_files_are_uploaded_shown_and_deleted(cupel: Cupel, definition: Path) -> None:
    uploaded = cupel("files", "upload", str(definition.parent / "cat.png"))
    assert uploaded.stdout == f"{CAT_ID}  cat.png  4×3, {len(CAT)} bytes\n"
    assert output_of(cupel, "files", "show", CAT_ID)["downloadUrl"].startswith("https://")
    assert cupel("files", "delete", CAT_ID).exit_code == 0
    assert output_of(cupel, "files", "--json") == []


def test_a_text_is_not_uploaded(cupel: Cupel, definition: Path) -> None:
    result = cupel("files", "upload", str(definition))
    assert result.exit_code == 2
    assert "images.yaml is none of PNG, JPEG, WebP, GIF, PDF" in result.stderr


def test_the_token_is_not_sent_to_the_bucket() -> None:
    sent: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        if request.method == "PUT":
            return httpx.Response(403, text="<Error><Message>Request has expired</Message></Error>")
        upload = {"url": "https://bucket.test/x?X-Amz-Signature=1", "headers": {"content-type": "image/png"}}
        return httpx.Response(200, json={"file": {"id": CAT_ID}, "upload": upload})

    client = Client("http://api.test", "secret", transport=httpx.MockTransport(respond), sleep=lambda _: None)
    with pytest.raises(CupelError, match="the upload was refused with status 403: Request has expired"):
        client.upload_file(CAT, "cat.png", "image/png")
    assert "authorization" in sent[0].headers
    assert "authorization" not in sent[1].headers
    assert sent[1].content == CAT


def test_a_message_with_files_is_shown_as_a_text() -> None:
    part = {
        "type": "image",
        "fileId": CAT_ID,
        "name": "a.png",
        "mediaType": "image/png",
        "size": 9,
        "width": 2,
        "height": 1,
    }
    message = {"role": "user", "content": [{"type": "text", "text": "What?"}, part]}
    assert content_text(message) == "What?\n[image a.png, 2×1 PNG]"
