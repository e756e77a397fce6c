from enum import StrEnum
from math import isfinite
from typing import Any

MAX_TEMPLATE_LENGTH = 20_000
"""All texts of one grader have at most this many characters."""
MAX_MESSAGES = 50
MAX_LABELS = 100
MAX_LABEL_LENGTH = 200
ROLES = ("system", "user", "assistant")
DEFAULT_RANGE = (0.0, 1.0)
_MAX_SCORE = 1_000_000_000
_PARAMS = ("maxOutputTokens", "temperature", "topP", "seed", "reasoningEffort")


class StringOperation(StrEnum):
    EQ = "eq"
    NE = "ne"
    LIKE = "like"
    ILIKE = "ilike"
    """The text contains the reference, ignoring case."""


class TextMetric(StrEnum):
    FUZZY_MATCH = "fuzzy_match"
    BLEU = "bleu"
    GLEU = "gleu"
    METEOR = "meteor"
    ROUGE_1 = "rouge_1"
    ROUGE_2 = "rouge_2"
    ROUGE_3 = "rouge_3"
    ROUGE_4 = "rouge_4"
    ROUGE_5 = "rouge_5"
    ROUGE_L = "rouge_l"


def string_check_error(value: Any) -> str | None:
    return _pair_error(value, "operation", StringOperation)


def text_similarity_error(value: Any) -> str | None:
    return _pair_error(value, "metric", TextMetric)


def embedding_similarity_error(value: Any) -> str | None:
    return _pair_error(value)


def label_model_error(value: Any) -> str | None:
    if error := _fields_error(value, ("messages", "labels", "passingLabels")) or messages_error(value["messages"]):
        return error
    labels, passing = value["labels"], value["passingLabels"]
    if not _are_labels(labels) or len(set(labels)) < len(labels):
        return f"must have labels: 1 to {MAX_LABELS} different texts of at most {MAX_LABEL_LENGTH} characters"
    if not _are_labels(passing) or not set(passing) <= set(labels):
        return "must have passingLabels that are among its labels"
    return None


def score_model_error(value: Any) -> str | None:
    error = _fields_error(value, ("messages",), ("range", "params"))
    if error := error or messages_error(value["messages"]):
        return error
    bounds, params = value.get("range", list(DEFAULT_RANGE)), value.get("params", {})
    if not isinstance(bounds, list) or len(bounds) != 2 or not all(map(_is_number, bounds)) or bounds[0] >= bounds[1]:
        return "must have a range of two numbers, the lower one first"
    if not isinstance(params, dict) or set(params) - set(_PARAMS):
        return f"must have params with no other names than {', '.join(_PARAMS)}"
    return None


def messages_error(messages: Any) -> str | None:
    if not isinstance(messages, list) or not 1 <= len(messages) <= MAX_MESSAGES or not all(map(_is_message, messages)):
        return f"must have 1 to {MAX_MESSAGES} messages with a role ({', '.join(ROLES)}) and a content"
    if sum(len(message["content"]) for message in messages) > MAX_TEMPLATE_LENGTH:
        return f"must have messages of at most {MAX_TEMPLATE_LENGTH:,} characters together"
    return None


def _pair_error(value: Any, choice: str | None = None, choices: type[StrEnum] | None = None) -> str | None:
    if error := _fields_error(value, ("input", "reference", *((choice,) if choice else ()))):
        return error
    if choice and choices and value[choice] not in list(choices):
        return f"must have one of these as its {choice}: {', '.join(choices)}"
    texts = (value["input"], value["reference"])
    if not all(isinstance(text, str) for text in texts) or sum(map(len, texts)) > MAX_TEMPLATE_LENGTH:
        return f"must have texts as input and reference, of at most {MAX_TEMPLATE_LENGTH:,} characters together"
    return None


def _fields_error(value: Any, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> str | None:
    if isinstance(value, dict) and set(required) <= set(value) <= {*required, *optional}:
        return None
    names = ", ".join((*required, *(f"{name} (optional)" for name in optional)))
    missing = [name for name in required if name not in value] if isinstance(value, dict) else []
    if missing:
        return f"must have {' and '.join(missing)}; its fields are {names}"
    return f"must be an object with these fields: {names}"


def _are_labels(labels: Any) -> bool:
    return (
        isinstance(labels, list)
        and 1 <= len(labels) <= MAX_LABELS
        and all(isinstance(label, str) and 0 < len(label) <= MAX_LABEL_LENGTH for label in labels)
    )


def _is_message(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and set(message) == {"role", "content"}
        and message["role"] in ROLES
        and isinstance(message["content"], str)
        and bool(message["content"])
    )


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and isfinite(value) and abs(value) <= _MAX_SCORE
