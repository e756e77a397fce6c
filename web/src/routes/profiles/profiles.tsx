import { Link } from "@tanstack/react-router";
import { profilesQuery } from "../../api/profiles";
import { useCanWrite } from "../../api/role";
import type { ProfileSummary } from "../../api/types";
import { visible } from "../../lib/format";
import { type Column, ListScreen } from "../../ui/list_screen";
import page from "../../ui/page.module.css";
import { Empty } from "../../ui/states";
import { Ago } from "../../ui/time";
import { ChatTabs } from "../chats/chat_tabs";

const COLUMNS: readonly Column<ProfileSummary>[] = [
  {
    name: "Profile",
    cell: (each) => (
      <Link to="/profiles/$id" params={{ id: each.id }}>
        {visible(each.name)}
      </Link>
    ),
  },
  {
    name: "Description",
    cell: (each) => <span className={page.excerpt}>{visible(each.description ?? "")}</span>,
  },
  { name: "State", cell: (each) => (each.enabled ? "in use" : "not in use") },
  { name: "Version", isFigure: true, cell: (each) => each.version },
  { name: "Changed", isFigure: true, cell: (each) => <Ago time={each.updatedAt} /> },
];

export function Profiles() {
  const canWrite = useCanWrite();
  return (
    <>
      <title>Operation profiles · Cupel</title>
      <div className={page.head} data-actions>
        <h1>Operation profiles</h1>
        {canWrite && (
          <Link to="/profiles/new" className={page.action}>
            New profile
          </Link>
        )}
      </div>
      <ChatTabs />
      <ListScreen
        noun="profile"
        query={profilesQuery}
        columns={COLUMNS}
        empty={
          <Empty title="No profiles yet">
            <p>
              An operation profile says what runs before and after the call of the model: a guard, a plan that
              is added to the prompt, a running summary. Chats and runs can name one.
            </p>
          </Empty>
        }
      />
    </>
  );
}
