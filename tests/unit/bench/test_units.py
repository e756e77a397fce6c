"""Billing rules of AWS, as the benchmark applies them."""

import json
import tomllib

import pytest

from bench.counting import RunUsage
from bench.sizes import item_bytes, read_units, write_units
from bench.transitions import transitions
from bench.units import MACHINE, PRICES, bill
from cupel_core.domain.runs.run import RunStatus

ITEM = {
    "pk": {"S": "é"},  # 2 + 2
    "n": {"N": "-12.50"},  # 1 + 2 for three digits + 1, and 1 for the sign
    "b": {"B": b"1234"},  # 1 + 4
    "t": {"BOOL": True},  # 1 + 1
    "s": {"NS": ["1", "22", "333"]},  # 1 + 2 + 2 + 3
    "m": {"M": {"a": {"S": "xy"}}},  # 1 + 3 + 1 + (1 + 2)
    "l": {"L": [{"NULL": True}]},  # 1 + 3 + 1 + 1
}


@pytest.mark.parametrize(("name", "size"), [("pk", 4), ("n", 5), ("b", 5), ("t", 2), ("s", 8), ("m", 8), ("l", 6)])
def test_an_attribute_has_the_size_of_its_name_and_value(name: str, size: int) -> None:
    assert item_bytes({name: ITEM[name]}) == size


def test_the_size_of_an_item_is_the_sum_of_its_attributes() -> None:
    assert item_bytes(ITEM) == sum(item_bytes({name: value}) for name, value in ITEM.items())


def test_a_missing_item_has_no_size_but_costs_a_unit() -> None:
    assert item_bytes(None) == 0
    assert (write_units(0), read_units(0, consistent=True)) == (1, 1.0)


@pytest.mark.parametrize(("size", "units"), [(1, 1), (1_024, 1), (1_025, 2), (8_193, 9)])
def test_write_units_are_kilobytes_rounded_up(size: int, units: int) -> None:
    assert write_units(size) == units


@pytest.mark.parametrize(("size", "consistent", "units"), [(4_096, True, 1.0), (4_097, True, 2.0), (4_097, False, 1.0)])
def test_a_read_unit_is_4_kilobytes_or_8_if_eventually_consistent(size: int, consistent: bool, units: float) -> None:
    assert read_units(size, consistent=consistent) == units


def test_a_run_without_judge_takes_seven_transitions() -> None:
    machine = json.loads(MACHINE.read_text())
    assert transitions(machine, RunStatus.SUMMARIZING) == 7
    assert transitions(machine, RunStatus.FAILED) == 4


def test_a_judged_run_of_1000_probes_takes_at_most_20_transitions() -> None:
    assert transitions(json.loads(MACHINE.read_text()), RunStatus.SUMMARIZING, iterations=1) <= 20


def test_every_billed_quantity_has_its_price() -> None:
    prices = tomllib.loads(PRICES.read_text())
    usage = RunUsage(1_000, {"dynamodb_write_units": 2_000, "sqs_requests": 100}, {}, 4, 120.0, 700.0)
    *lines, total = bill(usage, 5, prices)
    assert {line.name: round(line.usd, 4) for line in lines} == {
        "SQS requests": 0.04,
        "  of the poller": 0.0032,
        "DynamoDB write units": 1.25,
        "DynamoDB read units": 0.0,
        "S3 writes": 0.0,
        "S3 reads": 0.0,
        "transitions": 0.125,
        "Lambda GB-seconds": 0.55,
    }
    assert total.usd == pytest.approx(sum(line.usd for line in lines))
