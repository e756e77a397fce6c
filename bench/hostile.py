"""`python -m bench.hostile`: how much longer 200 ordinary probes take beside a workspace that attacks their worker.

All attacks run together, in the worker of the ordinary probes; the same probes beside harmless ones are the measure.
"""

import argparse
import asyncio
from statistics import median

from bench.counting import moto_cloud
from cupel_core.domain.resources.connectors import PROVIDER
from tests import moto_services
from tests.hostile.attacks import ATTACKS, HARMLESS
from tests.hostile.shared_worker import PROBES, run_beside

PROBES_OF_EACH_ATTACK = 3
MAX_RATIO = 1.10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    moto_services.handle_one_request_at_a_time()
    with moto_cloud(PROVIDER):
        ratios = [asyncio.run(_ratio()) for _ in range(rounds)]
    print(f"{PROBES} ordinary probes beside {len(ATTACKS)} attacks, {rounds} times:")
    print(f"{median(ratios):.2f} times as long (at most {MAX_RATIO:.2f}; {min(ratios):.2f} to {max(ratios):.2f})")


async def _ratio() -> float:
    attacks = [*ATTACKS.values()]
    quiet = await run_beside([HARMLESS] * len(attacks), PROBES_OF_EACH_ATTACK)
    attacked = await run_beside(attacks, PROBES_OF_EACH_ATTACK)
    return attacked.seconds / quiet.seconds


if __name__ == "__main__":
    main()
