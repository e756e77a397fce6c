"""Recognizes texts that look like API keys, which profiles refuse and records of turns mask."""

import re

_SECRET = re.compile(r"\b(sk-[A-Za-z0-9_-]{16,}|Bearer\s+[A-Za-z0-9._~+/-]{16,})")


def has_secret(text: str) -> bool:
    return _SECRET.search(text) is not None


def masked(text: str) -> str:
    return _SECRET.sub("[hidden]", text)
