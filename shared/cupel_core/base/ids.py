"""Makes identifiers. Most sort by creation time: a prefix, 48 bits of milliseconds, 80 random bits (ULID layout)."""

import secrets
import time
from hashlib import sha256

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford base 32
_LENGTH = 26
_SHORT_LENGTH = 12


def new_id(prefix: str) -> str:
    """Return an id such as `run_01jd3v6k0q8f7w2m5xz9c4htbn` for `new_id("run")`."""
    return f"{prefix}_{_encode((time.time_ns() // 1_000_000) << 80 | secrets.randbits(80), _LENGTH)}"


def content_id(prefix: str, content: bytes) -> str:
    """Return the same id for the same content, in the form of other ids."""
    return f"{prefix}_{_encode(int.from_bytes(sha256(content).digest()[:17]) >> 6, _LENGTH)}"


def new_short_id() -> str:
    """Return 60 random bits, to distinguish few things: `m5xz9c4htbn0`."""
    return _encode(secrets.randbits(5 * _SHORT_LENGTH), _SHORT_LENGTH)


def _encode(number: int, length: int) -> str:
    return "".join(_ALPHABET[(number >> (5 * digit)) & 31] for digit in reversed(range(length)))
