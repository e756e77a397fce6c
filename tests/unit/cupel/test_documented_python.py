"""The Python examples of the documentation are run, page by page; a page's examples share their names.

The bench model server answers for OpenAI and Anthropic, and the API function on moto for the stack.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cupel.client import Client
from cupel.in_process import Evaluation
from cupel_core.store.settings import Settings
from tests.conftest import ROOT
from tests.documented_blocks import blocks_of
from tests.stacks import ModelServer
from tests.unit.cupel.api_function import connect_to_api_function
from tests.unit.streamed_turns import StreamedTurns
from tests.unit.streamed_turns import streamed as streamed

_TESTED_ELSEWHERE = {ROOT / "docs/graphql.md", ROOT / "docs/webhooks.md", ROOT / "docs/openai-evals-api.md"}
"""By tests/unit/graphqlapi/test_documented_example.py, tests/unit/interop/openai_evals/test_documented_example.py and
tests/unit/workspace/webhooks/test_documented_verification.py."""
_RUN = ("chats", "ci", "comparing", "costs", "judges", "library")
_VERDICT = {"successMet": True, "failureMet": False, "confidence": 0.9, "reasoning": "booked"}
_ANSWER = "Booked: Friday, 16:00, Ada."

type Names = dict[str, Any]
type RunExamples = Callable[[str, Any], Names]


def examples_of(page: Path) -> list[str]:
    return [block.text for block in blocks_of(page) if block.language == "python"]


@pytest.fixture
def run_examples(model_server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunExamples:
    """Runs the examples of a page, with a given agent, and returns the names that they have defined."""
    model_server.reset()
    model_server.configure(script=[{"contains": "Judge the assistant by these criteria", "reply": _VERDICT}])
    for provider in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{provider}_API_KEY", "sk-test")
        monkeypatch.setenv(f"{provider}_BASE_URL", f"{model_server.url}/v1")
    monkeypatch.chdir(tmp_path)

    def run(page: str, agent: object) -> Names:
        names: Names = {"my_agent": agent}
        for example in examples_of(ROOT / page):
            exec(compile(example, page, "exec"), names)  # noqa: S102 - our own documentation
        return names

    return run


def test_the_examples_of_the_library(
    run_examples: RunExamples, cloud: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def chat(session: str, text: str) -> SimpleNamespace:
        return SimpleNamespace(text=_ANSWER, tool_calls=[])

    shutil.copytree(ROOT / "samples", tmp_path / "samples")
    monkeypatch.setattr(Client, "from_environment", connect_to_api_function)
    monkeypatch.setattr("cupel.processor.PAUSE_SECONDS", 0)
    names = run_examples("docs/library.md", SimpleNamespace(answer=lambda _: _ANSWER, chat=chat))
    assert isinstance(names["evaluation"], Evaluation)
    assert (names["evaluation"].errors, names["evaluation"].pass_rate) == ((), 1.0)
    assert (tmp_path / "nightly.jsonl").exists()
    assert names["processor"].is_running()


def test_the_example_of_the_readme(run_examples: RunExamples, capsys: pytest.CaptureFixture[str]) -> None:
    run_examples("README.md", None)
    assert capsys.readouterr().out == "1.0\n"


def test_the_example_of_a_test(run_examples: RunExamples, tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    shutil.copy(ROOT / "samples/appointment.yaml", tmp_path / "evals/booking.yaml")
    names = run_examples("docs/ci.md", lambda _: _ANSWER)
    names["test_bookings"]()


def test_the_example_of_a_budget(run_examples: RunExamples, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "samples", tmp_path / "samples")
    names = run_examples("docs/costs.md", None)
    assert names["evaluation"].errors == ()


def test_examples_of_comparing_runs(run_examples: RunExamples) -> None:
    names = run_examples("docs/comparing.md", lambda _: _ANSWER)
    assert names["figures"].common_scenarios == 8


def test_the_example_of_labels(run_examples: RunExamples, capsys: pytest.CaptureFixture[str]) -> None:
    names = run_examples("docs/judges.md", None)
    shown = (ROOT / "docs/judges.md").read_text().split("```text\n")[1].split("```")[0]
    assert capsys.readouterr().out.endswith(shown)
    (column,) = names["evaluation"].calibration(names["labels"])["columns"]
    true = sum(names["truth"].values()) / len(names["truth"])
    low, high = column["corrected"]["interval95"]
    assert low < true < high
    assert names["evaluation"].analysis()["overall"]["passRate"]["interval95"][0] > true


def test_the_example_of_a_chat(
    run_examples: RunExamples,
    streamed: StreamedTurns,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The model writes on once the example has printed what it has written."""
    monkeypatch.setattr(Client, "from_environment", connect_to_api_function)
    streamed.attempts = [["Good ", "day", "!"]]
    run_examples("docs/chats.md", None)
    assert "Good day!" in capsys.readouterr().out


def test_no_page_with_examples_is_forgotten() -> None:
    pages = {page for page in (ROOT / "README.md", *ROOT.glob("docs/**/*.md")) if examples_of(page)}
    assert pages - _TESTED_ELSEWHERE == {ROOT / "README.md", *(ROOT / f"docs/{name}.md" for name in _RUN)}
