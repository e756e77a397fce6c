import unicodedata

MAX_NAME_LENGTH = 100


_MAX_NAME_BYTES = 1_024
"""DynamoDB's limit for a sort key; the folded name is one."""


def fold_name(name: str) -> str:
    """Return a form that is equal for names that differ in case, in spaces or in how an accent is encoded."""
    return " ".join(unicodedata.normalize("NFC", name).split()).casefold()


def is_valid_name(name: str) -> bool:
    """Return whether the name is not blank and fits a sort key; some characters take more bytes when they are
    folded."""
    return 0 < len(fold_name(name).encode()) <= _MAX_NAME_BYTES
