import io
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
from cupel.render_chat import WrittenText, artifact_line, exchange_lines
from cupel.session import Session

if TYPE_CHECKING:
    from cupel.client import Client

_SHOWN = 10


def _exchanges(count: int) -> str:
    return f"{count} exchange" if count == 1 else f"{count} exchanges"


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
        if isinstance(sys.stdin, io.TextIOWrapper):  # A file or a pipe may be in any encoding.
            sys.stdin.reconfigure(errors="replace")
        while (line := self._read()) is not None and line != "/quit":
            try:
                self._execute(line)
            except (ApiProblem, UsageError) as problem:  # A refusal does not end the conversation.
                self.session.remark(str(problem))

    def _read(self) -> str | None:
        if sys.stdin.isatty():
            self.session.err.print("> ", end="")
        line = sys.stdin.readline()
        return line.strip() if line else None

    def _execute(self, line: str) -> None:
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
            "/branch [NAME]        fork the conversation here, and continue there",
            "/branches             list the branches; /branch ID continues in one",
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
            self.session.out.print(f"{mark} {each['id']} {each['name']} ({_exchanges(each['length'])})", markup=False)

    def abort(self, _: str) -> None:
        turn_id = self.client.get_branch(self.chat_id, self.branch_id)["openTurnId"]
        if turn_id is None:
            self.session.remark("no turn is in progress on this branch")
        else:
            self.client.abort_turn(self.chat_id, turn_id)

    def artifacts(self, _: str) -> None:
        if self.client.get_chat(self.chat_id)["profileId"] is None:
            self.session.remark("the chat has no operation profile whose artifacts could be listed")
            return
        found = self.client.list_branch_artifacts(self.chat_id, self.branch_id, include=["internal"])
        for each in found:
            self.session.out.print(artifact_line(each), markup=False, soft_wrap=True)
        if not found:
            self.session.remark("operations have stored nothing on this branch")

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
        """Print a turn's text as it is written, and report the operations that end, until the turn is over."""
        for event in self.client.follow_turn(self.chat_id, turn_id):
            if event["type"] == "operation.finished":
                data = event["data"]
                self._remark(f"{printable(data['operationName'])}: {data['status']}", written)
            elif event["type"] == "main_llm.delta" and not self.as_json:
                if written.is_void_after(event):
                    self._remark("the call failed and is made again", written)
                self._print(written.add(event))

    def _print(self, text: str) -> None:
        self.session.out.print(printable(text), end="", markup=False, soft_wrap=True)

    def _remark(self, text: str, written: WrittenText) -> None:
        self._end_line(written)
        self.session.remark(text)

    def _end_line(self, written: WrittenText) -> None:
        if written.is_mid_line:
            self._print("\n")
            written.is_mid_line = False

    def _answer_of(self, turn: Json) -> str:
        exchanges = self.client.list_exchanges(self.chat_id, turn["branchId"])
        answers = (each["answer"] for each in exchanges if each["id"] == turn["exchangeId"])
        answer = next(answers, None)
        return answer["content"] if answer is not None else ""

    def _print_end(self, turn: Json, written: WrittenText) -> None:
        if self.as_json:
            self.session.print_json(turn)
            return
        if turn["main"].get("assistantVariantId") and turn["main"]["status"] == "done":
            content = self._answer_of(turn)
            if not content.startswith(written.text):
                self._remark("the answer was rewritten", written)
                written = WrittenText()
            rest = content[len(written.text) :]
            self._print(rest)
            written.is_mid_line = not rest.endswith("\n") if rest else written.is_mid_line
        self._end_line(written)
        if turn["failedDetails"] is not None:
            details = turn["failedDetails"]
            self.session.remark(f"failed: {details['errorCode']}: {printable(details['errorMessage'])}")
        elif turn["status"] == "aborted":
            self.session.remark(f"aborted: {turn['abortReason']}")
