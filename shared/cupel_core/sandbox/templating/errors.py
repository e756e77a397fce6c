"""The error of templates. It is separate from Jinja, whose import takes a twentieth of a cold start."""


class RenderError(ValueError):
    """A template cannot be rendered. The message says why."""
