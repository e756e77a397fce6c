"""The part of the emulator's DynamoDB module that the journal reads and writes."""

from typing import Any

type Json = dict[str, Any]


class ScopedDict:
    def __init__(self) -> None:
        self.data: dict[tuple[str, str, str], Any] = {}

    def get_scoped(self, *key: str) -> Any:
        return self.data.get((key[0], key[1], key[2]))

    def set_scoped(self, account: str, region: str, name: str, value: Any) -> None:
        self.data[account, region, name] = value

    def pop_scoped(self, account: str, region: str, name: str, default: Any) -> Any:
        return self.data.pop((account, region, name), default)

    def all_items(self) -> list[tuple[tuple[str, str, str], Any]]:
        return list(self.data.items())


class Persistence:
    """Also the module of scoped dictionaries."""

    AccountRegionScopedDict = ScopedDict

    @staticmethod
    def _json_default(value: ScopedDict) -> Json:
        return {"scoped": [[*key, each] for key, each in value.data.items()]}

    @staticmethod
    def _json_object_hook(value: Json) -> Any:
        if "scoped" not in value:
            return value
        scoped = ScopedDict()
        for account, region, name, each in value["scoped"]:
            scoped.set_scoped(account, region, name, each)
        return scoped


class DynamoDB:
    def __init__(self) -> None:
        self._tables = ScopedDict()
        self._txn_idempotency = ScopedDict()
        self._tags = self._ttl_settings = self._pitr_settings = self._kinesis_destinations = ScopedDict()
        self._contributor_insights = self._backups = self._resource_policies = ScopedDict()
        self._exports = self._imports = ScopedDict()

    def create_table(self, name: str, sort_key: str | None = "sk") -> Json:
        table = {"pk_name": "pk", "sk_name": sort_key, "items": {}, "_index_members": {"gone": 1}}
        self._tables.set_scoped("account", "region", name, table)
        return table

    def load_persisted_state(self, state: Json) -> None:
        self._tables = state["tables"]

    @staticmethod
    def _normalize_table_name(name: str) -> str:
        return name.rpartition("/")[2]

    @staticmethod
    def _extract_key_val(value: Json) -> str:
        return str(next(iter(value.values())))

    @staticmethod
    def _set_item(table: Json, partition: str, sort: str, item: Json) -> None:
        table["items"].setdefault(partition, {})[sort] = item

    @staticmethod
    def _remove_item(table: Json, partition: str, sort: str) -> None:
        table["items"][partition].pop(sort)
