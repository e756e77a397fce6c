"""Transforms of an answer."""


def get_transform(output, context):
    """Shout."""
    return output.upper() + "!"


def get_parts(output, context):
    """Return a list."""
    return output.strip().split(";")
