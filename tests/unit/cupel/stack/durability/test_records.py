from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel.stack.durability.journal import MAGIC, Damaged, encode, read_records

payloads = st.lists(st.binary(max_size=40), max_size=8)


def write(written: list[bytes]) -> bytes:
    return MAGIC + b"".join(map(encode, written))


def read_all(data: bytes) -> list[bytes]:
    return [record.payload for record in read_records(BytesIO(data))]


@given(payloads)
def test_what_was_written_is_read(written: list[bytes]) -> None:
    assert read_all(write(written)) == written


@given(payloads, st.data())
def test_a_truncated_file_gives_a_prefix(written: list[bytes], data: st.DataObject) -> None:
    whole = write(written)
    found = read_all(whole[: data.draw(st.integers(0, len(whole)))])
    assert found == written[: len(found)]


@given(payloads, st.data())
def test_only_the_torn_record_is_missing_from_a_truncated_file(written: list[bytes], data: st.DataObject) -> None:
    length = data.draw(st.integers(0, len(write(written))))
    complete = max((n for n in range(len(written) + 1) if len(write(written[:n])) <= length), default=0)
    assert read_all(write(written)[:length]) == written[:complete]


@given(payloads.filter(bool), st.data())
def test_a_changed_byte_is_reported(written: list[bytes], data: st.DataObject) -> None:
    whole = bytearray(write(written))
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(Damaged):
        read_all(bytes(whole))


@given(payloads, st.integers(1, 3_000))
def test_zeros_that_a_power_failure_left_at_the_end_are_dropped(written: list[bytes], zeros: int) -> None:
    assert read_all(write(written) + bytes(zeros)) == written


def test_zeros_between_records_are_reported() -> None:
    with pytest.raises(Damaged) as damage:
        read_all(write([b"a"]) + bytes(100) + encode(b"b"))
    assert damage.value.offset == len(write([b"a"]))


def test_the_end_of_a_record_is_its_offset_in_the_file() -> None:
    ends = [record.end for record in read_records(BytesIO(write([b"a", b"bc"])))]
    assert ends == [len(write([b"a"])), len(write([b"a", b"bc"]))]
