"""Probes whose messages have images: read from the bucket by the worker, recorded as references."""

from dataclasses import dataclass, replace

import pytest

from cupel_core.accounts import keys as accounts
from cupel_core.base.errors import Invalid
from cupel_core.domain.conversations.model_request import Message, MessageRole, ProbeErrorCode
from cupel_core.domain.conversations.parts import FilePart, PartType, TextPart
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.files.formats import digest_of, file_id, inspect
from cupel_core.domain.resources.providers import ModelPrice
from cupel_core.domain.runs.run import Progress
from cupel_core.domain.runs.transcripts import ProbeError, Transcript
from cupel_core.runs import continuation
from cupel_core.runs.probing.caches import AccountCache
from cupel_core.runs.probing.slice_context import load_slice_context
from cupel_core.store import barrier, files, outcomes
from cupel_core.store.barrier import Tree
from cupel_core.store.settings import Settings
from tests.files_for_tests import png
from tests.run_budgets import run_budget
from tests.started_runs import NOW, RunSetup, ref_of, send_and_receive, slice_message
from tests.unit.runs.probing.test_worker import worker
from tests.unit.runs.test_control import over

RED = png(4, 3)
PART = FilePart(PartType.IMAGE, file_id(digest_of(RED)), "red.png", info=inspect(RED))


@dataclass
class WithImages(RunSetup):
    def _scenario(self, number: int) -> Scenario:
        asked = Message.of_parts(MessageRole.USER, (TextPart("Which color?"), PART))
        return replace(super()._scenario(number), messages=(asked,))


async def test_a_model_sees_an_image_and_the_transcript_refers_to_it(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    files.put_content("ws_a", str(PART.file_id), RED, inspect(RED))
    run = WithImages(scenario_count=3).start()
    await worker().run(send_and_receive(slice_message(run, [0, 1])))
    transcript = outcomes.get(ref_of(run), 0)
    assert isinstance(transcript, Transcript)
    asked, answer = transcript.messages
    assert asked.files == (PART,)
    assert "average color #ff0000 (red)" in answer.content


async def test_a_probe_without_its_image_is_errored(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = WithImages(scenario_count=3, workspace="ws_without").start()
    await worker().run(send_and_receive(slice_message(run, [0])))
    error = outcomes.get(ref_of(run), 0)
    assert isinstance(error, ProbeError)
    assert (error.code, error.attempts) == (ProbeErrorCode.FILE_NOT_FOUND, 1)
    assert "[image red.png, 4×3 PNG], does not exist any more" in error.message


def test_the_size_of_an_image_counts_for_what_a_worker_carries(cloud: Settings) -> None:
    run = WithImages(scenario_count=1).start()
    context = load_slice_context(run, slice_message(run, [0]), AccountCache())
    assert context.opening_length(0) == len("Which color?\n[image red.png, 4×3 PNG]") + len(RED)


@dataclass
class WithScans(WithImages):
    """The same image as a file of 1.4 MB."""

    def _scenario(self, number: int) -> Scenario:
        scan = replace(PART, info=replace(inspect(RED), size=1_400_000))
        asked = Message.of_parts(MessageRole.USER, (TextPart("Which color?"), scan))
        return replace(super()._scenario(number), messages=(asked,))


async def test_a_budget_counts_an_image_by_its_formula_and_not_by_its_bytes(
    cloud: Settings, finish_starts: list[tuple[str, int]]
) -> None:
    """The run was paused before its first call, which was said to cost 1,400 USD."""
    accounts.update_provider("ws_scans", "sim", {"prices": (ModelPrice(None, 1_000.0, 10_000.0),)})
    files.put_content("ws_scans", str(PART.file_id), RED, inspect(RED))
    limited = {"maxOutputTokens": 50}
    run = WithScans(scenario_count=3, workspace="ws_scans", budget=run_budget(10.0), params=limited).start()
    await worker().run(send_and_receive(slice_message(run, [0, 1, 2])))
    assert barrier.get_progress(Tree.for_run(run)) == Progress(3, completed=3)


def test_an_expansion_is_refused_if_its_images_are(cloud: Settings, finish_starts: list[tuple[str, int]]) -> None:
    run = over(WithImages(scenario_count=20, sample_percentage=50, models=("openai/gpt-3.5-turbo",)), errored=set())
    with pytest.raises(Invalid, match=r"models\.0: takes no images, and a message has one"):
        continuation.expand("ws_a", run.id, 100, NOW)
