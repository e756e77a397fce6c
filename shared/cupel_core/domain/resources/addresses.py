from urllib.parse import urlsplit


def is_same_address(one: str, other: str) -> bool:
    """Return whether two URLs name the same place: the host ignores case, and the path ignores trailing slashes."""
    return _canonical(one) == _canonical(other)


def _canonical(url: str) -> tuple[str, ...]:
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.netloc.lower(), parts.path.rstrip("/"), parts.query
