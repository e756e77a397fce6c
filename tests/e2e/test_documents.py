"""Every `cupel` command line in the documentation is run, page by page, unless the page says why it is not.

Blocks with a title are files. `run_...`, `def_...` and so on stand for the id that an earlier command of the page
printed last. The bench model server answers for OpenAI.
"""

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from cupel.cli import app
from cupel.client import Client
from cupel.session import Session
from cupel.stack.address import LocalStack
from tests.conftest import ROOT
from tests.documented_blocks import blocks_of
from tests.stacks import ModelServer

_ID = re.compile(r"\b(?:([a-z]+)_[0-9a-z]{26}|(scn)_[0-9a-z]+_\d+)\b")
_PLACEHOLDER = re.compile(r"\b(run|def|scn|evl|con)_\.\.\.")


_VERDICT = {
    "contains": "You judge a conversation",
    "reply": {"successMet": True, "failureMet": False, "confidence": 0.9, "reasoning": "booked"},
}


def is_run(page: Path) -> bool:
    return any(block.language == "sh" and block.command_lines() and not block.excuse for block in blocks_of(page))


PAGES = [page for page in sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")]) if is_run(page)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory with the samples."""
    shutil.copytree(ROOT / "samples", tmp_path / "samples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def openai(api: Client, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The model server answers for OpenAI, on the stack and in process, and knows the answers of samples/facts.yaml."""
    facts = yaml.safe_load((ROOT / "samples/facts.yaml").read_text())["scenarios"]
    answers = [
        {"contains": fact["prompt"].splitlines()[0], "reply": f"Answer: {fact['metadata']['vars']['answer']}"}
        for fact in facts
    ]
    model_server.reset()
    model_server.configure(script=[_VERDICT, *answers])
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{model_server.url}/v1")
    api.update_provider("openai", {"baseUrl": f"{model_server.url}/v1", "apiKey": "sk-test"})
    yield
    api.update_provider("openai", {"baseUrl": None, "apiKey": None})
    model_server.reset()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_a_page_succeed(page: Path, stack: LocalStack, folder: Path) -> None:
    session = Session(connect=lambda: Client(stack.api_url, stack.token))
    ids: dict[str, str] = {}

    def with_ids(text: str) -> str:
        return _PLACEHOLDER.sub(lambda match: ids[match[1]], text)

    for block in blocks_of(page):
        if block.title:
            (folder / block.title).write_text(with_ids(block.text))
        if block.language != "sh" or block.excuse:
            continue
        for arguments in block.command_lines():
            result = CliRunner().invoke(app, [with_ids(each) for each in arguments], obj=session)
            assert result.exit_code == 0, f"cupel {shlex.join(arguments)}\n{result.output}"
            ids |= {match[1] or match[2]: match[0] for match in _ID.finditer(result.output)}


def test_pages_with_commands_are_found() -> None:
    assert {"README.md", "quick-start.md", "evals.md", "ci-gate.md"} <= {page.name for page in PAGES}
