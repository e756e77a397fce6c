"""Accounts as they were a few seconds ago: a worker reads one once for the slices that it claims in the meantime."""

import time
from collections.abc import Callable
from datetime import datetime

from cupel_core.accounts.keys import load_account
from cupel_core.providers.account import Account
from cupel_core.runs.probing.run_cache import FRESH_SECONDS

CLOCK_SKEW_SECONDS = 1.0
"""The clock of the machine that changed a run may differ from this one's by up to this much."""


class AccountCache:
    """Caches the last read of each account. Slices that are claimed at the same time may each read it."""

    def __init__(
        self, load: Callable[[str, str], Account] = load_account, clock: Callable[[], float] = time.time
    ) -> None:
        self._load = load
        self._clock = clock
        self._reads: dict[tuple[str, str], tuple[float, Account]] = {}

    def get(self, workspace: str, provider: str, changed_at: datetime) -> Account:
        """Return the account, read after `changed_at`, because the run may have been resumed after a correction of the
        account.

        Raises NotFound for an unknown provider.
        """
        now = self._clock()
        read_at, account = self._reads.get((workspace, provider), (0.0, None))
        oldest = max(now - FRESH_SECONDS, changed_at.timestamp() + CLOCK_SKEW_SECONDS)
        if account is None or read_at < oldest:
            account = self._load(workspace, provider)
            self._reads[workspace, provider] = now, account
        return account
