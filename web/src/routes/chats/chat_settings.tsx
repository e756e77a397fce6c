import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, ifMatch, read } from "../../api/client";
import type { Chat, Schemas } from "../../api/types";
import { changesOf } from "../../lib/forms";
import { DeleteButton } from "../../ui/delete_button";
import page from "../../ui/page.module.css";
import { Failure } from "../../ui/states";
import { useChatChange } from "./changes";
import { ChatFields, type ChatValues, historyOf, isValidChat, targetOf } from "./chat_fields";

/** Changes settings of later turns; those that were begun stay as they are. */
export function ChatSettings({ chat, etag }: { chat: Chat; etag: string | null }) {
  const [values, change] = useState<ChatValues>({
    title: chat.title ?? "",
    model: chat.target.connectorId === null ? chat.target.model : "",
    connectorId: chat.target.connectorId ?? "",
    system: chat.system ?? "",
    profileId: chat.profileId ?? "",
    history: String(chat.historyLimit),
  });
  const save = useChatChange(chat.id, (body: Schemas["UpdateChat"]) =>
    read(
      api.PATCH("/v1/chats/{chat_id}", {
        params: { path: { chat_id: chat.id }, header: ifMatch(etag) },
        body,
      }),
    ),
  );
  const target = targetOf(values, chat.target);
  const isSameTarget =
    values.connectorId === (chat.target.connectorId ?? "") &&
    (values.connectorId !== "" || target.model === chat.target.model);
  const changes: Schemas["UpdateChat"] = {
    ...changesOf(chat, {
      title: values.title.trim() || null,
      system: values.system || null,
      profileId: values.profileId || null,
      historyLimit: historyOf(values) ?? chat.historyLimit,
    }),
    ...(!isSameTarget && { target }),
  };
  const isValid = isValidChat(values) && Object.keys(changes).length > 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isValid) save.mutate(changes);
  };
  return (
    <details className={page.fold}>
      <summary>Change this chat</summary>
      <form className={page.form} onSubmit={submit}>
        <ChatFields values={values} change={change} />
        <p className={page.bar} data-actions>
          <button type="submit" data-kind="primary" disabled={!isValid || save.isPending}>
            {save.isPending ? "Saving…" : "Save"}
          </button>
          <DeleteChat id={chat.id} />
        </p>
        {save.isError && <Failure error={save.error} what="The chat was not changed" />}
      </form>
    </details>
  );
}

function DeleteChat({ id }: { id: string }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const remove = async () => {
    await read(api.DELETE("/v1/chats/{chat_id}", { params: { path: { chat_id: id } } }));
    await navigate({ to: "/chats" });
    await client.invalidateQueries({ queryKey: ["chats", "list"] });
  };
  return (
    <DeleteButton what="this chat" remove={remove}>
      All of its branches are unreadable at once and erased within a day.
    </DeleteButton>
  );
}
