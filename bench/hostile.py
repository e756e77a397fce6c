"""`python -m bench.hostile`: measure how much an attacking workspace delays ordinary probes of the same worker.

All attacks run together, in the worker of the ordinary probes; the same probes beside harmless ones are the measure.
The slow neighbour is another attack: its agent does not answer, and it has more probes than two workers carry.
"""

import argparse
import asyncio
from statistics import median

from bench.counting import moto_cloud
from cupel_core.domain.resources.connectors import PROVIDER
from tests import moto_services
from tests.hostile import slow_neighbour
from tests.hostile.attacks import ATTACKS, HARMLESS
from tests.hostile.shared_worker import PROBES, run_beside

PROBES_OF_EACH_ATTACK = 3
MAX_RATIO, MAX_SLOW_RATIO = 1.10, 1.50
LATENCY_SECONDS = 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    moto_services.handle_one_request_at_a_time()
    with moto_cloud(PROVIDER):
        ratios = [asyncio.run(_ratio()) for _ in range(rounds)]
        slow = [asyncio.run(_slow_ratio()) for _ in range(rounds)]
    print(f"{PROBES} ordinary probes beside {len(ATTACKS)} attacks, {rounds} times:")
    _print(ratios, MAX_RATIO)
    load = slow_neighbour.Load()
    print(f"{slow_neighbour.PROBES} probes of 1 s beside {load.runs} x {load.probes:,} that wait, {rounds} times:")
    _print(slow, MAX_SLOW_RATIO)


def _print(ratios: list[float], at_most: float) -> None:
    print(f"{median(ratios):.2f} times as long (at most {at_most:.2f}; {min(ratios):.2f} to {max(ratios):.2f})")


async def _ratio() -> float:
    attacks = [*ATTACKS.values()]
    quiet = await run_beside([HARMLESS] * len(attacks), PROBES_OF_EACH_ATTACK)
    attacked = await run_beside(attacks, PROBES_OF_EACH_ATTACK)
    return attacked.seconds / quiet.seconds


async def _slow_ratio() -> float:
    alone = await slow_neighbour.run_beside(None, LATENCY_SECONDS)
    beside = await slow_neighbour.run_beside(slow_neighbour.Load(), LATENCY_SECONDS)
    return beside.seconds / alone.seconds


if __name__ == "__main__":
    main()
