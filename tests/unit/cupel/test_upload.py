"""An edited file makes the next version of its definition, and an unchanged one none."""

import json
from pathlib import Path

import httpx
import pytest

from cupel.client import Client
from cupel.errors import CupelError, UsageError
from cupel.files import read_definition, read_definition_changes
from cupel.upload import MAX_DIGESTS, Change, UploadedDefinition, own_tags, update_from_file, upload_definition
from tests.unit.cupel.fake_api import Cupel, FakeApi

FACTS = """
name: Facts
tags: [demo]
content: {system: Be brief.}
scenarios:
  - {prompt: one}
  - {prompt: two}
"""
MATRIX = """
name: Facts
content: {template: "About [topic].", dimensions: [{name: topic, levels: [{score: 1, label: a}]}]}
generate: {mode: matrix}
"""


class File:
    def __init__(self, path: Path, client: Client) -> None:
        self.path = path
        self._client = client

    def upload(self, text: str, *, new: bool = False) -> UploadedDefinition:
        self.path.write_text(text)
        return upload_definition(self._client, read_definition(self.path), lambda _: None, new=new)


@pytest.fixture
def file(tmp_path: Path, client: Client) -> File:
    return File(tmp_path / "facts.yaml", client)


def test_an_unchanged_file_makes_no_version(api: FakeApi, file: File):
    first, second = file.upload(FACTS), file.upload(FACTS + "# a comment")
    assert (first.id, first.version, first.change) == ("def_1", 1, Change.CREATED)
    assert (second.id, second.version, second.change) == ("def_1", 1, Change.UNCHANGED)
    assert api.bodies("PATCH", "/definitions/def_1") == []


def test_an_edited_file_makes_one_version_of_content_and_scenarios(api: FakeApi, file: File):
    file.upload(FACTS)
    edited = file.upload(FACTS.replace("Be brief.", "Be polite.").replace("two", "three"))
    assert (edited.id, edited.version, edited.change) == ("def_1", 2, Change.UPDATED)
    (changes,) = api.bodies("PATCH", "/definitions/def_1")
    assert changes["content"] == {"system": "Be polite."}
    assert api.scenarios["def_1"] == [{"prompt": "one"}, {"prompt": "three"}]
    assert len(api.definitions) == 1


def test_a_field_removed_from_the_file_is_removed_from_the_content(api: FakeApi, file: File):
    file.upload(FACTS.replace("{system: Be brief.}", "{system: Be brief., maxTurns: 3}"))
    file.upload(FACTS)
    assert api.bodies("PATCH", "/definitions/def_1")[0]["content"] == {"system": "Be brief.", "maxTurns": None}


def test_an_earlier_file_is_the_version_that_it_made(file: File):
    file.upload(FACTS)
    file.upload(FACTS.replace("two", "three"))
    again = file.upload(FACTS)
    assert (again.version, again.latest, again.change) == (1, 2, Change.UNCHANGED)


def test_a_change_of_another_author_does_not_change_what_an_unchanged_file_runs(file: File, client: Client):
    file.upload(FACTS)
    client.update_definition("def_1", {"content": {"system": "Edited elsewhere"}})
    assert file.upload(FACTS).version == 1
    assert file.upload(FACTS.replace("two", "three")).version == 3


def test_the_definition_may_be_named_by_its_id(api: FakeApi, file: File):
    file.upload(FACTS)
    renamed = file.upload("id: def_1\n" + FACTS.replace("Facts", "Quiz"))
    assert (renamed.id, renamed.name, renamed.version) == ("def_1", "Quiz", 1)
    assert len(api.definitions) == 1


def test_an_unknown_id_is_named_with_its_line(file: File):
    with pytest.raises(UsageError, match=r"facts\.yaml:1: id: there is no definition def_9"):
        file.upload("id: def_9\n" + FACTS)


def test_the_folder_belongs_to_the_name(api: FakeApi, file: File):
    file.upload(FACTS)
    assert file.upload("folder: quiz\n" + FACTS).id == "def_2"


def test_another_definition_is_made_on_request(file: File):
    file.upload(FACTS)
    assert (file.upload(FACTS, new=True).id, file.upload(FACTS).id) == ("def_2", "def_2")


def test_several_definitions_of_the_same_name_are_listed(file: File):
    file.upload(FACTS)
    file.upload(FACTS, new=True)
    with pytest.raises(UsageError, match="2 definitions have this name and folder: def_2, def_1; name one with `id`"):
        file.upload(FACTS.replace("two", "three"))


def test_a_change_is_refused_if_the_definition_changed_meanwhile_and_then_repeated(api: FakeApi, file: File):
    file.upload(FACTS)
    etag, read = "", api._read

    def changed_after_reading(request: httpx.Request, path: list[str]) -> httpx.Response | None:
        nonlocal etag
        response = read(request, path)
        if path == ["definitions", "def_1"] and not etag and response is not None:
            etag = response.headers["ETag"]
            api.refusals.append(httpx.Response(412, json={"title": "Precondition failed"}))
        return response

    api._read = changed_after_reading  # type: ignore[method-assign]
    assert file.upload(FACTS.replace("two", "three")).version == 2
    patches = [request for request in api.requests if request.method == "PATCH"]
    assert [request.headers["If-Match"] for request in patches] == [etag, '"1"']


def test_scenarios_of_several_requests_are_one_upload(api: FakeApi, file: File):
    scenarios = [{"prompt": str(number)} for number in range(2_500)]
    text = json.dumps({"name": "Long", "content": {"system": "x"}, "scenarios": scenarios})
    assert file.upload(text).version == 3
    assert (file.upload(text).version, file.upload(text).change) == (3, Change.UNCHANGED)
    assert len(api.definitions) == 1


def _definition_text(scenarios: int) -> str:
    prompts = [{"prompt": str(number)} for number in range(scenarios)]
    return json.dumps({"name": "Long", "content": {"system": "x"}, "scenarios": prompts})


def _interrupt_second_request(api: FakeApi, file: File, text: str) -> None:
    api.failing_path = "/v1/definitions/def_1/scenarios"
    with pytest.raises(CupelError):
        file.upload(text)
    api.failing_path = ""


@pytest.mark.parametrize("is_first_upload", [True, False])
def test_an_interrupted_upload_is_continued(api: FakeApi, file: File, is_first_upload: bool):
    text = _definition_text(2_500)
    if not is_first_upload:
        file.upload(_definition_text(2))
    _interrupt_second_request(api, file, text)
    sent = len(api.requests)
    completed = file.upload(text)
    assert api.scenarios["def_1"] == json.loads(text)["scenarios"]
    assert [len(body["items"]) for body in api.bodies("POST", "/definitions/def_1/scenarios")[-2:]] == [1_000, 500]
    assert not any(b"scenarios" in request.content for request in api.requests[sent:] if request.method == "PATCH")
    assert (file.upload(text).version, file.upload(text).change) == (completed.version, Change.UNCHANGED)
    assert [tag for tag in api.definitions[0]["tags"] if tag.startswith("upload:")] == []


def test_an_interrupted_upload_of_another_file_is_not_continued(api: FakeApi, file: File):
    _interrupt_second_request(api, file, _definition_text(1_500))
    file.upload(_definition_text(1_200))
    assert len(api.scenarios["def_1"]) == 1_200


def test_an_interrupted_upload_begins_again_if_others_changed_the_definition(api: FakeApi, file: File, client: Client):
    text = _definition_text(1_500)
    _interrupt_second_request(api, file, text)
    client.create_scenarios("def_1", [{"prompt": "of another author"}])
    file.upload(text)
    assert api.scenarios["def_1"] == json.loads(text)["scenarios"]


def test_an_interrupted_generation_is_repeated(api: FakeApi, file: File):
    api.generations = [{"status": "ERROR", "error": "busy"}]
    with pytest.raises(CupelError):
        file.upload(MATRIX)
    api.scenarios["def_1"] = []
    assert (file.upload(MATRIX).version, len(api.scenarios["def_1"])) == (1, 1)
    file.upload(MATRIX)
    assert len(api.bodies("POST", "/definitions/def_1/scenarios/generate")) == 2


def test_a_file_limits_what_the_model_of_its_scenarios_may_cost(api: FakeApi, file: File):
    generate = {"mode": "llm", "model": "sim/steady", "maxBudgetUsd": 2}
    file.upload(MATRIX.replace("{mode: matrix}", json.dumps(generate)))
    assert api.bodies("POST", "/definitions/def_1/scenarios/generate") == [generate]


def test_an_edited_template_generates_its_scenarios_again(api: FakeApi, file: File):
    file.upload(MATRIX)
    assert file.upload(MATRIX.replace("About", "On")).version == 2
    assert api.bodies("PATCH", "/definitions/def_1")[0]["scenarios"] == []
    assert len(api.scenarios["def_1"]) == 1


def test_tags_of_the_file_replace_those_of_the_definition(api: FakeApi, file: File):
    file.upload(FACTS)
    file.upload(FACTS.replace("[demo]", "[quiz]"))
    assert own_tags(api.definitions[0]["tags"]) == ["quiz"]
    assert (api.definitions[0]["version"], file.upload(FACTS.replace("[demo]", "[quiz]")).change) == (1, "unchanged")


def test_a_definition_remembers_its_newest_files(api: FakeApi, file: File):
    for number in range(MAX_DIGESTS + 2):
        file.upload(FACTS.replace("two", f"number {number}"))
    assert len(api.definitions[0]["tags"]) == MAX_DIGESTS + len(["demo"])


def test_an_update_leaves_what_the_file_omits(api: FakeApi, file: File, client: Client):
    file.upload(FACTS)
    file.path.write_text("content: {system: Be polite.}")
    updated = update_from_file(client, "def_1", read_definition_changes(file.path))
    assert (updated.name, updated.version) == ("Facts", 2)
    assert api.scenarios["def_1"] == [{"prompt": "one"}, {"prompt": "two"}]
    assert own_tags(api.definitions[0]["tags"]) == ["demo"]


def test_a_refused_scenario_is_named_by_its_line(api: FakeApi, file: File):
    errors = [{"field": "scenarios.1.personaIds", "message": "there is no persona Eve"}]
    refusal = httpx.Response(422, json={"title": "Invalid request", "errors": errors})
    api.respond_to_posts = refusal
    with pytest.raises(UsageError, match=r"facts\.yaml:7: scenarios\.1\.personaIds: there is no persona Eve"):
        file.upload(FACTS)


def test_a_run_of_a_file_says_and_fixes_its_version(api: FakeApi, cupel: Cupel, tmp_path: Path):
    path = tmp_path / "facts.yaml"
    path.write_text(FACTS)
    assert (
        "definition def_1 (Facts) version 1 (new definition)"
        in cupel("run", str(path), "--models", "sim/steady").stderr
    )
    path.write_text(FACTS.replace("two", "three"))
    assert (
        "definition def_1 (Facts) version 2 (new version)" in cupel("run", str(path), "--models", "sim/steady").stderr
    )
    path.write_text(FACTS)
    stderr = cupel("run", str(path), "--models", "sim/steady").stderr
    assert "definition def_1 (Facts) version 1 (unchanged; the latest is 2)" in stderr
    assert [body["definitionVersion"] for body in api.bodies("POST", "/runs")] == [1, 2, 1]


def test_only_a_file_makes_another_definition(api: FakeApi, cupel: Cupel):
    refused = cupel("run", "def_7", "--models", "sim/steady", "--new")
    assert (refused.exit_code, "--new: needs a definition file" in refused.stderr) == (2, True)
    assert cupel("run", "facts.yaml", "--models", "sim/steady", "--new", "--in-process").exit_code == 2
