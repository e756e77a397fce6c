from cupel.json_types import Json


def content_text(message: Json) -> str:
    """Return the text of a message; of one with images or files, its texts with a note in place of each of these."""
    content = message["content"]
    if isinstance(content, str):
        return content
    from cupel_core.domain.conversations.parts import as_text, part_from_json  # few messages have any

    return as_text(map(part_from_json, content))


def with_text(message: Json) -> Json:
    return {**message, "content": content_text(message)}
