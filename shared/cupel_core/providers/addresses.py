"""What may be asked outside, by its address and its headers: rules for whoever saves them and for whoever calls."""

import re
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

MAX_URL = 2000
_NAT64 = IPv6Network("64:ff9b::/96")
_UNICAST = IPv6Network("2000::/3")
"""All that IANA has given out for the public; what lies outside of it is for one network, one link or nobody."""

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NO_HEADER_TEXT = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_OURS = frozenset({
    "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "expect", "host",
    "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
})  # fmt: skip


def is_inside(address: str) -> bool:
    """Whether an IP address leads to this machine, its network or its cloud, or to nobody, rather than to the public.

    An IPv6 address that stands for one of IPv4 (mapped, NAT64, 6to4) leads where that one does.
    """
    ip = ip_address(address)
    if isinstance(ip, IPv4Address):
        return not ip.is_global or ip.is_multicast or ip.is_reserved
    inner = _ipv4_within(ip)
    if inner is not None:
        return is_inside(str(inner))
    return ip not in _UNICAST or not ip.is_global


def _ipv4_within(ip: IPv6Address) -> IPv4Address | None:
    if ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour


def url_complaint(url: str) -> str | None:
    """What is wrong with an address to be called, if anything. It may hold no secrets: it is shown."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "is not a valid URL"
    if len(url) > MAX_URL or re.search(r"[\s\x00-\x1f\x7f]", url):
        return f"must be a URL of at most {MAX_URL} characters, without blanks"
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        return "must start with http:// or https:// and name a host"
    if parts.username is not None or parts.password is not None:
        return "must not hold a user or a password: use a header"
    return "must not have a fragment" if parts.fragment else None


def header_complaints(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    """(name, what is wrong with it). Never tells a value."""
    return [(name, complaint) for name, value in headers.items() if (complaint := _header_complaint(name, value))]


def _header_complaint(name: str, value: str) -> str | None:
    if not _HEADER_NAME.fullmatch(name):
        return "is not the name of a header"
    if name.lower() in _OURS:
        return "is a header that the connection sets itself"
    if _NO_HEADER_TEXT.search(value):
        return "holds characters that no header can carry"
    return None


def hide(text: str, secrets: Iterable[str]) -> str:
    """The text without those secrets that it repeats; the longest first, as one may be part of another."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "[hidden]")
    return text
