"""The JSON object in a model's reply that surrounds it with reasoning, a code fence or other text."""

import json

from cupel_core.domain.text.reasoning import separate_reasoning

_MAX_ATTEMPTS = 50
"""Each attempt to decode may read the whole text."""


def extract_json_object(text: str) -> str:
    """The last complete JSON object, as reasoning comes first; the text from the first to the last brace if there is
    none, so that the reader's error describes it.
    """
    text = separate_reasoning(text).answer
    decoder, found = json.JSONDecoder(), None
    position = text.find("{")
    for _ in range(_MAX_ATTEMPTS):
        if position < 0:
            break
        try:
            _, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            found = text[position:end]
        position = text.find("{", end)
    if found is not None:
        return found
    first, last = text.find("{"), text.rfind("}")
    return text[first : last + 1] if 0 <= first < last else text
