"""Images and PDFs of imports: data URLs, and files that were sent along."""

import json
from typing import Any

import pytest

from cupel_core.domain.codec import decode, encode
from cupel_core.domain.conversations.parts import FilePart, ImageDetail, PartType, TextPart
from cupel_core.domain.definitions.datasets import DatasetFormat
from cupel_core.domain.definitions.drafts import ImportedSuite
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.files import data_urls
from cupel_core.domain.files.formats import FileFormat, digest_of, file_id
from cupel_core.interop.imports.datasets import read_dataset
from cupel_core.interop.imports.files import InMemoryFiles
from cupel_core.interop.imports.json_documents import InvalidDocument
from cupel_core.interop.imports.promptfoo import read_config
from tests.files_for_tests import PDF, png
from tests.in_one_test import in_one_test

CAT = png(4, 3)
CAT_URL, CAT_ID = data_urls.encode(CAT, FileFormat.PNG), file_id(digest_of(CAT))
PDF_URL, PDF_ID = data_urls.encode(PDF, FileFormat.PDF), file_id(digest_of(PDF))
SENT = "file_" + "a" * 32
FILES = InMemoryFiles({}, {"images/cat.png": SENT, "terms.pdf": SENT})


def sample(*content: Any, kind: DatasetFormat = DatasetFormat.INSPECT, **fields: Any) -> ImportedSuite:
    message = {"role": "user", "content": ["What is this?", *content]}
    name = "messages" if kind is DatasetFormat.JSONL else "input"
    return read_dataset(json.dumps({name: [message], "target": "cat", **fields}), kind, "S", None, FILES)


def only(suite: ImportedSuite) -> Scenario:
    ((scenario,),) = (draft.scenarios for draft in suite.drafts)
    return scenario


@in_one_test(
    ("part", "expected"),
    [
        ({"type": "image_url", "image_url": {"url": CAT_URL, "detail": "low"}}, (CAT_ID, None, ImageDetail.LOW)),
        ({"type": "input_image", "image_url": CAT_URL, "detail": "high"}, (CAT_ID, None, ImageDetail.HIGH)),
        ({"type": "image", "image": CAT_URL, "detail": "auto"}, (CAT_ID, None, ImageDetail.AUTO)),
        ({"type": "image", "image": "images/cat.png"}, (SENT, "cat.png", None)),
        ({"type": "image", "image": "file://images/../images/cat.png"}, (SENT, "cat.png", None)),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": CAT_URL.split(",")[1]}},
            (CAT_ID, None, None),
        ),
        ({"image": {"format": "png", "source": {"bytes": CAT_URL.split(",")[1]}}}, (CAT_ID, None, None)),
        ({"inlineData": {"mimeType": "image/png", "data": CAT_URL.split(",")[1]}}, (CAT_ID, None, None)),
        ({"inline_data": {"mime_type": "image/png", "data": CAT_URL.split(",")[1]}}, (CAT_ID, None, None)),
    ],
)
@in_one_test("kind", [DatasetFormat.INSPECT, DatasetFormat.JSONL, DatasetFormat.OPENAI_EVALS])
def test_an_image_is_read_in_every_common_shape(kind: DatasetFormat, part: Any, expected: tuple[Any, ...]) -> None:
    suite = sample(part, kind=kind, **({"ideal": "cat"} if kind is DatasetFormat.OPENAI_EVALS else {}))
    text, image = only(suite).messages[0].parts
    assert text == TextPart("What is this?")
    assert isinstance(image, FilePart)
    assert (image.type, image.file_id, image.name, image.detail) == (PartType.IMAGE, *expected)
    assert suite.data_urls == ({CAT_ID: CAT_URL} if expected[0] == CAT_ID else {})


@pytest.mark.parametrize(
    "part",
    [
        {"type": "document", "document": PDF_URL, "filename": "a/terms.pdf", "mime_type": "application/pdf"},
        {"type": "file", "file": {"filename": "terms.pdf", "file_data": PDF_URL}},
        {"type": "input_file", "filename": "terms.pdf", "file_data": PDF_URL},
        {
            "type": "document",
            "title": "terms.pdf",
            "source": {"type": "base64", "media_type": "application/pdf", "data": PDF_URL.split(",")[1]},
        },
    ],
)
def test_a_pdf_is_read_in_every_common_shape(part: Any) -> None:
    (document,) = only(sample(part)).messages[0].files
    assert (document.type, document.file_id, document.name) == (PartType.FILE, PDF_ID, "terms.pdf")


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ({"type": "image", "image": "https://x.test/cat.png"}, "is not fetched"),
        (
            {"type": "image", "image": "missing.png"},
            "missing.png is not among the images and PDFs that were sent along",
        ),
        ({"type": "image", "image": "../cat.png"}, "outside the folder"),
        ({"type": "image", "image": "data:image/png;base64,AAAA"}, "a data URL is none of"),
        ({"type": "audio", "audio": "a.wav"}, "a part of type audio; only texts, images and PDFs are imported"),
        (7, "neither a text nor an object"),
    ],
)
def test_what_cannot_be_imported_is_named_with_its_line(part: Any, why: str) -> None:
    with pytest.raises(InvalidDocument, match="line 1: ") as caught:
        sample(part)
    assert why in str(caught.value)


def test_choices_follow_the_question_and_files_the_choices() -> None:
    suite = sample({"type": "image", "image": "images/cat.png"}, choices=["cat", "dog"], target="A")
    message = only(suite).messages[0]
    assert message.spoken_text.endswith("What is this?\n\nA) cat\nB) dog")
    assert [file.file_id for file in message.files] == [SENT]


CHAT = [
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "Is this a {{animal}}?"},
            {"type": "image_url", "image_url": {"url": "{{image}}"}},
        ],
    }
]


def suite_of(image: str, prompt: Any = CHAT, **test: Any) -> ImportedSuite:
    tests = [{"vars": {"animal": "cat", "image": image}, "assert": [{"type": "contains", "value": "yes"}], **test}]
    config = {"prompts": [json.dumps(prompt)], "providers": ["echo"], "tests": tests}
    return read_config(json.dumps(config), FILES)


@pytest.mark.parametrize(
    ("image", "expected", "name"),
    [("file://images/cat.png", SENT, "cat.png"), (CAT_URL, CAT_ID, None), ("images/cat.png", SENT, "cat.png")],
)
def test_a_variable_of_promptfoo_is_an_image(image: str, expected: str, name: str | None) -> None:
    (file,) = only(suite_of(image)).messages[0].files
    assert (file.file_id, file.name) == (expected, name)


@pytest.mark.parametrize("url", ["data:image/png;base64,{{image}}", "{{ image }}"])
def test_a_file_is_the_same_whether_or_not_the_prompt_writes_its_type(url: str) -> None:
    chat = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]
    assert only(suite_of("file://images/cat.png", chat)).messages[0].files[0].file_id == SENT


def test_anthropics_prompts_of_promptfoo_have_images_too() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "{{image}}"}
    chat = [{"role": "user", "content": [{"type": "image", "source": source}]}]
    assert only(suite_of("file://images/cat.png", chat)).messages[0].files[0].file_id == SENT


@pytest.mark.parametrize(
    "part",
    [
        {"image": {"format": "jpg", "source": {"bytes": "{{image}}"}}},
        {"inline_data": {"mime_type": "image/png", "data": "{{image}}"}},
    ],
)
def test_prompts_for_bedrock_and_google_have_images_too(part: Any) -> None:
    chat = [{"role": "user", "content": [part, {"text": "What is it?"}]}]
    assert only(suite_of("file://images/cat.png", chat)).messages[0].files[0].file_id == SENT


def test_the_content_of_a_data_url_is_in_the_suite_once_and_not_in_the_variables() -> None:
    suite = suite_of(CAT_URL)
    assert suite.data_urls == {CAT_ID: CAT_URL}
    assert json.dumps(encode(suite)).count(CAT_URL) == 1
    assert decode(ImportedSuite, encode(suite)) == suite


@pytest.mark.parametrize(
    ("image", "prompt", "why"),
    [
        ("https://x.test/cat.png", CHAT, "is not fetched"),
        ("file://missing.png", CHAT, "is not among the images"),
        ("file://images/cat.png", [{"role": "user", "content": "Look: {{image}}"}], "is in a text"),
        (
            "file://images/cat.png",
            [{"role": "system", "content": CHAT[0]["content"]}, {"role": "user", "content": "?"}],
            "only a user's message may",
        ),
    ],
)
def test_an_image_that_cannot_be_imported_is_reported(image: str, prompt: Any, why: str) -> None:
    suite = suite_of(image, prompt)
    assert not suite.drafts
    assert why in suite.report.reasons()
