"""The rules of SSRF protection: which addresses and headers may be used in outgoing requests.

They are checked when they are saved and again when a request is made.
"""

import re
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

MAX_URL_LENGTH = 2000
_NAT64 = IPv6Network("64:ff9b::/96")
_PUBLIC_UNICAST = IPv6Network("2000::/3")
"""The range IANA allocates to public addresses. Others belong to one network or one link, or are unassigned."""
_SPECIAL_IPV4 = tuple(map(IPv4Network, (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
    "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
)))  # fmt: skip
"""IANA's special-purpose registry of 2025-10-09, multicast, and the host agent of Azure's machines.

Entries that the registry calls globally reachable are anycast addresses of protocols, which may lead into the own
network.
"""
_SPECIAL_PUBLIC_IPV6 = tuple(map(IPv6Network, (
    "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
)))  # fmt: skip
"""The networks of IANA's special-purpose registry that lie within `_PUBLIC_UNICAST`."""

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FORBIDDEN_HEADER_CHARACTERS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_RESERVED_HEADERS = frozenset({
    "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "expect", "host",
    "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
})  # fmt: skip


def is_non_public_address(address: str) -> bool:
    """Return whether an IP address is loopback, private, link-local, cloud metadata, multicast or reserved. An IPv6
    address that embeds an IPv4 address (mapped, NAT64) is classified like the embedded one."""
    ip = ip_address(address)
    if isinstance(ip, IPv4Address):
        return any(ip in network for network in _SPECIAL_IPV4)
    embedded = _embedded_ipv4(ip)
    if embedded is not None:
        return is_non_public_address(str(embedded))
    return ip not in _PUBLIC_UNICAST or any(ip in network for network in _SPECIAL_PUBLIC_IPV6)


def _embedded_ipv4(ip: IPv6Address) -> IPv4Address | None:
    if ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped


def url_error(url: str) -> str | None:
    """Return why this URL cannot be called, or None. It must not contain secrets, because it is displayed."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "is not a valid URL"
    if len(url) > MAX_URL_LENGTH or re.search(r"[\s\x00-\x1f\x7f]", url):
        return f"must be a URL of at most {MAX_URL_LENGTH} characters, without spaces"
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        return "must start with http:// or https:// and name a host"
    if parts.username is not None or parts.password is not None:
        return "must not contain a user or password; use a header"
    return "must not have a fragment" if parts.fragment else None


_BEDROCK_HOST = re.compile(r"bedrock-runtime(-fips)?\.[a-z]{2}(-[a-z]+)+-\d\.(amazonaws\.com(\.cn)?|api\.aws)")


def is_bedrock_address(url: str) -> bool:
    """Return whether this is an endpoint of Amazon Bedrock, in any region. No other server gets requests signed with
    the function's role."""
    parts = urlsplit(url)
    is_root = parts.port in (None, 443) and parts.path in ("", "/")
    return parts.scheme == "https" and is_root and _BEDROCK_HOST.fullmatch(parts.hostname or "") is not None


def header_errors(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the name and the reason of each header that cannot be sent. Reasons never contain values."""
    return [(name, reason) for name, value in headers.items() if (reason := _header_error(name, value))]


def _header_error(name: str, value: str) -> str | None:
    if not _HEADER_NAME.fullmatch(name):
        return "is not a valid header name"
    if name.lower() in _RESERVED_HEADERS:
        return "is set by the HTTP client and cannot be overridden"
    if _FORBIDDEN_HEADER_CHARACTERS.search(value):
        return "contains characters that are not allowed in a header"
    return None


def redact(text: str, secrets: Iterable[str]) -> str:
    """Return the text with every secret replaced by `[hidden]`, the longest first, as one may contain another."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "[hidden]")
    return text
