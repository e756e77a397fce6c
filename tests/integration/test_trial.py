"""A scale run whose report has a revised prompt that helps: the trial that follows by itself, and its verdict."""

import json
from pathlib import Path

from typer.testing import CliRunner

from cupel.cli import app
from cupel.client import Client
from cupel.session import Session
from cupel.stack.address import LocalStack
from tests.stacks import ModelServer

ORIGINAL, REVISED = "You answer customers.", "You answer customers. Name the limit of 30 days."
SUMMARY = {
    **{kind: [] for kind in ("failureModes", "hallucinations", "goalFailures", "inconsistencies")},
    "summary": "No answer names the limit.",
    "revisedPrompt": REVISED,
    "rationale": "The limit is named if the prompt asks for it.",
}
SCRIPT = (
    ("You write the summary of an evaluation", json.dumps(SUMMARY)),
    (REVISED, "Refunds are possible within 30 days."),
    (ORIGINAL, "Refunds are sometimes possible."),
)


def test_a_scale_run_ends_with_whether_its_revised_prompt_helps(
    api: Client, stack: LocalStack, models: ModelServer, tmp_path: Path
) -> None:
    models.configure(script=[{"contains": text, "reply": reply} for text, reply in SCRIPT])
    (tmp_path / "prompt.md").write_text(ORIGINAL)
    options = {
        "--model": "custom/agent",
        "--system-file": str(tmp_path / "prompt.md"),
        "--message": "I want my money back.",
        "--format": '{"pattern": "30 days"}',
        "--judge-model": "custom/judge",
        "--without": "toxicity",
        "--concurrency": "20",
        "-n": "20",
    }
    words = [*(word for option in options.items() for word in option), "--stagger", "0", "1"]
    session = Session(connect=lambda: Client(stack.api_url, stack.token))
    result = CliRunner().invoke(app, ["scale", *words, "--trial", "--watch"], obj=session)
    assert result.exit_code == 0, result.output
    assert "The revised prompt helps" in " ".join(result.stdout.split())
    assert [each["config"]["repeats"] for each in api.list_runs().first(3)] == [10, 10, 20]
