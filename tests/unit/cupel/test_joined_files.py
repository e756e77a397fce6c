"""Several definition files as the prompts of one run."""

from pathlib import Path
from typing import Any

import pytest
import yaml

import cupel
from cupel.errors import UsageError
from cupel.files import DefinitionFile, read_definitions
from tests.unit.cupel.fake_api import SIMULATED, Cupel, FakeApi

type Json = dict[str, Any]

SCENARIOS = [
    {"name": "France", "prompt": "Capital of France?", "assertions": [{"type": "contains", "value": "France"}]},
    {"name": "Peru", "prompt": "Capital of Peru?", "assertions": [{"type": "contains", "value": "Peru"}]},
]
LEVELS = [{"score": 1, "label": "gold"}, {"score": 2, "label": "ash", "options": ["bone ash"]}]
DIMENSIONS = [{"name": "topic", "levels": LEVELS}]


class Files:
    """Writes definition files and joins them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, system: str | None = None, **changes: Any) -> Path:
        content = {"maxTurns": 1, **({"system": system} if system else {})}
        document = {"name": name.title(), "content": content, "scenarios": SCENARIOS, **changes}
        path = self.folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump({key: value for key, value in document.items() if value is not None}))
        return path

    def generated(self, name: str, template: str, **changes: Any) -> Path:
        content = {"template": template, "dimensions": DIMENSIONS}
        return self.write(name, **{"content": content, "scenarios": None, "generate": {"mode": "matrix"}, **changes})

    def join(self, *paths: Path) -> DefinitionFile:
        return read_definitions(paths)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def answers(paths: list[Path], **options: Any) -> list[str]:
    evaluation = cupel.evaluate([*paths], "sim/echo", progress=False, **options)
    return [result.messages[-1].content for result in evaluation.results]


def test_one_file_is_its_definition(files: Files) -> None:
    assert files.join(files.write("plain", "Be brief.")).definition["content"] == {"maxTurns": 1, "system": "Be brief."}


def test_different_system_prompts_become_prompts_named_after_the_files(files: Files) -> None:
    joined = files.join(files.write("plain", "Be brief."), files.write("polite", "Be polite."))
    assert joined.definition == {
        "name": "Plain + Polite",
        "content": {
            "maxTurns": 1,
            "prompts": [
                {"id": "plain", "label": "Plain", "system": "Be brief."},
                {"id": "polite", "label": "Polite", "system": "Be polite."},
            ],
        },
    }
    assert joined.scenarios == SCENARIOS


def test_a_common_system_prompt_stays_that_of_the_definition(files: Files) -> None:
    asked = [{**each, "prompt": f"Please: {each['prompt']}"} for each in SCENARIOS]
    joined = files.join(files.write("plain", "Be brief."), files.write("polite", "Be brief.", scenarios=asked))
    assert joined.definition["content"]["system"] == "Be brief."
    assert [set(prompt) for prompt in joined.definition["content"]["prompts"]] == [{"id", "label"}] * 2


def test_each_file_sends_its_own_messages(files: Files) -> None:
    asked = [{**each, "prompt": None, "messages": [{"role": "user", "content": each["name"]}]} for each in SCENARIOS]
    asked = [{key: value for key, value in each.items() if value is not None} for each in asked]
    assert answers([files.write("long"), files.write("short", scenarios=asked)]) == [
        "Capital of France?",
        "Capital of Peru?",
        "France",
        "Peru",
    ]


def test_generated_scenarios_are_asked_by_the_template_of_each_file(files: Files) -> None:
    paths = [files.generated("one", "About [topic]."), files.generated("two", "[Topic]: what is it?")]
    assert answers(paths) == ["About gold.", "About bone ash.", "gold: what is it?", "bone ash: what is it?"]


def test_a_system_prompt_in_brackets_is_sent_as_it_is_written(files: Files) -> None:
    paths = [files.write("one", r"Answer [yes], \[no] or [1-5]."), files.write("two", "Answer.")]
    evaluation = cupel.evaluate([*paths], "sim/echo", progress=False)
    assert evaluation.results[0].messages[0].content == r"Answer [yes], \[no] or [1-5]."


def test_a_system_prompt_in_brackets_is_sent_as_it_is_written_with_different_messages_too(files: Files) -> None:
    asked = [{**each, "prompt": each["name"]} for each in SCENARIOS]
    paths = [files.write("one", "Answer [yes]."), files.write("two", scenarios=asked)]
    evaluation = cupel.evaluate([*paths], "sim/echo", progress=False)
    assert evaluation.results[0].messages[0].content == "Answer [yes]."


def test_a_system_prompt_in_brackets_is_refused_where_it_would_be_rendered(files: Files) -> None:
    starts = {"name": "starts", "instructions": "Ask for a haircut."}
    one = files.write("one", "Answer [yes].", scenarios=[SCENARIOS[0], starts])
    two = files.write("two", scenarios=[{**SCENARIOS[0], "prompt": "?"}, starts])
    with pytest.raises(UsageError, match=r"one.yaml:3: content.system: has a placeholder in brackets, so that every"):
        files.join(one, two)


def test_files_contribute_the_prompts_that_they_have(files: Files) -> None:
    own = {"maxTurns": 1, "system": "Be brief.", "prompts": [{"id": "a"}, {"id": "b", "system": "Be rude."}]}
    joined = files.join(files.write("plain"), files.write("both", content=own))
    assert joined.definition["content"]["prompts"] == [
        {"id": "plain", "label": "Plain"},
        {"id": "a", "system": "Be brief."},
        {"id": "b", "system": "Be rude."},
    ]


def test_messages_by_prompt_of_several_files_are_joined(files: Files) -> None:
    def with_messages(name: str) -> Path:
        asked = [{"name": "x", "messagesByPrompt": {name: [{"role": "user", "content": name}]}}]
        return files.write(name, content={"prompts": [{"id": name}]}, scenarios=asked)

    assert answers([with_messages("a"), with_messages("b")]) == ["a", "b"]


def test_an_id_of_a_prompt_may_occur_once(files: Files) -> None:
    paths = [files.write(name, content={"prompts": [{"id": "a"}]}) for name in ("one", "two")]
    with pytest.raises(UsageError, match=r"two.yaml:3: content.prompts.0.id: another file has a prompt with this id"):
        files.join(*paths)


def test_files_of_one_name_in_two_folders_have_different_ids(tmp_path: Path) -> None:
    paths = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        paths.append(Files(tmp_path / folder).write("facts", f"Be {folder}."))
    prompts = read_definitions(paths).definition["content"]["prompts"]
    assert [prompt["id"] for prompt in prompts] == ["facts", "facts-2"]
    assert "label" not in prompts[0]


DIFFERENCES: list[tuple[Json, str]] = [
    ({"content": {"maxTurns": 2}}, "other.yaml:2: content.maxTurns: differs from .*first.yaml; the files of one run"),
    ({"content": {"maxTurns": 1, "decision": {"pattern": "(1)"}}}, "content.decision: differs"),
    ({"scenarios": SCENARIOS[:1]}, "scenarios: has 1, .*first.yaml 2"),
    ({"scenarios": [SCENARIOS[0], {**SCENARIOS[1], "assertions": []}]}, "scenarios.1.assertions: differs"),
    ({"scenarios": [SCENARIOS[0], {**SCENARIOS[1], "metadata": {"vars": {"x": 1}}}]}, "scenarios.1.metadata: differs"),
    (
        {"scenarios": None, "generate": {"mode": "matrix"}, "content": {"maxTurns": 1, "template": "x"}},
        "generate: differs",
    ),
    ({"personas": [{"name": "Ada", "description": "other"}]}, "personas.0: differs from Ada in .*first.yaml"),
]


@pytest.mark.parametrize(("changes", "message"), DIFFERENCES, ids=[message for _, message in DIFFERENCES])
def test_what_differs_is_named(files: Files, changes: Json, message: str) -> None:
    first = files.write("first", personas=[{"name": "Ada", "description": "brief"}])
    with pytest.raises(UsageError, match=message):
        files.join(first, files.write("other", **changes))


def test_templates_with_random_phrases_cannot_be_joined(files: Files) -> None:
    random = {"generate": {"mode": "matrix", "options": "random"}}
    paths = [files.generated("one", "About [topic].", **random), files.generated("two", "[topic]?", **random)]
    with pytest.raises(UsageError, match=r"content.template: differs .*only with \{mode: matrix, options: first\}"):
        files.join(*paths)


def test_files_with_prompts_of_their_own_need_the_same_messages(files: Files) -> None:
    asked = [{**each, "prompt": "?"} for each in SCENARIOS]
    other = files.write("other", content={"maxTurns": 1, "prompts": [{"id": "a"}]}, scenarios=asked)
    with pytest.raises(UsageError, match=r"scenarios.0.prompt: differs"):
        files.join(files.write("first"), other)


def test_files_with_prompts_of_their_own_need_the_same_template(files: Files) -> None:
    own = {"template": "[topic]?", "dimensions": DIMENSIONS, "prompts": [{"id": "a"}]}
    with pytest.raises(UsageError, match=r"content.template: differs"):
        files.join(files.generated("one", "About [topic]."), files.generated("two", "", content=own))


def test_a_file_is_named_once(files: Files) -> None:
    path = files.write("one")
    with pytest.raises(UsageError, match="name each file once"):
        files.join(path, path)


def test_code_is_read_from_one_folder(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    paths = [Files(tmp_path).write("one"), Files(tmp_path / "inner").write("two")]
    with pytest.raises(UsageError, match="with code in assertions, must be in one folder"):
        read_definitions(paths, allow_code=True)


def test_folder_tags_and_personas_are_joined(files: Files) -> None:
    ada, bob = {"name": "Ada", "description": "brief"}, {"name": "Bob", "description": "long"}
    one = files.write("one", folder="f", tags=["a"], personas=[ada])
    joined = files.join(one, files.write("two", folder="f", tags=["a", "b"], personas=[ada, bob]))
    assert (joined.definition["folder"], joined.definition["tags"]) == ("f", ["a", "b"])
    assert joined.personas == [ada, bob]


def test_several_files_are_one_run_of_one_definition(api: FakeApi, cupel: Cupel, files: Files) -> None:
    paths = [files.write("plain", "Be brief."), files.write("polite", "Be polite.")]
    assert cupel("run", *map(str, paths), "--models", SIMULATED).exit_code == 0
    assert [definition["name"] for definition in api.definitions] == ["Plain + Polite"]
    assert [prompt["id"] for prompt in api.definitions[0]["content"]["prompts"]] == ["plain", "polite"]
    assert len(api.bodies("POST", "/runs")) == 1


def test_several_files_in_process_are_rows_of_one_table(cupel: Cupel, files: Files) -> None:
    paths = [files.write("plain", "Be brief."), files.write("polite", "Be polite.")]
    answer = cupel("run", *map(str, paths), "--models", "sim/echo", "--in-process")
    assert answer.exit_code == 0
    assert "4 completed and 0 errored of 4 conversations" in answer.stdout
    assert "sim/echo · Plain" in answer.stdout
    assert "sim/echo · Polite" in answer.stdout


def test_ids_cannot_be_joined(api: FakeApi, cupel: Cupel) -> None:
    answer = cupel("run", "def_1", "def_2", "--models", SIMULATED)
    assert (answer.exit_code, answer.stderr) == (2, "cupel: def_1, def_2: only files can be the prompts of one run\n")
    assert api.bodies("POST", "/runs") == []
