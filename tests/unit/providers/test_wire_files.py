"""Images and PDFs in each wire format, and what providers answer when they refuse one."""

from base64 import b64encode
from datetime import UTC, datetime
from typing import Any

import boto3
import orjson
import pytest
from botocore.stub import Stubber
from multidict import CIMultiDict

from cupel_core.domain.conversations.model_request import (
    Message,
    MessageRole,
    ModelRequest,
    ProbeErrorCode,
    RequestParameter,
)
from cupel_core.domain.conversations.parts import FilePart, ImageDetail, PartType, TextPart
from cupel_core.domain.files.formats import FileFormat, FileInfo, inspect
from cupel_core.providers import PROVIDERS, anthropic, bedrock, google, openai, openai_responses, vertex
from cupel_core.providers.account import Account
from cupel_core.providers.adaptation import rejected_parameter, without
from cupel_core.providers.completion import complete
from cupel_core.providers.errors import ProviderError, error_from_response
from cupel_core.providers.file_support import file_error
from tests.files_for_tests import PDF, jpeg, png

RED = png(4, 3)
IMAGE = FilePart(PartType.IMAGE, "file_image", "red.png", info=inspect(RED))
TERMS = FilePart(PartType.FILE, "file_pdf", "terms [v2].pdf", info=inspect(PDF))
ASKED = Message.of_parts(MessageRole.USER, (TextPart("What is this?"), IMAGE, TERMS))
FILES = {"file_image": RED, "file_pdf": PDF}
TALK = ModelRequest((Message(MessageRole.SYSTEM, "Be brief."), ASKED), files=FILES)
IMAGE_64, PDF_64 = b64encode(RED).decode(), b64encode(PDF).decode()
IMAGE_URL, PDF_URL = f"data:image/png;base64,{IMAGE_64}", f"data:application/pdf;base64,{PDF_64}"


def account(provider: str) -> Account:
    return Account(provider, PROVIDERS[provider].base_url or "https://x.test/v1", "sk-test")


def sent(message: Any) -> Any:
    return orjson.loads(orjson.dumps(message))


def test_openai_gets_data_urls() -> None:
    body: Any = openai.request_for(account("openai"), "gpt-5-mini", TALK).body
    assert sent(body["messages"][1]["content"]) == [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": IMAGE_URL}},
        {"type": "file", "file": {"filename": "terms [v2].pdf", "file_data": PDF_URL}},
    ]


def test_openai_gets_the_detail_of_an_image() -> None:
    part = FilePart(PartType.IMAGE, "file_image", detail=ImageDetail.LOW, info=inspect(RED))
    request = ModelRequest((Message.of_parts(MessageRole.USER, (part,)),), files=FILES)
    chat: Any = openai.request_for(account("openai"), "gpt-5-mini", request).body
    assert chat["messages"][0]["content"][0]["image_url"]["detail"] == "low"
    responses: Any = openai_responses.request_for(account("openai"), "gpt-5-mini", request).body
    assert responses["input"][0]["content"][0]["detail"] == "low"


def test_mistral_gets_a_pdf_as_a_document() -> None:
    body: Any = openai.request_for(account("mistral"), "mistral-small-latest", TALK).body
    assert body["messages"][1]["content"][2] == {
        "type": "document_url",
        "document_url": PDF_URL,
        "document_name": "terms [v2].pdf",
    }


def test_the_responses_api_has_its_own_names() -> None:
    body: Any = openai_responses.request_for(account("openai"), "gpt-5-mini", TALK).body
    assert sent(body["input"][1]["content"]) == [
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_image", "image_url": IMAGE_URL, "detail": "auto"},
        {"type": "input_file", "filename": "terms [v2].pdf", "file_data": PDF_URL},
    ]


def test_anthropic_gets_base64_sources() -> None:
    body: Any = anthropic.request_for(account("anthropic"), "claude-haiku-4-5", TALK).body
    assert sent(body["messages"][0]["content"]) == [
        {"type": "text", "text": "What is this?"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": IMAGE_64}},
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": PDF_64},
            "title": "terms [v2].pdf",
        },
    ]


@pytest.mark.parametrize("wire_format", [google, vertex])
def test_gemini_gets_inline_data(wire_format: Any) -> None:
    provider = "google" if wire_format is google else "vertex"
    body: Any = wire_format.request_for(account(provider), "gemini-2.5-flash", TALK).body
    assert body["contents"][0]["parts"] == [
        {"text": "What is this?"},
        {"inlineData": {"mimeType": "image/png", "data": IMAGE_64}},
        {"inlineData": {"mimeType": "application/pdf", "data": PDF_64}},
    ]


def test_claude_on_vertex_gets_anthropics_blocks() -> None:
    body: Any = vertex.request_for(account("vertex"), "claude-sonnet-4-5", TALK).body
    assert body["messages"][0]["content"][1]["source"]["data"] == IMAGE_64


async def test_bedrock_gets_bytes_and_neutral_names() -> None:
    """botocore checks the arguments against the service's own model."""
    arguments = bedrock.converse_arguments("amazon.nova-lite-v1:0", TALK)
    assert arguments["messages"][0]["content"] == [
        {"text": "What is this?"},
        {"image": {"format": "png", "source": {"bytes": RED}}},
        {"document": {"format": "pdf", "source": {"bytes": PDF}, "name": "document-1"}},
    ]
    answer = {
        "output": {"message": {"role": "assistant", "content": [{"text": "Red"}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10},
        "metrics": {"latencyMs": 300},
    }
    with Stubber(boto3.client("bedrock-runtime", region_name="us-east-1")) as stub:
        stub.add_response("converse", answer, arguments)
        now = datetime(2026, 11, 22, tzinfo=UTC)
        reply = await bedrock.complete(
            Account("bedrock", ""), "amazon.nova-lite-v1:0", TALK, 5, now, lambda *_: stub.client
        )
    assert reply.text == "Red"


def test_bedrock_documents_have_different_names_and_a_text_beside_them() -> None:
    alone = Message.of_parts(MessageRole.USER, (TERMS,))
    request = ModelRequest((alone, Message(MessageRole.ASSISTANT, "Fine"), alone), files=FILES)
    first, _, second = bedrock.converse_arguments("m", request)["messages"]
    assert first["content"][1] == {"text": "[file terms [v2].pdf, PDF]"}
    assert [each["content"][0]["document"]["name"] for each in (first, second)] == ["document-1", "document-2"]


def test_a_system_prompt_is_put_before_the_parts_of_the_first_message() -> None:
    folded = without(TALK, frozenset({RequestParameter.SYSTEM_ROLE}))
    assert folded.messages[0].parts[:2] == (TextPart("Be brief."), TextPart("What is this?"))
    assert folded.messages[0].files == (IMAGE, TERMS)


def test_a_request_without_the_content_is_not_made() -> None:
    with pytest.raises(ProviderError) as caught:
        openai.request_for(account("openai"), "gpt-5-mini", ModelRequest((ASKED,)))
    assert caught.value.code is ProbeErrorCode.FILE_NOT_FOUND


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (
            400,
            {
                "error": {
                    "message": "You uploaded an unsupported image. Please make sure your image has of one the "
                    "following formats: ['png', 'jpeg', 'gif', 'webp'].",
                    "type": "invalid_request_error",
                    "param": None,
                    "code": "invalid_image_format",
                }
            },
        ),
        (400, {"error": {"message": "Invalid content type. image_url is only supported by certain models."}}),
        (
            400,
            {
                "type": "error",
                "error": {
                    "type": "invalid_request_error",
                    "message": "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6500712 bytes > "
                    "5242880 bytes",
                },
            },
        ),
        (
            400,
            {
                "error": {
                    "code": 400,
                    "message": "Unable to process input image. Please retry or report in "
                    "https://developers.generativeai.google/guide/troubleshooting",
                    "status": "INVALID_ARGUMENT",
                }
            },
        ),
        (413, {"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}),
    ],
)
def test_a_refusal_of_an_image_is_an_invalid_request_and_of_no_parameter(status: int, body: Any) -> None:
    now = datetime(2026, 11, 22, tzinfo=UTC)
    error = error_from_response(status, CIMultiDict(), orjson.dumps(body), now)
    assert error.code is ProbeErrorCode.INVALID_REQUEST
    assert not error.retryable
    assert rejected_parameter(error, TALK) is None


MB = 1024 * 1024


@pytest.mark.parametrize(
    ("model", "files", "problem"),
    [
        ("openai/gpt-5-mini", {FileFormat.PNG: 4 * MB, FileFormat.PDF: MB}, None),
        ("openai/gpt-3.5-turbo", {FileFormat.PNG: 1}, "takes no images, and a message has one"),
        ("openai/some-future-model", {FileFormat.PNG: 1, FileFormat.PDF: 1}, None),
        ("anthropic/claude-haiku-4-5", {FileFormat.PNG: 4 * MB}, "takes images of at most 3,932,160 bytes"),
        ("anthropic/claude-haiku-4-5", {FileFormat.GIF: 3 * MB, FileFormat.PDF: 9 * MB}, None),
        ("bedrock/amazon.nova-lite-v1:0", {FileFormat.PDF: 5 * MB}, "takes PDFs of at most 4,718,592 bytes"),
        ("bedrock/amazon.nova-micro-v1:0", {FileFormat.JPEG: 1}, "takes no images"),
        ("google/gemini-2.5-flash", {FileFormat.GIF: 1}, "takes no GIF files"),
        ("vertex/gemini-2.5-flash", {FileFormat.GIF: 1}, "takes no GIF files"),
        ("vertex/claude-sonnet-4-5", {FileFormat.PNG: 5 * MB}, "takes images of at most"),
        ("xai/grok-4.20", {FileFormat.PDF: 1}, "takes no PDFs"),
        ("mistral/mistral-small-latest", {FileFormat.PDF: 1}, None),
        ("sim/steady", {FileFormat.PNG: 1, FileFormat.PDF: 1}, None),
        ("custom/llava", {FileFormat.PNG: 1}, None),
        ("nonsense", {FileFormat.PNG: 1}, None),
    ],
)
def test_what_a_model_takes(model: str, files: dict[FileFormat, int], problem: str | None) -> None:
    error = file_error(model, files)
    assert error is None if problem is None else (error or "").startswith(problem)


async def test_a_simulated_model_describes_what_it_sees() -> None:
    photo = jpeg(640, 480)
    photo_part = FilePart(PartType.IMAGE, "file_photo", info=FileInfo(FileFormat.JPEG, len(photo), 640, 480))
    asked = Message.of_parts(MessageRole.USER, (TextPart("What is this?"), IMAGE, photo_part, TERMS))
    request = ModelRequest((asked,), files={**FILES, "file_photo": photo})
    reply = await complete(Account("sim", ""), "sim/steady", request, 5)
    assert reply.text.splitlines()[:4] == [
        "Image 1 (red.png): PNG, 4×3 pixels, average color #ff0000 (red).",
        "Image 2: JPEG, 640×480 pixels, average color unknown, because only PNGs are decoded.",
        f"File 3 (terms [v2].pdf): PDF, {len(PDF)} bytes; its content is not read.",
        "",
    ]
    assert reply.text.splitlines()[-1].startswith("Rating: ")


async def test_a_simulated_model_does_not_describe_earlier_images() -> None:
    messages = (ASKED, Message(MessageRole.ASSISTANT, "Red"), Message(MessageRole.USER, "Sure?"))
    reply = await complete(Account("sim", ""), "sim/steady", ModelRequest(messages, files=FILES), 5)
    assert "Image" not in reply.text


async def test_echo_repeats_the_note() -> None:
    reply = await complete(Account("sim", ""), "sim/echo", ModelRequest((ASKED,), files=FILES), 5)
    assert reply.text == "What is this?\n[image red.png, 4×3 PNG]\n[file terms [v2].pdf, PDF]"
