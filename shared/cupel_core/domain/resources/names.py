"""Names of resources: unique within a workspace and kind, ignoring case."""

import unicodedata

MAX_NAME_LENGTH = 100


_MAX_NAME_BYTES = 1_024
"""DynamoDB's limit of a sort key, which the folded name is."""


def fold_name(name: str) -> str:
    """Names that differ in case, in spaces or in how an accent is encoded are the same name."""
    return " ".join(unicodedata.normalize("NFC", name).split()).casefold()


def is_valid_name(name: str) -> bool:
    """Whether the name is not blank, and fits a sort key. Some characters take more bytes once they are folded."""
    return 0 < len(fold_name(name).encode()) <= _MAX_NAME_BYTES
