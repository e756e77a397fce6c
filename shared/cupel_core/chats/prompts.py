from collections.abc import Iterator

from cupel_core.base.messages import ChatRef
from cupel_core.chats.branches import sessions_before
from cupel_core.chats.exchanges import read_pointers, show
from cupel_core.domain.chats.branches import ChatBranch, MessageSide
from cupel_core.domain.chats.chats import DEFAULT_HISTORY_LIMIT, MAX_PROMPT_LENGTH
from cupel_core.domain.chats.messages import ShownExchange
from cupel_core.domain.chats.turns import TurnHead
from cupel_core.domain.codec import decode
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.pipeline.turns import StoredArtifact
from cupel_core.store import chat_branches, chat_texts

_EXCHANGES_AT_A_TIME = DEFAULT_HISTORY_LIMIT
"""Number of exchanges that are read together: 200 of the longest messages would take most of a worker's memory."""


def load_messages(ref: ChatRef, head: TurnHead, branch: ChatBranch) -> tuple[Message, ...]:
    """Return the system prompt, the last exchanges of the branch before the turn's, and the user's message."""
    first = max(0, head.position - head.settings.history_limit)
    key = head.exchange_id, MessageSide.USER, head.user_variant
    current = chat_branches.get_variants(ref, [key])[key].content
    system = head.settings.system or ""
    leading = (Message(MessageRole.SYSTEM, system),) if system.strip() else ()
    room = MAX_PROMPT_LENGTH - len(system) - len(current)
    last = _last_messages(ref, branch, range(first, head.position), room)
    return (*leading, *last, Message(MessageRole.USER, current))


def template_names(ref: ChatRef, head: TurnHead) -> dict[str, object]:
    """Return the names that templates of operations can use for the chat, besides its messages."""
    return {
        "chat": {"id": ref.chat_id, "title": head.settings.title, "branchId": head.branch_id},
        "exchange": {"id": head.exchange_id, "position": head.position},
    }


def _last_messages(ref: ChatRef, branch: ChatBranch, positions: range, room: int) -> list[Message]:
    """Return the messages of the last exchanges that fit whole into `room` characters."""
    messages: list[Message] = []
    for exchange in _newest_first(ref, branch, positions):
        added = list(_messages(exchange))
        room -= sum(len(message.content) for message in added)
        if room < 0:
            break
        messages = [*added, *messages]
    return messages


def _newest_first(ref: ChatRef, branch: ChatBranch, positions: range) -> Iterator[ShownExchange]:
    """Yield exchanges, reading a few at a time: a prompt has room for few long messages."""
    for end in range(positions.stop, positions.start, -_EXCHANGES_AT_A_TIME):
        start = max(positions.start, end - _EXCHANGES_AT_A_TIME)
        yield from reversed(show(ref, read_pointers(ref, branch, range(start, end)), frozenset()))


def _messages(exchange: ShownExchange) -> Iterator[Message]:
    for role, shown in ((MessageRole.USER, exchange.user), (MessageRole.ASSISTANT, exchange.answer)):
        if shown is not None and shown.variant.content.strip():
            yield Message(role, shown.variant.content)


def load_artifacts(ref: ChatRef, branch: ChatBranch, session: str, before: int) -> dict[str, StoredArtifact]:
    """Return the artifacts as the last exchange before this position has left them. So another answer to the same
    message begins with the same artifacts as the first one."""
    turn_id = sessions_before(ref, branch, before).get(session)
    if turn_id is None:
        return {}
    return {tag: decode(StoredArtifact, each) for tag, each in chat_texts.get_artifacts(ref, turn_id).items()}
