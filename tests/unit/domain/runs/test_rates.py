from cupel_core.domain.runs.rates import Reading, rates, with_reading


def test_without_an_earlier_reading_the_rate_is_unknown() -> None:
    assert rates([], Reading(100.0, (7, 0))) == [None, None]


def test_the_rate_is_that_of_the_last_fifteen_seconds() -> None:
    readings = [Reading(80.0, (0, 0)), Reading(90.0, (100, 0)), Reading(95.0, (101, 9))]
    assert rates(readings, Reading(100.0, (120, 10))) == [2.0, 1.0]


def test_an_older_reading_of_the_last_minute_is_better_than_none() -> None:
    readings = [Reading(10.0, (0,)), Reading(50.0, (10,))]
    assert rates(readings, Reading(100.0, (60,))) == [1.0]


def test_a_reading_of_more_than_a_minute_ago_says_nothing() -> None:
    assert rates([Reading(10.0, (0,))], Reading(100.0, (60,))) == [None]


def test_a_retry_is_no_negative_rate() -> None:
    assert rates([Reading(95.0, (60,))], Reading(100.0, (50,))) == [0.0]


def test_readings_are_two_seconds_apart_and_few() -> None:
    readings: list[Reading] = []
    for tenths in range(1_000):
        readings = list(with_reading(readings, Reading(tenths / 10, (tenths,))))
    assert [reading.at for reading in readings] == [84.0, 86.0, 88.0, 90.0, 92.0, 94.0, 96.0, 98.0]
