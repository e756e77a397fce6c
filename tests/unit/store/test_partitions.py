"""Erasing whole partitions."""

from cupel_core.base.messages import RunRef
from cupel_core.store import keys, partitions, runs
from cupel_core.store.settings import Settings
from cupel_core.store.table import Item
from tests.started_runs import RunSetup, ref_of


def test_a_partition_is_erased_except_for_one_item(cloud: Settings) -> None:
    run = RunSetup().start()
    partitions.erase(keys.run(ref_of(run)), except_sort_key="run")
    assert runs.get(RunRef("ws_a", run.id)) == run


def test_the_base_of_all_items_has_no_connection_that_they_would_inherit(cloud: Settings) -> None:
    partitions.erase("nothing")
    assert Item._connection is None
