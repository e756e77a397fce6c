"""Tokens of images and PDFs, compared with the examples that the makers of models publish."""

from dataclasses import replace

import pytest

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.parts import FilePart, ImageDetail, PartType, TextPart
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.estimates.conversations import TARGET, Calls
from cupel_core.domain.estimates.expectations import Answers, ExpectedCalls, RunTerms, SampledCase, run_assumptions
from cupel_core.domain.estimates.file_tokens import FileBasis, FileFormulas, FileTokens, FixedTokens, file_tokens
from cupel_core.domain.estimates.intervals import Unknowns
from cupel_core.domain.estimates.run_estimate import CallCapacity, RunEstimate, estimate_run
from cupel_core.domain.files.formats import FileFormat, FileInfo
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers.file_formulas import file_formulas

FORMULAS = FileFormulas(FileBasis.GEMINI_3, FixedTokens(1000), page_tokens=500.0)
PDF = FilePart(PartType.FILE, "file_2", info=FileInfo(FileFormat.PDF, 120_000))


def image(width: int = 640, height: int = 480, detail: ImageDetail | None = None) -> FilePart:
    return FilePart(PartType.IMAGE, "file_1", detail=detail, info=FileInfo(FileFormat.PNG, 1_000, width, height))


def estimate(*files: FilePart, model: str = "openai/a") -> RunEstimate:
    message = Message.of_parts(MessageRole.USER, (TextPart("What is this?"), *files))
    case = SampledCase(Scenario("scn_1", "case", (message,)), has_persona=False)
    calls = ExpectedCalls(lambda *_: 0.0, lambda _: CallCapacity(10), lambda _: False, lambda _: FORMULAS)
    plan = Plan((Target(model),), (10,))
    return estimate_run(run_assumptions(RunTerms(Content(), GraderConfig()), plan, {}, [case], calls))


@pytest.mark.parametrize(
    ("model", "sides", "tokens"),
    [
        ("openai/gpt-4o", (1024, 1024), 765),
        ("openai/gpt-4o", (2048, 4096), 1105),
        ("azure/gpt-4.1", (2049, 513), 1445),  # 1,453 billed with 8 of a message
        ("openai/gpt-4o-mini", (1024, 1024), 2833 + 4 * 5667),
        ("openai/o3", (1024, 1024), 75 + 4 * 150),
        ("openai/gpt-5", (1024, 1024), 70 + 4 * 140),
        ("openai/gpt-4.1-mini", (1024, 1024), 1024 * 1.62),
        ("openrouter/openai/gpt-4.1-mini", (4000, 1474), 1536 * 1.62),
        ("openai/gpt-5-nano-2025-08-07", (1024, 1024), 1024 * 2.46),
        ("openai/o4-mini", (1024, 1024), 1024 * 1.72),
        ("anthropic/claude-sonnet-4-5", (200, 200), 54),
        ("vertex/claude-sonnet-4-5@20250929", (1000, 1000), 1334),
        ("bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0", (4000, 4000), 1600),
        ("openrouter/anthropic/claude-opus-4.7", (2000, 2000), 4784),
        ("google/gemini-2.5-flash", (384, 384), 258),
        ("google/gemini-2.5-flash", (1024, 1024), 4 * 258),
        ("vertex/gemini-3-pro-preview", (1024, 1024), 1120),
    ],
)
def test_an_image_has_as_many_tokens_as_its_maker_says(model: str, sides: tuple[int, int], tokens: float) -> None:
    assert file_tokens([image(*sides)], file_formulas(model)).images == pytest.approx(tokens, abs=1)


@pytest.mark.parametrize(
    ("model", "basis"),
    [
        ("openai/gpt-4o-2024-11-20", FileBasis.OPENAI_TILES),
        ("openai/gpt-5.1-mini", FileBasis.OPENAI_PATCHES),
        ("anthropic/claude-haiku-4-5", FileBasis.ANTHROPIC),
        ("google/gemini-2.0-flash", FileBasis.GEMINI_2),
        ("google/gemini-3-flash", FileBasis.GEMINI_3),
        ("mistral/pixtral-large-latest", FileBasis.ASSUMED),
        ("custom/gpt-4o", FileBasis.OPENAI_TILES),
        ("sim/steady", FileBasis.ASSUMED),
        ("connector/con_1", FileBasis.ASSUMED),
    ],
)
def test_the_formula_follows_from_the_models_name(model: str, basis: FileBasis) -> None:
    assert file_formulas(model).basis is basis


def test_an_image_of_low_detail_is_not_cut_into_tiles() -> None:
    assert file_tokens([image(1024, 1024, ImageDetail.LOW)], file_formulas("openai/gpt-4o")).images == 85.0


def test_a_pdf_has_as_many_pages_as_its_size_suggests() -> None:
    assert file_tokens([PDF], FORMULAS) == FileTokens(0.0, 3 * 500.0)


def test_an_image_of_unknown_size_is_not_free() -> None:
    assert file_tokens([replace(image(), info=None)], file_formulas("openai/gpt-4o")).images == 765.0


def test_images_are_input_of_the_target() -> None:
    plain, shown = (estimate(*files).targets[0].calls.input_tokens.expected for files in ((), (image(),)))
    assert shown - plain == pytest.approx(10 * 1000, rel=0.02)  # The rest is its note.


def test_pdfs_make_an_estimate_less_certain() -> None:
    one, other = (estimate(each).targets[0].calls.input_tokens for each in (image(), PDF))
    assert other.high / other.expected > 2 > one.high / one.expected


def test_the_formula_is_named_if_there_are_files() -> None:
    assert [estimate(*files).targets[0].file_basis for files in ((), (image(),))] == [None, FileBasis.GEMINI_3]


def test_each_turn_has_the_files_again() -> None:
    message = Message.of_parts(MessageRole.USER, (image(),))
    terms = RunTerms(Content(follow_ups=("why?",)), GraderConfig())
    case = SampledCase(Scenario("scn_1", "case", (message,)), has_persona=False)
    conversation = replace(terms.conversation(case, None, Answers()), image_tokens=1000.0)
    plain = replace(conversation, image_tokens=0.0)
    calls = [each.calls(Unknowns())[TARGET] for each in (conversation, plain)]
    assert calls[0] == Calls(2.0, calls[1].input_tokens + 2000, calls[1].output_tokens)
