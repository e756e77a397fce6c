"""What a turn begins with: the messages of its branch, and the artifacts of its profile session."""

from collections.abc import Iterator

from cupel_core.chats.exchanges import read_pointers, show
from cupel_core.domain.chats.branches import POINTERS_PER_PAGE, ChatBranch, MessageSide
from cupel_core.domain.chats.chats import MAX_PROMPT_LENGTH
from cupel_core.domain.chats.messages import ShownExchange
from cupel_core.domain.chats.turns import TurnHead
from cupel_core.domain.pipeline.turns import StoredArtifact
from cupel_core.domain.turns.model_request import Message, MessageRole
from cupel_core.messages import ChatRef
from cupel_core.store import chat_branches, chat_turns


def load_messages(ref: ChatRef, head: TurnHead) -> tuple[Message, ...]:
    """The system prompt, the last exchanges before the turn's, and the user's message."""
    branch = chat_branches.get(ref, head.branch_id)
    first = max(0, head.position - head.settings.history_limit)
    shown = show(ref, read_pointers(ref, branch, range(first, head.position)), frozenset())
    wanted = head.exchange_id, MessageSide.USER, head.user_variant
    current = chat_branches.get_variants(ref, [wanted])[wanted].content
    system = head.settings.system or ""
    leading = (Message(MessageRole.SYSTEM, system),) if system.strip() else ()
    room = MAX_PROMPT_LENGTH - len(system) - len(current)
    return (*leading, *_last_messages(shown, room), Message(MessageRole.USER, current))


def _last_messages(exchanges: list[ShownExchange], room: int) -> list[Message]:
    """Those of the last exchanges that have room, in characters, as a whole."""
    messages: list[Message] = []
    for exchange in reversed(exchanges):
        added = list(_messages([exchange]))
        room -= sum(len(message.content) for message in added)
        if room < 0:
            break
        messages = [*added, *messages]
    return messages


def _messages(exchanges: list[ShownExchange]) -> Iterator[Message]:
    for exchange in exchanges:
        for role, shown in ((MessageRole.USER, exchange.user), (MessageRole.ASSISTANT, exchange.answer)):
            if shown is not None and shown.variant.content.strip():
                yield Message(role, shown.variant.content)


def load_artifacts(ref: ChatRef, branch_id: str, session: str, before: int) -> dict[str, StoredArtifact]:
    """As the last exchange before this position has left them, so that an answer that is generated again sees what
    the first one saw."""
    turn_id = _last_turn(ref, chat_branches.get(ref, branch_id), session, before)
    if turn_id is None:
        return {}
    return {tag: StoredArtifact.from_json(each) for tag, each in chat_turns.get_artifacts(ref, turn_id).items()}


def _last_turn(ref: ChatRef, branch: ChatBranch, session: str, before: int) -> str | None:
    for start in range((before - 1) // POINTERS_PER_PAGE * POINTERS_PER_PAGE, -1, -POINTERS_PER_PAGE):
        pointers = read_pointers(ref, branch, range(start, min(before, start + POINTERS_PER_PAGE)))
        for pointer in reversed(pointers):
            if session in pointer.sessions:
                return pointer.sessions[session]
    return None
