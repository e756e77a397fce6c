import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.table import Table

from cupel.json_types import Json
from cupel.markup import escape
from cupel.printable import printable
from cupel.tables import table
from cupel.target_names import TargetNames
from cupel.terminal import NO_VALUE, format_time
from cupel_core.domain.text.transcript_lines import transcript_lines


@dataclass
class WrittenText:
    attempt: int = 0
    text: str = ""
    is_mid_line: bool = False

    def is_void_after(self, delta: Json) -> bool:
        return bool(self.text) and delta["attempt"] > self.attempt

    def add(self, delta: Json) -> str:
        """Return the new text of a delta: nothing if it was applied before, or if text before it is missing."""
        if delta["attempt"] > self.attempt:
            self.attempt, self.text = delta["attempt"], ""
        if delta["attempt"] < self.attempt or delta["offset"] > len(self.text):
            return ""
        added = str(delta["text"][len(self.text) - delta["offset"] :])
        self.text += added
        self.is_mid_line = not self.text.endswith("\n") if added else self.is_mid_line
        return added


def chats_table(chats: Iterable[Json], names: TargetNames) -> Table:
    """Return a table in which a chat without a title shows its first message."""
    columns = table("chat", "title", "target", "branches", "updated", texts=["title"], right=["branches"])
    for each in chats:
        columns.add_row(
            escape(each["id"]),
            escape(each["title"] or each.get("opening") or NO_VALUE),
            escape(names.of(each["target"]["model"])),
            str(each["branchCount"]),
            format_time(each["updatedAt"]),
        )
    return columns


def branches_table(branches: Iterable[Json], active: str) -> Table:
    columns = table("branch", "name", "active", "exchanges", "forked after", right=["exchanges"])
    for each in branches:
        columns.add_row(
            escape(each["id"]),
            escape(each["name"]),
            "yes" if each["id"] == active else "",
            str(each["length"]),
            escape(each["forkedAfter"] or NO_VALUE),
        )
    return columns


def artifact_line(artifact: Json) -> str:
    value = artifact["value"]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    notes = [artifact["title"], f"version {artifact['version']}", artifact["usage"] == "internal" and "internal"]
    return printable(f"{artifact['tag']} ({', '.join(filter(None, notes))}): {text}")


def turns_table(turns: Iterable[Json]) -> Table:
    columns = table("turn", "trigger", "model", "status", "failed", "ms", "created", right=["ms"])
    for each in turns:
        columns.add_row(
            escape(each["id"]),
            each["trigger"],
            escape(each["model"]),
            each["status"],
            each["failedType"] or each["abortReason"] or NO_VALUE,
            NO_VALUE if each["durationMs"] is None else str(each["durationMs"]),
            format_time(each["createdAt"]),
        )
    return columns


def variants_table(variants: Iterable[Json]) -> Table:
    columns = table("number", "kind", "status", "text", right=["number"])
    for each in variants:
        columns.add_row(str(each["number"]), each["kind"], each["status"], escape(printable(each["content"])))
    return columns


def exchange_lines(exchange: Json) -> Iterator[str]:
    for message in (exchange["user"], exchange["answer"]):
        if message is not None:
            count = message["variantCount"]
            marks = [f"variant {message['number']} of {count}"] if count > 1 else []
            marks += ["hidden"] if message["hidden"] else []
            marks += [message["status"]] if message["status"] != "done" else []
            note = f" ({', '.join(marks)})" if marks else ""
            yield f"{message['id']}{note}"
            yield transcript_lines([(message["role"], printable(message["content"]))])
