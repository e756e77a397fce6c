import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { nullIfNotFound } from "../../api/client";
import { type Column, firstPlayground, type Playground, settingsOf, type Unsent } from "../../lib/playground";
import { useKept } from "../../ui/kept";
import { chatWith, deleteChat, sendMessage } from "./send";

export const FORM = "playground";

/** It is what became of a column's last request: null while it goes on. */
type Sending = Readonly<Record<number, { readonly error: unknown } | null>>;

/** Has the columns of the playground, kept in the tab, and sends messages to their chats. */
export function usePlayground(firstModel: string) {
  const client = useQueryClient();
  const [playground, set] = useKept<Playground>(FORM, "state", () => firstPlayground(firstModel));
  const [sending, setSending] = useState<Sending>({});
  const change = (id: number, changes: Partial<Column>) =>
    set((now) => ({
      ...now,
      columns: now.columns.map((each) => (each.id === id ? { ...each, ...changes } : each)),
    }));

  const deliver = async (column: Column, unsent: Unsent) => {
    setSending((now) => ({ ...now, [column.id]: null }));
    change(column.id, { unsent });
    try {
      const chat = await chatWith(column.chat, settingsOf(playground, column));
      change(column.id, { chat });
      try {
        await sendMessage(chat, unsent);
        change(column.id, { unsent: null });
      } finally {
        await client.invalidateQueries({ queryKey: ["chats", chat.id] });
      }
      setSending(({ [column.id]: _, ...others }) => others);
    } catch (error) {
      setSending((now) => ({ ...now, [column.id]: { error } }));
    }
  };

  const send = (content: string, isAgain: boolean) => {
    for (const each of playground.columns) void deliver(each, { content, isAgain, key: crypto.randomUUID() });
  };

  const remove = (column: Column) => {
    set((now) => ({ ...now, columns: now.columns.filter((each) => each.id !== column.id) }));
    // A chat that was not deleted is erased a week later.
    if (column.chat) deleteChat(column.chat).catch(() => undefined);
  };

  const clear = async () => {
    for (const { id, chat } of playground.columns) {
      if (chat) await deleteChat(chat).catch(nullIfNotFound);
      change(id, { chat: null, unsent: null });
    }
    setSending({});
  };

  return { playground, set, change, sending, deliver, send, remove, clear };
}
