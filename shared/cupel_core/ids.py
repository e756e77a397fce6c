"""Identifiers that sort by creation time: a prefix, 48 bits of milliseconds, 80 random bits (ULID layout)."""

import secrets
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford base 32
_LENGTH = 26


def new_id(prefix: str) -> str:
    """`new_id("run")` → `run_01jd3v6k0q8f7w2m5xz9c4htbn`."""
    number = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    digits = [_ALPHABET[(number >> (5 * digit)) & 31] for digit in reversed(range(_LENGTH))]
    return f"{prefix}_{''.join(digits)}"
