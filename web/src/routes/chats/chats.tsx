import { Link } from "@tanstack/react-router";
import { chatListQuery } from "../../api/chats";
import type { Chat } from "../../api/types";
import { visible } from "../../lib/format";
import { namedTarget } from "../../lib/targets";
import { HowToCreate } from "../../ui/how_to_create";
import { type Column, ListScreen } from "../../ui/list_screen";
import { Empty } from "../../ui/states";
import { TargetList } from "../../ui/target_list";
import { Ago } from "../../ui/time";
import { ChatTabs } from "./chat_tabs";
import { NewChat } from "./new_chat";

const COLUMNS: readonly Column<Chat>[] = [
  {
    name: "Chat",
    cell: (each) => (
      <Link to="/chats/$id" params={{ id: each.id }}>
        {visible(each.title ?? each.opening ?? each.id)}
      </Link>
    ),
  },
  { name: "Model or agent", cell: (each) => <TargetList targets={[namedTarget(each.target.model)]} /> },
  { name: "Branches", isFigure: true, cell: (each) => each.branchCount },
  { name: "Changed", isFigure: true, cell: (each) => <Ago time={each.updatedAt} /> },
];

export function Chats() {
  return (
    <>
      <title>Chats · Cupel</title>
      <h1>Chats</h1>
      <ChatTabs />
      <NewChat />
      <ListScreen
        noun="chat"
        query={chatListQuery}
        columns={COLUMNS}
        empty={
          <Empty title="No chats yet">
            <p>A chat is a conversation with one model, to try a prompt or the operations of a profile.</p>
            <HowToCreate noun="chat" />
          </Empty>
        }
      />
    </>
  );
}
