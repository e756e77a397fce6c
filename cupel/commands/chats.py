from functools import partial
from typing import Annotated

import typer

from cupel.commands.lists import DEFAULT_LIMIT, Limit, print_list
from cupel.commands.options import AsJson
from cupel.commands.resources import ResourceCommands
from cupel.errors import UsageError
from cupel.json_types import Json
from cupel.printable import printable
from cupel.render_chat import branches_table, chats_table, exchange_lines, turns_table, variants_table
from cupel.resource_names import ResourceNames
from cupel.session import Session
from cupel.target_names import TargetNames
from cupel_core.domain.text.transcript_lines import transcript_lines

app = typer.Typer(no_args_is_help=True, help="List, show, change and delete chats.")

ChatId = Annotated[str, typer.Argument(metavar="CHAT", help="The id of a chat, such as chat_01jd….")]
MessageId = Annotated[str, typer.Argument(metavar="MESSAGE", help="The id of a message, such as ex_01jd….user.")]
BranchOption = Annotated[str | None, typer.Option("--branch", help="A branch; the active one by default.")]


RESOURCE = ResourceCommands(app, "chat", lambda client: partial(chats_table, names=TargetNames(client)), ChatId)
RESOURCE.add_list("List chats, newest first.")


@app.command()
def show(
    ctx: typer.Context,
    chat: ChatId,
    branch: BranchOption = None,
    limit: Limit = DEFAULT_LIMIT,
    as_json: AsJson = False,
) -> None:
    """Show a chat: its branches, and the last exchanges of one."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        shown = client.get_chat(chat)
        branches = list(client.list_branches(chat))
        branch_id = branch or shown["activeBranchId"]
        exchanges = client.list_exchanges(chat, branch_id, include=["hidden"]).first(limit)
        exchanges.reverse()
        if as_json:
            session.print_json({**shown, "branches": branches, "exchanges": exchanges})
            return
        session.out.print(chats_table([shown], TargetNames(client)))
    session.out.print()
    session.out.print(branches_table(branches, shown["activeBranchId"]))
    session.out.print(f"\nbranch {branch_id}:", markup=False, soft_wrap=True)
    for exchange in exchanges:
        for line in exchange_lines(exchange):
            session.out.print(line, markup=False, soft_wrap=True)
    if exchanges.has_more:
        session.remark(f"the last {len(exchanges):,} exchanges; --limit shows more")


@app.command()
def create(
    ctx: typer.Context,
    model: Annotated[str, typer.Option("--model", metavar="MODEL", help="The model that answers.")],
    title: Annotated[str | None, typer.Option(help="A title.")] = None,
    system: Annotated[str | None, typer.Option(help="The system prompt.")] = None,
    as_json: AsJson = False,
) -> None:
    """Create a chat."""
    session = ctx.ensure_object(Session)
    fields = {"target": {"model": model}, "title": title, "system": system}
    with session.connect() as client:
        created = client.create_chat({name: value for name, value in fields.items() if value is not None})
    _print_saved(session, created, as_json=as_json)


@app.command()
def update(
    ctx: typer.Context,
    chat: ChatId,
    model: Annotated[str | None, typer.Option("--model", metavar="MODEL", help="The model that answers.")] = None,
    title: Annotated[str | None, typer.Option(help="A title.")] = None,
    branch: Annotated[str | None, typer.Option("--branch", help="The branch to make the active one.")] = None,
    as_json: AsJson = False,
) -> None:
    """Change a chat's model, title or active branch."""
    session = ctx.ensure_object(Session)
    fields = {"target": {"model": model} if model else None, "title": title, "activeBranchId": branch}
    changes = {name: value for name, value in fields.items() if value is not None}
    if not changes:
        raise UsageError("nothing to change: give --model, --title or --branch")
    with session.connect() as client:
        updated = client.update_chat(chat, changes)
    _print_saved(session, updated, as_json=as_json)


RESOURCE.add_delete("Delete a chat with everything that was said in it.")


@app.command()
def fork(
    ctx: typer.Context,
    chat: ChatId,
    name: Annotated[str | None, typer.Option(help="A name for the branch.")] = None,
    branch: BranchOption = None,
    after: Annotated[str | None, typer.Option(help="The last exchange that the fork has.")] = None,
    as_json: AsJson = False,
) -> None:
    """Fork a branch of a chat."""
    session = ctx.ensure_object(Session)
    fields = {"name": name, "fromBranchId": branch, "afterExchangeId": after}
    with session.connect() as client:
        made = client.create_branch(chat, {key: value for key, value in fields.items() if value is not None})
    if as_json:
        session.print_json(made)
    else:
        session.out.print(f"{made['id']} {made['name']}", markup=False, soft_wrap=True)


@app.command("rename-branch")
def rename_branch(
    ctx: typer.Context,
    chat: ChatId,
    branch: Annotated[str, typer.Argument(metavar="BRANCH", help="The branch's id.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its new name.")],
) -> None:
    """Rename a branch."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        renamed = client.update_branch(chat, branch, name)
    session.out.print(f"{renamed['id']} {renamed['name']}", markup=False, soft_wrap=True)


@app.command("delete-branch")
def delete_branch(
    ctx: typer.Context,
    chat: ChatId,
    branch: Annotated[str, typer.Argument(metavar="BRANCH", help="The branch's id.")],
    as_json: AsJson = False,
) -> None:
    """Delete a branch that is not the active one."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        client.delete_branch(chat, branch)
    session.print_deleted(branch, as_json=as_json)


@app.command()
def variants(
    ctx: typer.Context, chat: ChatId, message: MessageId, limit: Limit = DEFAULT_LIMIT, as_json: AsJson = False
) -> None:
    """List the wordings of a message."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        print_list(session, client.list_message_variants(chat, message), limit, variants_table, as_json=as_json)


@app.command()
def message(
    ctx: typer.Context,
    chat: ChatId,
    message: MessageId,
    branch: BranchOption = None,
    content: Annotated[str | None, typer.Option(help="Another wording, which is selected.")] = None,
    select: Annotated[int | None, typer.Option(min=1, help="The number of the variant to select.")] = None,
    hide: Annotated[bool | None, typer.Option("--hide/--show", help="Whether prompts leave it out.")] = None,
    delete: Annotated[bool, typer.Option("--delete", help="Take it out of the branch.")] = False,
) -> None:
    """Edit, select, hide or delete a message of a branch."""
    session = ctx.ensure_object(Session)
    fields = {"content": content, "selected": select, "hidden": hide}
    change = {name: value for name, value in fields.items() if value is not None}
    if len(change) + delete != 1:
        raise UsageError("give exactly one of --content, --select, --hide, --show and --delete")
    with session.connect() as client:
        branch_id = branch or client.get_chat(chat)["activeBranchId"]
        if delete:
            client.delete_message(chat, branch_id, message)
            session.print_deleted(message, as_json=False)
            return
        changed = client.update_message(chat, branch_id, message, change)
    session.out.print(f"variant {changed['number']}: {printable(changed['content'])}", markup=False, soft_wrap=True)


@app.command()
def turns(
    ctx: typer.Context,
    chat: ChatId,
    branch: BranchOption = None,
    status: Annotated[str | None, typer.Option(help="queued, running, done, failed or aborted.")] = None,
    limit: Limit = DEFAULT_LIMIT,
    as_json: AsJson = False,
) -> None:
    """List the turns of a chat, newest first."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        listed = client.list_turns(chat, branch_id=branch, status=status)
        print_list(session, listed, limit, turns_table, as_json=as_json)


@app.command()
def prompt(
    ctx: typer.Context,
    chat: ChatId,
    turn: Annotated[str, typer.Argument(metavar="TURN", help="The id of a turn, such as turn_01jd….")],
    as_json: AsJson = False,
) -> None:
    """Show the messages that the model got in a turn."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        messages = client.get_turn_prompt(chat, turn)["messages"]
    if as_json:
        session.print_json(messages)
        return
    for each in messages:
        line = transcript_lines([(each["role"], printable(each["content"]))])
        session.out.print(line, markup=False, soft_wrap=True)


@app.command("session")
def show_session(
    ctx: typer.Context,
    chat: ChatId,
    branch: BranchOption = None,
    profile: Annotated[str | None, typer.Option(help="The id of a profile; the chat's by default.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show which artifacts of operations the next turn of a branch begins with, and since when."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        branch_id = branch or client.get_chat(chat)["activeBranchId"]
        found = client.get_branch_session(chat, branch_id, profile_id=profile)
        of_profile = None if as_json else ResourceNames(client).with_id("profileId", found["profileId"])
    if as_json:
        session.print_json(found)
        return
    since = f" since {found['createdAt']}" if found["createdAt"] else ""
    tags = ", ".join(found["tags"]) or "no artifacts"
    session.out.print(f"{found['id']} of {of_profile}{since}: {tags}", markup=False, soft_wrap=True)


@app.command()
def reset(ctx: typer.Context, chat: ChatId, branch: BranchOption = None) -> None:
    """Forget the artifacts that operations have stored on a branch."""
    session = ctx.ensure_object(Session)
    with session.connect() as client:
        branch_id = branch or client.get_chat(chat)["activeBranchId"]
        client.reset_branch_session(chat, branch_id)
    session.out.print(f"{branch_id} has no artifacts now", markup=False, soft_wrap=True)


def _print_saved(session: Session, chat: Json, *, as_json: bool) -> None:
    if as_json:
        session.print_json(chat)
    else:
        session.out.print(f"{chat['id']} {chat['title'] or ''}".rstrip(), markup=False, soft_wrap=True)
