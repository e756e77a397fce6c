def beginning(text: str, max_length: int) -> str:
    """Return the text, or so much of it that it has this length with an ellipsis."""
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"
