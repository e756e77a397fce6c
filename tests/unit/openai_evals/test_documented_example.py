"""The examples of docs/openai-evals-api.md are run."""

from types import SimpleNamespace
from typing import Any

import pytest
from openai import OpenAI
from openai.types.eval_list_response import DataSourceConfigLogs

from tests.conftest import ROOT
from tests.documented_blocks import blocks_of
from tests.openai_client import openai_client
from tests.unit.api.client import Client
from tests.unit.openai_evals.flows import EXACT, carry_out, completions, create_eval

FIRST, COPYING, STORED = (
    block.text for block in blocks_of(ROOT / "docs/openai-evals-api.md") if block.language == "python"
)

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


def test_evals_are_copied_with_their_runs(openai: OpenAI, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    eval_id = create_eval(openai, EXACT, metadata={"team": "search"})
    run = openai.evals.runs.create(eval_id, name="first", data_source=completions())
    carry_out(run.id)
    target = openai_client(client, token=client.issue("other"))
    monkeypatch.setattr("openai.OpenAI", lambda **options: target if options else openai)
    run_example(COPYING)
    (copy,) = target.evals.list()
    original = openai.evals.retrieve(eval_id)
    assert copy.testing_criteria == original.testing_criteria
    assert copy.data_source_config == original.data_source_config
    (copied,) = target.evals.runs.list(copy.id)
    carry_out(copied.id, "other")
    counts = target.evals.runs.retrieve(copied.id, eval_id=copy.id).result_counts
    assert counts == openai.evals.runs.retrieve(run.id, eval_id=eval_id).result_counts


def test_evals_of_logs_are_copied_and_others_are_reported(
    openai: OpenAI, client: Client, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    eval_id = create_eval(openai, EXACT, name="Logs")
    carry_out(openai.evals.runs.create(eval_id, data_source=completions()).id)
    (original,) = openai.evals.list()
    python = SimpleNamespace(model_dump=lambda **_: {"type": "python", "name": "code", "source": "1"})
    of_code = original.model_copy(update={"name": "Code", "testing_criteria": [python]})
    config = DataSourceConfigLogs.model_construct(type="logs", schema_={"type": "object"})
    of_logs = original.model_copy(update={"data_source_config": config})
    listing = SimpleNamespace(list=lambda: [of_code, of_logs], runs=openai.evals.runs)
    target = openai_client(client, token=client.issue("other"))
    monkeypatch.setattr("openai.OpenAI", lambda **options: target if options else SimpleNamespace(evals=listing))
    run_example(COPYING)
    (copy,) = target.evals.list()
    assert copy.name == "Logs"
    assert len(target.evals.runs.list(copy.id).data) == 1
    assert "Code" in capsys.readouterr().out
