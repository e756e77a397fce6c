"""`cupel import` with images: they are uploaded first, or named by path in a definition file."""

import json
from pathlib import Path

import pytest

from cupel.client import Client
from cupel.files import read_definition
from cupel_core.domain.files.data_urls import encode
from cupel_core.domain.files.formats import FileFormat, digest_of, file_id
from cupel_core.store.settings import Settings
from tests.files_for_tests import png
from tests.unit.cupel.api_function import command_of, connect_to_api_function
from tests.unit.cupel.fake_api import Cupel

CAT, DOG = png(4, 3), png(5, 5)
CAT_ID, DOG_ID = (file_id(digest_of(each)) for each in (CAT, DOG))
DOG_URL = encode(DOG, FileFormat.PNG)
CHAT = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "{{image}}"}}]}]
TESTS = [{"vars": {"image": image}} for image in ("file://cat.png", DOG_URL)]
CONFIG = {"description": "Animals", "prompts": [json.dumps(CHAT)], "providers": ["echo"], "tests": TESTS}
SAMPLE = {"input": [{"role": "user", "content": [{"type": "image", "image": "cat.png"}]}], "target": "cat"}


@pytest.fixture
def client(cloud: Settings) -> Client:
    return connect_to_api_function()


@pytest.fixture
def cupel(client: Client) -> Cupel:
    return command_of(client)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cat.png").write_bytes(CAT)
    (tmp_path / "promptfooconfig.yaml").write_text(json.dumps(CONFIG))
    (tmp_path / "samples.jsonl").write_text(json.dumps(SAMPLE))
    return tmp_path


def imported(cupel: Cupel, *arguments: str) -> str:
    result = cupel("import", *arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return str(json.loads(result.stdout)["definitions"][0]["id"])


def files_of(client: Client, definition_id: str) -> list[str]:
    scenarios = client.list_scenarios(definition_id)
    return [part["fileId"] for each in scenarios for part in each["messages"][0]["content"]]


def test_images_are_uploaded_with_a_configuration(client: Client, cupel: Cupel, folder: Path) -> None:
    definition_id = imported(cupel, "promptfoo", str(folder / "promptfooconfig.yaml"))
    assert files_of(client, definition_id) == [CAT_ID, DOG_ID]
    assert {file["id"] for file in client.list_files()} == {CAT_ID, DOG_ID}


def test_images_are_uploaded_with_samples(client: Client, cupel: Cupel, folder: Path) -> None:
    definition_id = imported(cupel, "inspect", str(folder / "samples.jsonl"))
    assert files_of(client, definition_id) == [CAT_ID]


def test_a_dry_run_uploads_nothing(client: Client, cupel: Cupel, folder: Path) -> None:
    for arguments in (("promptfoo", "promptfooconfig.yaml"), ("inspect", "samples.jsonl")):
        imported(cupel, arguments[0], str(folder / arguments[1]), "--dry-run")
    assert list(client.list_files()) == []


def test_a_definition_file_names_images_by_path(cupel: Cupel, folder: Path) -> None:
    output = folder / "out" / "animals.yaml"
    result = cupel("import", "promptfoo", str(folder / "promptfooconfig.yaml"), "--output", str(output))
    assert result.exit_code == 0, result.stderr
    assert "image: ../cat.png" in output.read_text()
    file = read_definition(output)
    assert [each.content for each in file.files.values()] == [CAT]
    assert file.scenarios is not None
    assert file.scenarios[1]["messages"][0]["content"] == [{"type": "image", "dataUrl": DOG_URL}]
