"""Expected values."""


def colours(output, context):
    """Return texts that an answer has to contain."""
    return ["red", "green"]
