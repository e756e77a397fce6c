"""Which addresses lead inside, and which addresses and headers cannot be called at all."""

import pytest
from hypothesis import given
from hypothesis.strategies import ip_addresses

from cupel_core.providers.addresses import header_complaints, hide, is_inside, url_complaint

INSIDE = {
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
}
OUTSIDE = ("1.1.1.1", "93.184.215.14", "2606:4700:4700::1111", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::1")


@pytest.mark.parametrize("address", [each for group in INSIDE.values() for each in group.split()])
def test_an_address_of_no_public_network_is_inside(address: str) -> None:
    assert is_inside(address)


@pytest.mark.parametrize("address", OUTSIDE)
def test_a_public_address_is_outside(address: str) -> None:
    assert not is_inside(address)


@given(ip_addresses(v=4))
def test_an_ipv4_address_leads_to_the_same_place_in_every_form_of_ipv6(address: object) -> None:
    assert {is_inside(f"::ffff:{address}"), is_inside(f"64:ff9b::{address}")} == {is_inside(str(address))}


@pytest.mark.parametrize(
    "url",
    [
        "http://agent.example",
        "https://agent.example:8443/v1?key=1",
        "http://127.0.0.1:2024",
        "http://[::1]:2024/",
    ],
)
def test_an_address_over_http_can_be_called(url: str) -> None:
    assert url_complaint(url) is None


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("", "must start with"),
        ("agent.example", "must start with"),
        ("ftp://agent.example", "must start with"),
        ("file:///etc/passwd", "must start with"),
        ("http://", "must start with"),
        ("http://host:0", "must start with"),
        ("http://user:secret@agent.example", "must not hold a user"),
        ("http://agent.example/#part", "fragment"),
        ("http://agent.example/a b", "blanks"),
        ("http://agent.example:port", "not a valid"),
        ("http://[::1", "not a valid"),
        ("http://agent.example/" + "a" * 2000, "at most 2000"),
    ],
)
def test_any_other_address_is_refused(url: str, complaint: str) -> None:
    assert complaint in (url_complaint(url) or "")


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding", "Connection", "Content-Type"])
def test_a_header_of_the_connection_is_refused(name: str) -> None:
    assert header_complaints({name: "x", "x-fine": "y"}) == [(name, "is a header that the connection sets itself")]


@pytest.mark.parametrize("headers", [{"x y": "z"}, {"": "z"}, {"x": "secret\r\nHost: inside"}, {"x": "secret\0"}])
def test_a_header_that_cannot_be_sent_is_refused_without_its_value(headers: dict[str, str]) -> None:
    [(_, complaint)] = header_complaints(headers)
    assert "secret" not in complaint


def test_of_secrets_that_hold_each_other_the_longer_is_hidden_first() -> None:
    assert hide("Bearer abc, abc", ["abc", "Bearer abc", ""]) == "[hidden], [hidden]"
