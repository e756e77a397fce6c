"""Which addresses are not public, and which URLs and headers are invalid."""

from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis.strategies import ip_addresses

from cupel_core.providers.addresses import header_errors, is_non_public_address, redact, url_error
from tests.in_one_test import in_one_test

NON_PUBLIC = {
    "loopback": "127.0.0.1 127.255.255.254 ::1",
    "private": "10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 fd12:3456::1 fc00::1",
    "link-local": "169.254.1.1 fe80::1 fe80::1%eth0",
    "metadata": "169.254.169.254 169.254.170.2 fd00:ec2::254 100.100.100.200",
    "shared by carriers": "100.64.0.1 100.127.255.255",
    "unspecified": "0.0.0.0 0.1.2.3 ::",
    "multicast": "224.0.0.1 239.255.255.255 ff02::1 ff0e::1",
    "reserved": "240.0.0.1 255.255.255.255 192.0.0.1 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1 4000::1 2001:db8::1",
    "site-local": "fec0::1",
    "mapped": "::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254",
    "compatible": "::127.0.0.1 ::10.0.0.1",
    "nat64": "64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b:1::1",
    "6to4": "2002:7f00:1:: 2002:a00:1::1 2002:a9fe:a9fe::",
    "teredo": "2001:0:7f00:1::",
    "Azure's host agent": "168.63.129.16 ::ffff:168.63.129.16",
}
REGISTRIES = (
    "0.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.0.0.0/29", "192.0.0.8/32", "192.0.0.9/32", "192.0.0.10/32", "192.0.0.170/32",
    "192.0.0.171/32", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.88.99.2/32",
    "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
    "255.255.255.255/32", "::1/128", "::/128", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23",
    "2001::/32", "2001:1::1/128", "2001:1::2/128", "2001:1::3/128", "2001:2::/48", "2001:3::/32", "2001:4:112::/48",
    "2001:10::/28", "2001:20::/28", "2001:30::/28", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
    "5f00::/16", "fc00::/7", "fe80::/10",
)  # fmt: skip
"""The blocks of IANA's IPv4 and IPv6 special-purpose address registries (2025-10-09), but for the two that embed any
IPv4 address: `::ffff:0:0/96` and `64:ff9b::/96`."""
PUBLIC = ("1.1.1.1", "93.184.215.14", "2606:4700:4700::1111", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1")


@in_one_test("address", [address for group in NON_PUBLIC.values() for address in group.split()])
def test_an_address_outside_public_networks_is_not_public(address: str) -> None:
    assert is_non_public_address(address)


@in_one_test("block", REGISTRIES)
def test_no_address_with_a_special_purpose_is_public(block: str) -> None:
    network = ip_network(block)
    middle = network[network.num_addresses // 2]
    assert all(is_non_public_address(str(each)) for each in (network[0], middle, network[-1]))


@in_one_test("block", REGISTRIES)
def test_the_neighbours_of_a_special_block_are_public_unless_they_are_special_themselves(block: str) -> None:
    network = ip_network(block)
    first, last = int(network[0]), int(network[-1])
    for number in (first - 1, last + 1):
        if 0 <= number < 2**network.max_prefixlen:
            address = network[0].__class__(number)
            blocks = (*REGISTRIES, "224.0.0.0/4", "::/3", "4000::/2", "8000::/1")
            is_special = any(address in ip_network(each) for each in blocks)
            assert is_non_public_address(str(address)) is is_special


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_public(address: str) -> None:
    assert not is_non_public_address(address)


@given(ip_addresses(v=4))
def test_an_ipv4_address_is_classified_alike_in_every_ipv6_form(address: object) -> None:
    assert {is_non_public_address(f"::ffff:{address}"), is_non_public_address(f"64:ff9b::{address}")} == {
        is_non_public_address(str(address))
    }


@pytest.mark.parametrize(
    "url",
    [
        "http://agent.example",
        "https://agent.example:8443/v1?key=1",
        "http://127.0.0.1:2024",
        "http://[::1]:2024/",
    ],
)
def test_an_http_url_is_valid(url: str) -> None:
    assert url_error(url) is None


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("", "must start with"),
        ("agent.example", "must start with"),
        ("ftp://agent.example", "must start with"),
        ("file:///etc/passwd", "must start with"),
        ("http://", "must start with"),
        ("http://host:0", "must start with"),
        ("http://user:secret@agent.example", "must not contain a user"),
        ("http://agent.example/#part", "fragment"),
        ("http://agent.example/a b", "spaces"),
        ("http://agent.example:port", "not a valid"),
        ("http://[::1", "not a valid"),
        ("http://agent.example/" + "a" * 2000, "at most 2000"),
    ],
)
def test_any_other_url_is_rejected(url: str, error: str) -> None:
    assert error in (url_error(url) or "")


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding", "Connection", "Content-Type"])
def test_a_header_of_the_http_client_is_rejected(name: str) -> None:
    assert header_errors({name: "x", "x-fine": "y"}) == [(name, "is set by the HTTP client and cannot be overridden")]


@pytest.mark.parametrize("headers", [{"x y": "z"}, {"": "z"}, {"x": "secret\r\nHost: inside"}, {"x": "secret\0"}])
def test_the_error_for_an_invalid_header_does_not_contain_its_value(headers: dict[str, str]) -> None:
    [(_, reason)] = header_errors(headers)
    assert "secret" not in reason


def test_if_one_secret_contains_another_the_longer_is_redacted_first() -> None:
    assert redact("Bearer abc, abc", ["abc", "Bearer abc", ""]) == "[hidden], [hidden]"
