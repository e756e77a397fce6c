"""Addresses of servers that a workspace names, and the secrets that belong to them."""

from urllib.parse import urlsplit


def is_same_address(one: str, other: str) -> bool:
    """Whether two URLs name the same place: host ignoring case, path ignoring trailing slashes."""
    return _canonical(one) == _canonical(other)


def _canonical(url: str) -> tuple[str, ...]:
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.netloc.lower(), parts.path.rstrip("/"), parts.query
