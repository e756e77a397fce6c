"""A secret that is set while it is removed: both values belong to one secret, and the removal deletes both."""

from collections.abc import Callable

import pytest

from cupel_core.store import secrets


def set_during_removal(monkeypatch: pytest.MonkeyPatch, set_again: Callable[[], object]) -> None:
    """Call `set_again` after the owner's item says that there is no secret, and before the secret is deleted."""
    delete = secrets.delete

    def delete_after_setting(workspace: str, owner: str) -> None:
        monkeypatch.setattr(secrets, "delete", delete)
        set_again()
        delete(workspace, owner)

    monkeypatch.setattr(secrets, "delete", delete_after_setting)
