"""The examples of docs/openai-evals-api.md are run, and the script that it links."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openai import OpenAI

from tests.conftest import ROOT
from tests.documented_blocks import blocks_of
from tests.openai_client import openai_client
from tests.unit.api.client import Client
from tests.unit.interop.openai_evals import service
from tests.unit.interop.openai_evals.flows import carry_out, completions, create_eval
from tests.unit.interop.openai_evals.service import service_client

FIRST, STORED = (block.text for block in blocks_of(ROOT / "docs/openai-evals-api.md") if block.language == "python")
COPYING = (ROOT / "docs/examples/openai_evals/copy_evals.py").read_text()

pytestmark = pytest.mark.usefixtures("finish_starts")


def run_example(text: str, **names: Any) -> dict[str, Any]:
    exec(compile(text, "openai-evals-api.md", "exec"), names)  # noqa: S102 - our own documentation
    return names


def test_the_example_starts_a_run(openai: OpenAI, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.put("/v1/providers/openai", {"apiKey": "sk-test"})
    monkeypatch.setattr("openai.OpenAI", lambda **_: openai)
    run = run_example(FIRST)["run"]
    assert (run.status, run.result_counts.total) == ("queued", 1)


def test_stored_answers_are_graded(openai: OpenAI, client: Client) -> None:
    client.put("/v1/providers/openai", {"apiKey": "sk-test"})
    eval_id = create_eval(openai)
    metadata = {"usecase": "support", "prompt": "v2"}
    carry_out(openai.evals.runs.create(eval_id, data_source=completions(), metadata=metadata).id)
    run = run_example(STORED, client=openai)["run"]
    assert (run.status, run.result_counts.total) == ("queued", 3)


@pytest.fixture
def copy_from(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[OpenAI, str]]:
    """Runs the documented script; returns the client of the copies and what it printed."""

    def copy(*evaluations: dict[str, Any], **options: Any) -> tuple[OpenAI, str]:
        source, target = service_client(*evaluations, **options), openai_client(client, is_strict=False)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("openai.OpenAI", lambda **options: target if options else source)
        capsys.readouterr()
        run_example(COPYING)
        return target, "".join(line for line in capsys.readouterr().out.splitlines(True) if not line.startswith("{"))

    return copy


GRADERS = [service.STRING_CHECK, service.TEXT_SIMILARITY, service.LABEL_MODEL, service.SCORE_MODEL]


@pytest.mark.parametrize("grader", GRADERS, ids=lambda grader: grader["type"])
def test_an_eval_is_copied_as_the_service_returns_it(copy_from: Any, grader: dict[str, Any]) -> None:
    target, printed = copy_from(service.eval_of("Tickets", grader))
    (copied,) = target.evals.list()
    assert printed == ""
    assert (copied.name, copied.metadata) == ("Tickets", {})
    assert copied.testing_criteria[0].name == grader["name"]
    assert copied.data_source_config.schema_["properties"]["item"] == service.CUSTOM["schema"]["properties"]["item"]


def test_the_answers_of_a_run_are_graded_again(copy_from: Any) -> None:
    target, _ = copy_from(service.eval_of("Tickets", service.STRING_CHECK))
    (copied,) = target.evals.list()
    (run,) = target.evals.runs.list(copied.id)
    carry_out(run.id)
    counts = target.evals.runs.retrieve(run.id, eval_id=copied.id).result_counts
    assert (run.name, counts.passed, counts.failed) == ("Categorization text run", 1, 2)


def test_a_copied_run_names_its_model(copy_from: Any) -> None:
    target, _ = copy_from(service.eval_of("Tickets", service.STRING_CHECK))
    (copied,) = target.evals.list()
    assert target.evals.runs.list(copied.id).data[0].metadata == {"model": "gpt-4.1"}


def test_the_rows_of_a_large_run_are_uploaded(copy_from: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "TICKET", {**service.TICKET, "ticket_text": "x" * 1_500_000})
    target, printed = copy_from(service.eval_of("Tickets", service.STRING_CHECK))
    (copied,) = target.evals.list()
    (run,) = target.evals.runs.list(copied.id)
    assert printed == ""
    assert (run.result_counts.total, run.data_source.source.type) == (3, "file_id")


def test_evals_of_stored_completions_become_custom_ones(copy_from: Any) -> None:
    target, printed = copy_from(
        service.eval_of("Logs", service.STRING_CHECK, data_source_config=service.LOGS, metadata=None)
    )
    (copied,) = target.evals.list()
    assert (copied.data_source_config.type, printed) == ("custom", "")
    assert len(target.evals.runs.list(copied.id).data) == 1


@pytest.mark.parametrize("grader", [service.PYTHON, service.IMAGE_JUDGE], ids=lambda grader: grader["name"])
def test_a_grader_that_is_left_out_is_printed_and_named_by_the_copy(copy_from: Any, grader: dict[str, Any]) -> None:
    target, printed = copy_from(service.eval_of("Tickets", grader, service.STRING_CHECK))
    (copied,) = target.evals.list()
    assert [each.type for each in copied.testing_criteria] == ["string_check"]
    assert printed.startswith(f"Tickets (eval_tickets) is copied without grader {grader['name']} ({grader['type']}): ")
    assert copied.metadata["left_out"].startswith(f"grader {grader['name']} ({grader['type']})")


def test_an_eval_that_cannot_be_copied_is_printed_and_saved(copy_from: Any, tmp_path: Path) -> None:
    target, printed = copy_from(
        service.eval_of("Code", service.PYTHON), service.eval_of("Tickets", service.STRING_CHECK)
    )
    assert [each.name for each in target.evals.list()] == ["Tickets"]
    assert printed.startswith("Code (eval_code) is not copied: ")
    run, *items = map(json.loads, (tmp_path / "openai-evals/evalrun_eval_code.jsonl").read_text().splitlines())
    assert (run["model"], len(items)) == ("gpt-4.1", 3)
    (saved,) = map(json.loads, (tmp_path / "openai-evals/eval_code.jsonl").read_text().splitlines())
    assert saved["testing_criteria"][0]["source"] == service.PYTHON["source"]


def test_items_without_an_answer_are_copied_with_the_others(copy_from: Any) -> None:
    evaluation = service.eval_of("Tickets", service.STRING_CHECK)
    target, printed = copy_from(evaluation, more_items=service.unanswered_items_of)
    (copied,) = target.evals.list()
    (run,) = target.evals.runs.list(copied.id)
    assert (printed, run.result_counts.total) == ("", 6)


@pytest.mark.parametrize(
    ("path", "printed_as"),
    [
        ("/v1/evals/eval_one/runs", "the runs of One (eval_one) are"),
        (
            "/v1/evals/eval_one/runs/evalrun_eval_one/output_items",
            "run Categorization text run of One (eval_one) is",
        ),
    ],
)
def test_a_failed_connection_does_not_end_the_copying(copy_from: Any, path: str, printed_as: str) -> None:
    first, second = (service.eval_of(name, service.STRING_CHECK) for name in ("One", "Two"))
    target, printed = copy_from(first, second, unreachable=path)
    assert [len(target.evals.runs.list(each.id).data) for each in target.evals.list()] == [0, 1]
    assert printed == f"{printed_as} not copied: Connection error.\n"


def test_what_is_copied_is_not_copied_again(copy_from: Any) -> None:
    evaluation = service.eval_of("Tickets", service.PYTHON, service.STRING_CHECK)
    _, printed = copy_from(evaluation)
    target, printed_again = copy_from(evaluation)
    (copied,) = target.evals.list()
    assert len(target.evals.runs.list(copied.id).data) == 1
    assert printed_again == printed


def test_metadata_without_a_place_are_printed(copy_from: Any) -> None:
    metadata = {f"key{number}": "value" for number in range(16)}
    target, printed = copy_from(service.eval_of("Tickets", service.PYTHON, service.STRING_CHECK, metadata=metadata))
    (copied,) = target.evals.list()
    assert set(copied.metadata) == {*metadata, "left_out"} - {"key15"}
    assert printed.splitlines()[1:] == ["Tickets (eval_tickets) is copied without metadata key15"]


def test_a_parameter_without_effect_is_printed(copy_from: Any) -> None:
    grader = {**service.LABEL_MODEL, "sampling_params": {"temperature": 0.5}}
    _, printed = copy_from(service.eval_of("Tickets", grader))
    assert printed == "Tickets (eval_tickets) is copied without testing_criteria[0].sampling_params\n"
