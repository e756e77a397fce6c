"""`cupel chat`: a conversation with a model in the terminal."""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer

from cupel.commands.options import AsJson
from cupel.commands.targets import profile_id
from cupel.errors import ApiProblem, UsageError
from cupel.json_types import Json
from cupel.printable import printable
from cupel.render_chat import WrittenText, exchange_lines
from cupel.session import Session

if TYPE_CHECKING:
    from cupel.client import Client

_SHOWN = 10
"""Exchanges of a chat that is continued."""


def chat(
    ctx: typer.Context,
    model: Annotated[str | None, typer.Option("--model", metavar="MODEL", help="The model that answers.")] = None,
    connector: Annotated[
        str | None, typer.Option(metavar="CONNECTOR", help="The connector that answers, by its id, instead of a model.")
    ] = None,
    profile: Annotated[str | None, typer.Option(help="Name or id of an operation profile.")] = None,
    system: Annotated[str | None, typer.Option(help="The system prompt.")] = None,
    title: Annotated[str | None, typer.Option(help="A title.")] = None,
    continued: Annotated[
        str | None, typer.Option("--chat", metavar="CHAT", help="Continue this chat instead of beginning one.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Talk to a model. Lines that begin with / are commands; /help lists them."""
    session = ctx.ensure_object(Session)
    if sum(each is not None for each in (model, connector, continued)) != 1:
        raise UsageError("specify --model or --connector to begin a chat, or --chat to continue one")
    with session.connect() as client:
        if continued is None:
            target = {"model": model} if connector is None else {"connectorId": connector}
            fields = {"target": target, "title": title, "system": system}
            fields["profileId"] = profile_id(client, profile) if profile else None
            document = client.create_chat({name: value for name, value in fields.items() if value is not None})
        elif profile or system or title:
            raise UsageError("--profile, --system and --title are for new chats; cupel chats update changes others")
        else:
            document = client.get_chat(continued)
        conversation = Conversation(session, client, document["id"], document["activeBranchId"], as_json=as_json)
        session.remark(f"chat {document['id']}; /help lists the commands, Ctrl-C aborts an answer, Ctrl-D ends")
        if continued is not None:
            conversation.show()
        conversation.run()


@dataclass
class Conversation:
    """One branch of a chat, read line by line."""

    session: Session
    client: "Client"
    chat_id: str
    branch_id: str
    as_json: bool = False
    commands: Mapping[str, Callable[[str], None]] = field(init=False)

    def __post_init__(self) -> None:
        self.commands = {
            "/help": self.help,
            "/regenerate": self.regenerate,
            "/edit": self.edit,
            "/branch": self.branch,
            "/branches": self.branches,
            "/abort": self.abort,
            "/artifacts": self.artifacts,
            "/show": lambda _: self.show(),
        }

    def run(self) -> None:
        """Until the end of the input, or /quit."""
        while (line := self._read()) is not None and line != "/quit":
            try:
                self._carry_out(line)
            except ApiProblem as problem:  # A refusal ends no conversation.
                self.session.remark(str(problem))

    def _read(self) -> str | None:
        if sys.stdin.isatty():
            self.session.err.print("> ", end="")
        line = sys.stdin.readline()
        return line.strip() if line else None

    def _carry_out(self, line: str) -> None:
        if not line.startswith("/"):
            if line:
                self._turn({"content": line})
            return
        name, _, rest = line.partition(" ")
        if name in self.commands:
            self.commands[name](rest.strip())
        else:
            self.session.remark(f"unknown command {printable(name)}; /help lists the commands")

    def help(self, _: str) -> None:
        for line in (
            "/regenerate           have the last message answered again",
            "/edit TEXT            change the last message, and have it answered",
            "/branch [NAME]        fork the conversation here, and go on in the fork",
            "/branches             list the branches; /branch ID goes on in one",
            "/artifacts            what operations have stored",
            "/abort                abort the turn that another terminal has begun on this branch",
            "/show                 the last exchanges",
            "/quit                 end; the chat stays (cupel chats)",
        ):
            self.session.out.print(line, markup=False)

    def regenerate(self, _: str) -> None:
        self._turn({"trigger": "regenerate"})

    def edit(self, text: str) -> None:
        last = next(iter(self.client.list_exchanges(self.chat_id, self.branch_id)), None)
        if last is None or not text:
            self.session.remark("/edit TEXT changes the last message" if last else "there is no message to edit yet")
            return
        self.client.update_message(self.chat_id, self.branch_id, f"{last['id']}.user", {"content": text})
        self._turn({"trigger": "regenerate"})

    def branch(self, name: str) -> None:
        if name.startswith("br_"):
            self.branch_id = str(self.client.get_branch(self.chat_id, name)["id"])
            self.show()
            return
        fork = {"fromBranchId": self.branch_id, **({"name": name} if name else {})}
        self.branch_id = str(self.client.create_branch(self.chat_id, fork)["id"])
        self.session.remark(f"on branch {self.branch_id}")

    def branches(self, _: str) -> None:
        for each in self.client.list_branches(self.chat_id):
            mark = "*" if each["id"] == self.branch_id else " "
            self.session.out.print(f"{mark} {each['id']} {each['name']} ({each['length']} exchanges)", markup=False)

    def abort(self, _: str) -> None:
        turn_id = self.client.get_branch(self.chat_id, self.branch_id)["openTurnId"]
        if turn_id is None:
            self.session.remark("no turn is in progress on this branch")
        else:
            self.client.abort_turn(self.chat_id, turn_id)

    def artifacts(self, _: str) -> None:
        for each in self.client.list_branch_artifacts(self.chat_id, self.branch_id):
            value = each["value"] if isinstance(each["value"], str) else json.dumps(each["value"], ensure_ascii=False)
            self.session.out.print(f"{each['tag']}: {printable(value)}", markup=False, soft_wrap=True)

    def show(self) -> None:
        exchanges = self.client.list_exchanges(self.chat_id, self.branch_id)
        last = [each for _, each in zip(range(_SHOWN), exchanges, strict=False)]
        for exchange in reversed(last):
            for line in exchange_lines(exchange):
                self.session.out.print(line, markup=False, soft_wrap=True)

    def _turn(self, body: Json) -> None:
        turn = self.client.start_turn(self.chat_id, {**body, "branchId": self.branch_id})
        written = WrittenText()
        try:
            self._follow(turn["id"], written)
        except KeyboardInterrupt:
            self.client.abort_turn(self.chat_id, turn["id"])
            self._follow(turn["id"], written)
        self._print_end(self.client.get_turn(self.chat_id, turn["id"]), written)

    def _follow(self, turn_id: str, written: WrittenText) -> None:
        """Until the turn is over: print its text as it is written, and report the operations that end."""
        for event in self.client.follow_turn(self.chat_id, turn_id):
            if event["type"] == "operation.finished":
                data = event["data"]
                self.session.remark(f"{printable(data['operationName'])}: {data['status']}")
            elif event["type"] == "main_llm.delta" and not self.as_json:
                if written.is_void_after(event):
                    self._print("\n")
                    self.session.remark("the call failed and is made again")
                self._print(written.add(event))

    def _print(self, text: str) -> None:
        self.session.out.print(printable(text), end="", markup=False, soft_wrap=True)

    def _print_end(self, turn: Json, written: WrittenText) -> None:
        if self.as_json:
            self.session.print_json(turn)
            return
        if turn["main"].get("assistantVariantId") and turn["main"]["status"] == "done":
            last = next(iter(self.client.list_exchanges(self.chat_id, turn["branchId"])))
            content = last["answer"]["content"]
            if not content.startswith(written.text):
                self._print("\n")
                self.session.remark("the answer was rewritten")
                written = WrittenText()
            self._print(f"{content[len(written.text) :]}\n")
        elif written.text:
            self._print("\n")
        if turn["failedDetails"] is not None:
            details = turn["failedDetails"]
            self.session.remark(f"failed: {details['errorCode']}: {printable(details['errorMessage'])}")
        elif turn["status"] == "aborted":
            self.session.remark(f"aborted: {turn['abortReason']}")
