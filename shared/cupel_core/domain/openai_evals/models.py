"""Converts names of models: `gpt-6.1-terra` is `openai/gpt-6.1-terra`; any other target has its provider in its
name."""

_OPENAI = "openai/"


def to_target(model: str) -> str:
    return model if "/" in model else f"{_OPENAI}{model}"


def from_target(target: str) -> str:
    return target.removeprefix(_OPENAI)
