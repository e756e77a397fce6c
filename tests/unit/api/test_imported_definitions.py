"""Whatever is imported can be read, forked, written back and sent again as a request."""

import pytest

from cupel.local_files import FolderFiles
from tests.unit.api.client import Client
from tests.unit.interop.imports.cases import CASE_NAMES, config_path


def folder_of(name: str) -> dict[str, str]:
    """The texts of all files of the folder but the configuration."""
    files = FolderFiles(config_path(name).parent)
    return {path: text for path in files.list_paths() if (text := files.read(path)) and path != "promptfooconfig.yaml"}


@pytest.mark.parametrize("name", CASE_NAMES)
def test_an_imported_definition_can_be_used_like_any_other(client: Client, name: str) -> None:
    answer = client.post(
        "/v1/imports/promptfoo", json={"config": config_path(name).read_text(), "files": folder_of(name)}
    )
    if answer.status == 422:
        assert answer.fields() == ["config"]
        return
    assert answer.status == 201, answer.text
    for made in answer.json()["definitions"]:
        path = f"/v1/definitions/{made['id']}"
        definition = client.get(path)
        assert definition.status == 200, definition.text
        assert client.get(f"{path}/scenarios").status == 200
        content = definition.json()["content"]
        assert client.patch(path, json={"content": content}).status == 200
        fork = client.post(f"{path}/fork", json={"name": "fork"})
        assert fork.status == 201, fork.text
        assert client.get(f"/v1/definitions/{fork.json()['id']}").json()["content"] == content


def test_two_prompts_of_several_lines_can_be_read(client: Client) -> None:
    config = config_path("multiline_prompts").read_text()
    [made] = client.post("/v1/imports/promptfoo", json={"config": config}).json()["definitions"]
    prompts = client.get(f"/v1/definitions/{made['id']}").json()["content"]["prompts"]
    assert [each["label"] for each in prompts] == ["Be brief. Q: {{q}}", "Be long. Q: {{q}}"]
