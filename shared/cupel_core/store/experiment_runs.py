"""The runs of an experiment: an item of the experiment per run, written with the run's own."""

from collections.abc import Iterator
from datetime import datetime

from pynamodb.transactions import TransactWrite

from cupel_core.base.clock import to_iso
from cupel_core.store import keys
from cupel_core.store.table import Item

_PREFIX = "run#"


class ExperimentRunItem(Item):
    pass


def add(transaction: TransactWrite, workspace: str, experiment_id: str, run_id: str, created_at: datetime) -> None:
    transaction.save(_item(workspace, experiment_id, run_id, created_at))


def remove(transaction: TransactWrite, workspace: str, experiment_id: str, run_id: str, created_at: datetime) -> None:
    transaction.delete(_item(workspace, experiment_id, run_id, created_at))


def list_run_ids(workspace: str, experiment_id: str) -> Iterator[str]:
    """Yield the ids, oldest first."""
    partition = keys.experiment(workspace, experiment_id)
    for item in ExperimentRunItem.query(partition, ExperimentRunItem.sk.startswith(_PREFIX), consistent_read=True):
        yield item.sk.rpartition("#")[2]


def _item(workspace: str, experiment_id: str, run_id: str, created_at: datetime) -> ExperimentRunItem:
    return ExperimentRunItem(keys.experiment(workspace, experiment_id), f"{_PREFIX}{to_iso(created_at)}#{run_id}")
