"""The error of templates. It is separate from Jinja, whose import takes a twentieth of a cold start."""


class RenderError(ValueError):
    pass
