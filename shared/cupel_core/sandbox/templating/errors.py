"""The error of templates, apart from Jinja, whose import takes a twentieth of a cold start."""


class RenderError(ValueError):
    """A template cannot be rendered; the message says why."""
