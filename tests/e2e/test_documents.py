"""Every `cupel` command line in the documentation is run, page by page, unless the page says why it is not.

Blocks with a title are files. `run_...`, `def_...` and so on stand for the id that an earlier command of the page
printed last. The bench model server answers for OpenAI. What the pages show as output is compared with what is printed.
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
from tests.documented_blocks import Block, blocks_of
from tests.stacks import ModelServer

_ID = re.compile(r"\b(?:([a-z]+)_[0-9a-z]{26}|(scn)_[0-9a-z]+_\d+)\b")
_PLACEHOLDER = re.compile(r"\b(run|def|scn|evl|con|chat)_\.\.\.")
_PROGRESS = re.compile(r"^run_\w+ [A-Z]+, .* after [\d:]+\n", re.MULTILINE)
"""A terminal shows the live view instead."""
_VARIABLE = {
    r"\b([a-z]{2,5})_[0-9a-z]{26}\b": r"\1_id",
    r"\bscn_[0-9a-z]+_(\d+)\b": r"scn_id_\1",
    r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-][\d:]+)": "time",
    r"http://127\.0\.0\.1:\d+": "address",
    r"\b[\d.,]+ m?s\b": "duration",
    r"\d\.\d\d ± \d\.\d\d +\d\.\d\d( +[·▁▂▃▄▅▆▇█]){5}": "decisions",
    r"\b(makes that|Rating:|decision) [1-5]\b": r"\1 n",
    r"\((new definition|unchanged)\)": "(uploaded)",
    r"\$[\d.]+ \(\$[\d.]+ to \$[\d.]+\)": "estimate",
    r" {2,}|─+": " ",
}
"""What differs from run to run: ids, times, durations, widths; decisions of simulated models, which depend on the
scenarios' ids; whether an earlier page has used the same sample; and estimates, which runs of earlier pages refine."""

_SCRIPT = {
    "Judge the assistant by these criteria": {
        "successMet": True,
        "failureMet": False,
        "confidence": 0.9,
        "reasoning": "booked",
    },
    "You compare the facts of a": {"reason": "It names the tilt of the axis.", "category": "C"},
    "You take appointments": "Your haircut is booked for Friday at 16:00, Ada.",
    "What is the capital of Australia? Answer": "Canberra",
    "What is the capital of Canada? Answer": "Ottawa",
    "The capital of France?": "Paris",
    "The capital of Japan?": "Tokyo",
    "Good morning": "Bonjour",
    "Thank you": "Merci",
    "bookshop. Answer in one short sentence": "Yes, gladly.",
    "You help customers of a bookshop.": "Thank you for asking. Our shop is happy to help you with that at any time.",
    "Why are there seasons": "Because the axis of the Earth is tilted against its orbit.",
}
"""What the models of the documentation reply to prompts that contain a text."""


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
    script = _SCRIPT | {
        fact["prompt"].splitlines()[0]: f"Answer: {fact['metadata']['vars']['answer']}" for fact in facts
    }
    model_server.reset()
    model_server.configure(script=[{"contains": text, "reply": reply} for text, reply in script.items()])
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{model_server.url}/v1")
    api.update_provider("openai", {"baseUrl": f"{model_server.url}/v1", "apiKey": "sk-test"})
    yield
    api.update_provider("openai", {"baseUrl": None, "apiKey": None})
    model_server.reset()


@pytest.fixture(autouse=True)
def workspace_is_restored(api: Client) -> Iterator[None]:
    """A page may limit what the workspace spends, which would pause runs, and create the profile of another page."""
    budgets = api.get_settings()["budgets"]
    yield
    api.update_settings({"budgets": budgets})
    for profile in list(api.list_profiles()):
        api.delete_profile(profile["id"])


def run_commands(page: Path, session: Session, folder: Path) -> Iterator[tuple[Block, str]]:
    """Runs the commands of a page, and yields each block that shows their output with what they have printed."""
    ids: dict[str, str] = {}
    printed: str | None = None

    def with_ids(text: str) -> str:
        return _PLACEHOLDER.sub(lambda match: ids[match[1]], text)

    for block in blocks_of(page):
        if block.title:
            (folder / block.title).write_text(with_ids(block.text))
        if block.language == "text" and block.is_next_to_previous and printed is not None:
            yield block, printed
        printed = None
        if block.language == "sh" and not block.excuse:
            printed = ""
            for arguments in block.command_lines():
                result = CliRunner().invoke(app, [with_ids(each) for each in arguments], obj=session)
                assert result.exit_code == 0, f"cupel {shlex.join(arguments)}\n{result.output}"
                ids |= {match[1] or match[2]: match[0] for match in _ID.finditer(result.output)}
                printed += _PROGRESS.sub("", result.output)


def comparable(text: str) -> str:
    for pattern, replacement in _VARIABLE.items():
        text = re.sub(pattern, replacement, text)
    return text


def is_shown(printed: str, block: Block) -> bool:
    """Whether the block shows this output, where a line `…` stands for any lines."""
    parts = re.split(r"^…\n", comparable(block.text), flags=re.MULTILINE)
    return re.fullmatch("(?:.*\n)*".join(map(re.escape, parts)), comparable(printed)) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_a_page_succeed_and_print_what_it_shows(page: Path, stack: LocalStack, folder: Path) -> None:
    session = Session(connect=lambda: Client(stack.api_url, stack.token))
    different = [
        (block, printed) for block, printed in run_commands(page, session, folder) if not is_shown(printed, block)
    ]
    assert not different, "\n".join(
        f"{page} shows\n{block.text}\nbut printed is\n{printed}" for block, printed in different
    )


def test_pages_with_commands_are_found() -> None:
    assert {"README.md", "tables.md", "comparing.md", "agents.md", "ci.md", "chats.md"} <= {page.name for page in PAGES}
