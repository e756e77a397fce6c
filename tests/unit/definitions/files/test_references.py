"""From messages as they are written to messages as they are stored."""

import base64

import pytest

from cupel_core.domain.codec import decode, encode
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.parts import FilePart, ImageDetail, PartType, TextPart
from cupel_core.domain.definitions.prompts import Prompt, opening_messages
from cupel_core.domain.definitions.scenarios import Scenario, ScenarioPage, largest_files_of
from cupel_core.domain.files import data_urls
from cupel_core.domain.files.formats import FileFormat, FileInfo, digest_of, file_id
from cupel_core.domain.files.references import References
from tests.files_for_tests import PDF, png

CAT = FileInfo(FileFormat.PNG, 2_000, 640, 480)
CAT_ID = "file_" + "c" * 32
CAT_PART = FilePart(PartType.IMAGE, CAT_ID, "cat.png", ImageDetail.LOW, CAT)


def question(*parts: FilePart | TextPart) -> Message:
    return Message.of_parts(MessageRole.USER, (TextPart("What is this?"), *parts))


def scenario(*messages: Message) -> Scenario:
    return Scenario("scn_1", "one", messages)


def test_a_message_reads_as_its_texts_with_a_note_for_each_file() -> None:
    message = question(CAT_PART, FilePart(PartType.FILE, "file_x", None, None, FileInfo(FileFormat.PDF, 10)))
    assert message.content == "What is this?\n[image cat.png, 640×480 PNG]\n[file, PDF]"
    assert message.spoken_text == "What is this?"


def test_a_message_of_texts_alone_is_one_text() -> None:
    message = Message.of_parts(MessageRole.USER, (TextPart("a"), TextPart("b")))
    assert message == Message(MessageRole.USER, "a\nb")


def test_a_message_with_files_is_stored_and_read_again() -> None:
    message = question(CAT_PART)
    assert Message.from_json(message.to_json()) == message
    assert message.to_json()["content"] == [
        {"type": "text", "text": "What is this?"},
        {
            "type": "image",
            "fileId": CAT_ID,
            "name": "cat.png",
            "detail": "low",
            "mediaType": "image/png",
            "size": 2_000,
            "width": 640,
            "height": 480,
        },
    ]


def test_a_text_message_is_stored_as_before() -> None:
    assert Message(MessageRole.USER, "a").to_json() == {"role": "user", "content": "a"}


def test_a_file_is_looked_up_by_its_id() -> None:
    references = References({CAT_ID: CAT}.get)
    resolved = references.scenario(scenario(question(FilePart(PartType.IMAGE, CAT_ID))), "items.0.")
    assert resolved.messages[0].files[0].info == CAT
    assert not references.problems


def test_a_data_url_becomes_a_new_file() -> None:
    content = png(2, 2)
    references = References({}.get)
    part = FilePart(PartType.IMAGE, name="a.png", data_url=data_urls.encode(content, FileFormat.PNG))
    resolved = references.scenario(scenario(question(part)), "").messages[0].files[0]
    new_id = file_id(digest_of(content))
    assert (resolved.file_id, resolved.data_url) == (new_id, None)
    assert references.new_files[new_id].content == content


@pytest.mark.parametrize(
    ("part", "field", "problem"),
    [
        (FilePart(PartType.IMAGE, "file_unknown"), "fileId", "there is no file file_unknown"),
        (FilePart(PartType.FILE, CAT_ID), "type", "must be image: it is a PNG"),
        (FilePart(PartType.IMAGE, data_url=data_urls.encode(PDF, FileFormat.PDF)), "type", "must be file: it is a PDF"),
        (FilePart(PartType.IMAGE, data_url="data:image/png;base64,!"), "dataUrl", "is not valid base64"),
        (
            FilePart(PartType.IMAGE, data_url=data_urls.encode(png(1, 1), FileFormat.GIF)),
            "dataUrl",
            "is a PNG, not image/gif",
        ),
        (
            FilePart(PartType.IMAGE, data_url=f"data:image/png;base64,{base64.b64encode(b'<svg/>').decode()}"),
            "dataUrl",
            "is none of",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_named(part: FilePart, field: str, problem: str) -> None:
    references = References({CAT_ID: CAT}.get)
    references.scenario(scenario(question(part)), "items.3.")
    ((where, message),) = references.problems
    assert where == f"items.3.messages.0.content.1.{field}"
    assert problem in message


def test_the_files_of_a_scenario_are_limited_together() -> None:
    large = FileInfo(FileFormat.PDF, 8 * 1024 * 1024)
    references = References({CAT_ID: large}.get)
    references.scenario(scenario(question(*[FilePart(PartType.FILE, CAT_ID)] * 3)), "")
    assert references.problems[0].message == "have files of 25,165,824 bytes together; the maximum is 20,971,520"


def test_a_prompts_texts_are_rendered_and_its_files_kept() -> None:
    asked = Message.of_parts(MessageRole.USER, (TextPart("Is this a [animal]?"), CAT_PART))
    prompt = Prompt("p", messages=(asked,))
    case = Scenario("scn_1", "one", (), metadata={"vars": {"animal": "cat"}})
    assert opening_messages(None, case, {}, prompt)[0].content == "Is this a cat?\n[image cat.png, 640×480 PNG]"


def test_the_files_of_a_scenarios_message_follow_its_text_into_a_prompt() -> None:
    prompt = Prompt("p", messages=(Message(MessageRole.USER, "A customer asks: [message]"),))
    opening = opening_messages(None, scenario(question(CAT_PART)), {}, prompt)[0]
    assert opening.parts == (TextPart("A customer asks: What is this?"), CAT_PART)


def test_a_prompt_without_the_message_does_not_get_its_files() -> None:
    prompt = Prompt("p", messages=(Message(MessageRole.USER, "Hello"),))
    assert opening_messages(None, scenario(question(CAT_PART)), {}, prompt)[0].parts == ()


def test_a_page_of_scenarios_says_which_files_are_the_largest() -> None:
    largest = largest_files_of([scenario(question(CAT_PART)), scenario(Message(MessageRole.USER, "a"))])
    page = ScenarioPage("k", 2, largest_files=tuple((str(each), size) for each, size in largest.items()))
    assert decode(ScenarioPage, encode(page)) == page
    assert encode(page)["largestFiles"] == [["png", 2_000]]
