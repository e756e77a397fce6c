"""An interrupted evaluation continues from its file with the probes that are missing."""

import asyncio
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cupel
from cupel.commands import in_process
from cupel.errors import UsageError
from cupel.in_process import Evaluation
from cupel.in_process.plan import plan_evaluation
from cupel_core.domain.conversations.model_request import ModelRequest, Reply
from cupel_core.providers import sim
from tests.unit.cupel.fake_api import Cupel

type Json = dict[str, Any]

PROMPTS = ("one", "two", "three", "four")


def definition(*prompts: str, **content: Any) -> Json:
    return {
        "content": {"system": "Answer"} | content,
        "scenarios": [{"name": each, "prompt": each} for each in prompts or PROMPTS],
    }


class Agent:
    """Answers what it is asked in capitals; the evaluation is cancelled when it is asked `stops_at`."""

    __name__ = "agent"

    def __init__(self, stops_at: str = "") -> None:
        self.prompts: list[str] = []
        self.threads: list[str] = []
        self._stops_at = stops_at

    async def __call__(self, messages: list[dict[str, str]], thread: Any) -> Any:
        prompt = messages[-1]["content"]
        self.prompts.append(prompt)
        self.threads.append(thread.id)
        if prompt == self._stops_at:
            raise asyncio.CancelledError
        return {"content": prompt.upper(), "seen": {1, 2}}


def evaluate(file: Path, agent: Any, source: Json | None = None, **options: Any) -> Evaluation:
    return cupel.evaluate(source or definition(), agent, resume=file, max_concurrency=1, **options)


def interrupt(file: Path, **options: Any) -> Agent:
    agent = Agent(stops_at="three")
    with pytest.raises(asyncio.CancelledError):
        evaluate(file, agent, **options)
    return agent


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "evaluations" / "saved.jsonl"


def test_only_the_missing_probes_are_run(file: Path) -> None:
    before = interrupt(file)
    agent = Agent()
    evaluation = evaluate(file, agent)
    assert (before.prompts, agent.prompts) == (["one", "two", "three"], ["three", "four"])
    assert [each.messages[-1].content for each in evaluation.results] == ["ONE", "TWO", "THREE", "FOUR"]


def test_a_complete_evaluation_is_read_from_its_file(file: Path) -> None:
    first = evaluate(file, Agent(), seed=3)
    agent = Agent()
    second = evaluate(file, agent)
    assert agent.prompts == []
    assert (second.id, second.seed, second.results) == (first.id, 3, first.results)


def test_a_conversation_that_is_repeated_has_another_thread(file: Path) -> None:
    before = interrupt(file)
    agent = Agent()
    evaluation = evaluate(file, agent)
    assert before.threads[2] != agent.threads[0]
    assert [each.probe.thread_id for each in evaluation.results] == [*before.threads[:2], *agent.threads]


def test_errored_probes_are_run_again(file: Path) -> None:
    async def agent(messages: Any) -> str:
        if messages[-1]["content"] == "two":
            raise ValueError("not yet")
        return "answer"

    assert len(evaluate(file, agent).errors) == 1
    seen: list[str] = []

    async def repaired(messages: Any) -> str:
        seen.append(messages[-1]["content"])
        return "answer"

    repaired.__name__ = "agent"
    assert evaluate(file, repaired).errors == ()
    assert seen == ["two"]


def test_a_line_that_was_being_written_is_dropped(file: Path) -> None:
    interrupt(file)
    content = file.read_bytes()
    file.write_bytes(content[:-20])
    agent = Agent()
    evaluate(file, agent)
    assert agent.prompts == ["two", "three", "four"]
    assert all(json.loads(line) for line in file.read_text().splitlines())


def test_an_empty_file_is_begun(file: Path) -> None:
    file.parent.mkdir()
    file.touch()
    evaluation = evaluate(file, Agent())
    assert json.loads(file.read_text().splitlines()[0])["id"] == evaluation.id


@pytest.mark.parametrize(
    ("source", "options", "part"),
    [
        (definition(system="Be brief"), {}, "definition"),
        (definition("one", "two"), {}, "definition"),
        (None, {"temperature": 0.5}, "configuration"),
        (None, {"repeats": 2}, "configuration"),
        (None, {"judge_model": "sim/steady"}, "configuration"),
    ],
)
def test_another_evaluation_is_refused(file: Path, source: Json | None, options: dict[str, Any], part: str) -> None:
    interrupt(file)
    with pytest.raises(UsageError, match=f"different .*{part};"):
        evaluate(file, Agent(), source, **options)


def test_other_targets_are_refused(file: Path) -> None:
    interrupt(file)
    with pytest.raises(UsageError, match="different targets"):
        evaluate(file, [Agent(), "sim/echo"])


@pytest.mark.parametrize("content", ["hello", "hello\n", "{}\n", '{"format": 2}\n'])
def test_another_file_is_refused_and_not_changed(file: Path, content: str) -> None:
    file.parent.mkdir()
    file.write_text(content)
    with pytest.raises(UsageError, match=r"is not the file of an evaluation"):
        evaluate(file, Agent())
    assert file.read_text() == content


def test_two_evaluations_do_not_share_a_file(file: Path) -> None:
    async def both() -> list[Any]:
        evaluations = (cupel.evaluate_async(definition(), Agent(), resume=file) for _ in range(2))
        return await asyncio.gather(*evaluations, return_exceptions=True)

    first, second = asyncio.run(both())
    assert isinstance(first, Evaluation)
    assert "another evaluation is using this file" in str(second)
    assert evaluate(file, Agent()).results == first.results


def test_a_file_that_was_continued_since_it_was_read_is_not_continued_again(file: Path) -> None:
    interrupt(file)
    plan = plan_evaluation(definition(), Agent(), {"resume": file})
    evaluate(file, Agent())
    with pytest.raises(UsageError, match="another evaluation"):
        plan.open_file(file)


@pytest.mark.parametrize(
    ("before", "after"),
    [('"probe_index": 1', '"probe_index": 9'), ('"probe_index": 1', '"probe_index": -1'), ("{", "[" * 100_000)],
)
def test_a_damaged_file_is_refused(file: Path, before: str, after: str) -> None:
    interrupt(file)
    header, *rest = file.read_text().split("\n")
    file.write_text("\n".join([header, *(line.replace(before, after, 1) for line in rest)]))
    with pytest.raises(UsageError, match="damaged"):
        evaluate(file, Agent())


@pytest.mark.parametrize("digests", ["[]", '"x"', "{}"])
def test_a_header_with_other_digests_is_refused(file: Path, digests: str) -> None:
    file.parent.mkdir()
    file.write_text(f'{{"format": 1, "id": "run_1", "seed": 1, "digests": {digests}}}\n')
    with pytest.raises(UsageError, match="resume: "):
        evaluate(file, Agent())


def test_neither_keys_nor_headers_are_written(file: Path) -> None:
    source = definition()
    source["personas"] = [{"name": "Ada", "headers": {"X-Token": "secret-1"}}]
    for scenario in source["scenarios"]:
        scenario["personaIds"] = ["Ada"]
    evaluate(file, Agent(), source, providers={"openai": {"api_key": "secret-2"}})
    assert "secret" not in file.read_text()


def test_only_the_owner_can_read_the_file(file: Path) -> None:
    evaluate(file, Agent())
    assert file.stat().st_mode & 0o777 == 0o600


def test_answers_that_were_compared_are_not_compared_again(file: Path) -> None:
    source = definition("one", assertions=[{"type": "select-best", "value": "the best", "provider": "sim/steady"}])
    targets = [Agent(), "sim/echo"]
    first = evaluate(file, targets, source, judge_model="sim/steady")
    lines = len(file.read_text().splitlines())
    second = evaluate(file, targets, source, judge_model="sim/steady")
    assert [each.scoring for each in second.results] == [each.scoring for each in first.results]
    assert len(file.read_text().splitlines()) == lines + 1


def test_probes_that_are_restored_are_reported_as_completed(file: Path) -> None:
    interrupt(file)
    seen: list[tuple[int, str]] = []
    evaluate(file, Agent(), on_status=lambda probe, status: seen.append((probe.index, str(status))))
    assert seen[:3] == [(0, "COMPLETED"), (1, "COMPLETED"), (2, "RUNNING")]


@pytest.fixture
def ctrl_c(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What a simulated model is asked; during the third call, the process is interrupted as by Ctrl-C.

    The handler is set because a shell starts processes in the background with the signal ignored.
    """
    earlier = signal.signal(signal.SIGINT, signal.default_int_handler)
    prompts: list[str] = []

    async def complete(_: str, request: ModelRequest) -> Reply:
        prompts.append(request.messages[-1].content)
        if len(prompts) == 3:
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(60)
        return Reply(request.messages[-1].content)

    monkeypatch.setattr(sim, "complete", complete)
    yield prompts
    signal.signal(signal.SIGINT, earlier)


@pytest.fixture
def run(cupel: Cupel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`cupel run --in-process` of four scenarios, one after another."""
    monkeypatch.chdir(tmp_path)
    Path("four.json").write_text(json.dumps({"name": "Four", **definition()}))
    options = ("--models", "sim/echo", "--in-process", "--concurrency", "1")
    return lambda *more: cupel("run", "four.json", *options, *more)


def test_ctrl_c_saves_what_was_answered_and_says_how_to_continue(run: Any, ctrl_c: list[str]) -> None:
    interrupted = run()
    (saved,) = Path(".cupel/evaluations").iterdir()
    assert interrupted.exit_code == 130
    assert f"interrupted; 2 of 4 conversations are saved in {saved}" in interrupted.stderr
    assert f"repeat the command with --resume {saved}" in interrupted.stderr
    assert str(run("--resume", "last").exit_code) == "0"
    assert ctrl_c == ["one", "two", "three", "three", "four"]


def test_the_file_of_a_complete_evaluation_is_deleted(run: Any) -> None:
    assert run().exit_code == 0
    assert list(Path(".cupel/evaluations").iterdir()) == []


def test_the_file_is_kept_until_the_results_are_printed(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(in_process, "_print", fail)
        with pytest.raises(OSError, match="No space"):
            run()
    assert run("--resume", "last").exit_code == 0
    assert list(Path(".cupel/evaluations").iterdir()) == []


def test_ctrl_c_before_the_first_answer_saves_nothing(run: Any, ctrl_c: list[str]) -> None:
    ctrl_c += ["earlier", "earlier"]
    assert "nothing was saved" in run().stderr
    assert list(Path(".cupel/evaluations").iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--resume", "last"], "--resume last: there is no interrupted evaluation in .cupel/evaluations"),
        (["--resume", "missing.jsonl"], "--resume: missing.jsonl: no such file"),
        (["--resume", "four.json"], "--resume: four.json is not the file of an evaluation"),
    ],
)
def test_a_file_that_cannot_be_continued_is_a_usage_error(run: Any, options: list[str], message: str) -> None:
    refused = run(*options)
    assert refused.exit_code == 2
    assert message in refused.stderr


def test_a_run_on_a_stack_is_not_resumed(cupel: Cupel) -> None:
    refused = cupel("run", "def_1", "--models", "sim/echo", "--resume", "last")
    assert refused.exit_code == 2
    assert "--resume and --cache: only with --in-process" in refused.stderr
