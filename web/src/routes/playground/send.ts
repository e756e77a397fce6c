import { ApiError, api, read } from "../../api/client";
import type { Chat, Exchange } from "../../api/types";
import type { ColumnChat, settingsOf, Unsent } from "../../lib/playground";

type Settings = ReturnType<typeof settingsOf>;

/** Returns the chat of a column with these settings: a new one if it has none, or if its chat was erased. */
export async function chatWith(chat: ColumnChat | null, settings: Settings): Promise<ColumnChat> {
  const text = JSON.stringify(settings);
  try {
    if (chat !== null) return await updated(chat, settings, text);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  }
  const made = await read(
    api.POST("/v1/chats", {
      params: { header: { "Idempotency-Key": crypto.randomUUID() } },
      body: { ...settings, playground: true },
    }),
  );
  return { id: made.id, branchId: made.activeBranchId, settings: text };
}

async function updated(chat: ColumnChat, settings: Settings, text: string): Promise<ColumnChat> {
  const params = { path: { chat_id: chat.id } };
  const isSame = chat.settings === text;
  const stored: Chat = await read(
    isSame
      ? api.GET("/v1/chats/{chat_id}", { params })
      : api.PATCH("/v1/chats/{chat_id}", { params, body: settings }),
  );
  return { id: stored.id, branchId: stored.activeBranchId, settings: text };
}

/** Sends a message, or replaces the last one by it, and has it answered. */
export async function sendMessage(chat: ColumnChat, { content, key, isAgain }: Unsent): Promise<void> {
  const last = isAgain ? await lastExchange(chat) : undefined;
  if (last?.user && last.user.content !== content) await edit(chat, last.user.id, content);
  await read(
    api.POST("/v1/chats/{chat_id}/turns", {
      params: { path: { chat_id: chat.id }, header: { "Idempotency-Key": key } },
      body: last?.user
        ? { trigger: "regenerate", branchId: chat.branchId }
        : { content, branchId: chat.branchId },
    }),
  );
}

async function lastExchange({ id, branchId }: ColumnChat): Promise<Exchange | undefined> {
  const newest = await read(
    api.GET("/v1/chats/{chat_id}/branches/{branch_id}/exchanges", {
      params: { path: { chat_id: id, branch_id: branchId }, query: { limit: 1 } },
    }),
  );
  return newest.items[0];
}

function edit({ id, branchId }: ColumnChat, messageId: string, content: string) {
  return read(
    api.PATCH("/v1/chats/{chat_id}/branches/{branch_id}/messages/{message_id}", {
      params: { path: { chat_id: id, branch_id: branchId, message_id: messageId } },
      body: { content },
    }),
  );
}

export function deleteChat({ id }: ColumnChat) {
  return read(api.DELETE("/v1/chats/{chat_id}", { params: { path: { chat_id: id } } }));
}
