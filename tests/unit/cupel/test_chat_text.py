"""`cupel chat` prints an answer while it is written."""

from cupel.render_chat import WrittenText
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.providers.errors import ProviderError
from tests.profiles import operation, profile
from tests.unit.cupel.api_function import command_of, connect_to_api_function
from tests.unit.streamed_turns import StreamedTurns
from tests.unit.streamed_turns import streamed as streamed


def test_text_is_printed_as_it_arrives(streamed: StreamedTurns) -> None:
    """The model writes on once the command has read what it has written."""
    streamed.attempts = [["Good ", "day.", "\n", "Bye."]]
    talked = command_of(connect_to_api_function())("chat", "--model", "sim/steady", stdin="hello\n")
    assert (talked.exit_code, talked.stdout) == (0, "Good day.\nBye.\n")


def test_a_call_that_is_made_again_begins_anew(streamed: StreamedTurns) -> None:
    refusal = ProviderError(ProbeErrorCode.INVALID_REQUEST, "stream_options is not supported")
    streamed.attempts = [["Goo", refusal], ["Good day."]]
    talked = command_of(connect_to_api_function())("chat", "--model", "sim/echo", stdin="hello\n")
    assert talked.stdout == "Goo\nGood day.\n"
    assert "the call failed and is made again" in talked.stderr


def test_a_rewritten_answer_is_printed_as_a_whole(streamed: StreamedTurns) -> None:
    client = connect_to_api_function()
    template, effect = {"template": "GOOD DAY"}, {"type": "turn.assistant.rewrite"}
    shout = operation("shout", hooks=["after_main_llm"], params=template, effects=[effect])
    client.create_profile(profile(shout, name="shouting"))
    streamed.attempts = [["Good ", "day."]]
    talk = command_of(client)
    talked = talk("chat", "--model", "sim/steady", "--profile", "shouting", stdin="hello\n")
    assert talked.stdout == "Good day.\nGOOD DAY\n"
    assert "the answer was rewritten" in talked.stderr


def test_text_of_a_call_that_fails_ends_with_its_line(streamed: StreamedTurns) -> None:
    streamed.attempts = [["Goo", ProviderError(ProbeErrorCode.CONTENT_FILTERED, "refused", final=True)]]
    talked = command_of(connect_to_api_function())("chat", "--model", "sim/steady", stdin="hello\n")
    assert talked.stdout == "Goo\n"
    assert "failed: content_filtered: refused" in talked.stderr


def test_control_characters_do_not_reach_the_terminal(streamed: StreamedTurns) -> None:
    streamed.attempts = [["\x1b[", "2Jhello"]]
    talked = command_of(connect_to_api_function())("chat", "--model", "sim/steady", stdin="hello\n")
    assert talked.stdout == "[2Jhello\n"


def test_a_delta_is_applied_once_and_in_order() -> None:
    written = WrittenText()
    deltas = [(1, 0, "Hel"), (1, 0, "Hel"), (1, 4, "o"), (1, 1, "ello"), (2, 0, "Bye"), (1, 5, "!")]
    added = [written.add({"attempt": attempt, "offset": offset, "text": text}) for attempt, offset, text in deltas]
    assert added == ["Hel", "", "", "lo", "Bye", ""]
    assert (written.attempt, written.text) == (2, "Bye")
