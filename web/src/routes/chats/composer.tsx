import { type FormEvent, useState } from "react";
import { api, read } from "../../api/client";
import type { Branch } from "../../api/types";
import { MessageField } from "../../ui/message_field";
import { Failure } from "../../ui/states";
import { useChatChange } from "./changes";
import styles from "./chat.module.css";

/** Sends the next message of the branch; one turn at a time. */
export function Composer({ chatId, branch }: { chatId: string; branch: Branch }) {
  const [text, setText] = useState("");
  // A message that is sent twice with this key is one turn.
  const [key, setKey] = useState(() => crypto.randomUUID());
  const send = useChatChange(chatId, (content: string) =>
    read(
      api.POST("/v1/chats/{chat_id}/turns", {
        params: { path: { chat_id: chatId }, header: { "Idempotency-Key": key } },
        body: { content, branchId: branch.id },
      }),
    ),
  );
  const isOpen = branch.openTurnId !== null;
  const isValid = text.trim() !== "" && !isOpen && !send.isPending;
  const start = () => {
    if (!isValid) return;
    send.mutate(text, {
      onSuccess: () => {
        setText("");
        setKey(crypto.randomUUID());
      },
    });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start();
  };
  return (
    <form className={styles.composer} onSubmit={submit}>
      <MessageField
        note={isOpen ? "The last message is being answered." : "Ctrl and Enter, or ⌘ and Enter, send it"}
        value={text}
        change={setText}
        send={start}
      />
      <button type="submit" data-kind="primary" disabled={!isValid}>
        {send.isPending ? "Sending…" : "Send"}
      </button>
      {send.isError && <Failure error={send.error} what="The message was not sent" />}
    </form>
  );
}
