import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { turnProgressQuery } from "../../api/chats";
import { api, read } from "../../api/client";
import { useCanWrite } from "../../api/role";
import { BEGIN, type Phase as TurnPhase } from "../../lib/turns";
import page from "../../ui/page.module.css";
import { Failure } from "../../ui/states";
import { useFormat } from "../transcript/format";
import { Said } from "../transcript/said";
import { useChatChange } from "./changes";
import styles from "./chat.module.css";
import { Phase, type TurnProps } from "./steps";
import { TurnState } from "./turn_state";

const DOING: Readonly<Record<TurnPhase, string>> = {
  planning: "Waits for a worker",
  before_main_llm: "Runs what comes before the call",
  barrier: "Runs what comes before the call",
  main_llm: "The model answers",
  after_main_llm: "Runs what comes after the answer",
  commit: "Stores the answer",
  finished: "Done",
};

/** Follows a turn until it is over, and then reads the chat anew. */
export function TurnInProgress({ chatId, turnId, number }: TurnProps) {
  const canWrite = useCanWrite();
  const client = useQueryClient();
  const format = useFormat();
  const query = useQuery(turnProgressQuery(chatId, turnId));
  const progress = query.data ?? BEGIN;
  const abort = useChatChange(chatId, () =>
    read(
      api.POST("/v1/chats/{chat_id}/turns/{turn_id}/abort", {
        params: { path: { chat_id: chatId, turn_id: turnId } },
      }),
    ),
  );
  useEffect(() => {
    if (progress.isOver) void client.invalidateQueries({ queryKey: ["chats", chatId] });
  }, [progress.isOver, client, chatId]);
  return (
    <div className={styles.progress}>
      <p role="status">
        <TurnState status="running" /> {DOING[progress.phase]}…
      </p>
      <Phase title="Before the call" steps={progress.steps} hook="before_main_llm" number={number} />
      {progress.draft.text !== "" && (
        <article className={page.measured} aria-label={`draft of answer ${number}`}>
          <Said text={progress.draft.text} format={format} />
        </article>
      )}
      <Phase title="After the answer" steps={progress.steps} hook="after_main_llm" number={number} />
      {canWrite && (
        <button
          type="button"
          disabled={abort.isPending || abort.isSuccess}
          onClick={() => abort.mutate(undefined)}
        >
          {abort.isPending || abort.isSuccess ? "Aborting…" : "Abort"}
        </button>
      )}
      {query.isError && <Failure error={query.error} what="The turn" retry={() => void query.refetch()} />}
      {abort.isError && <Failure error={abort.error} what="The turn was not aborted" />}
    </div>
  );
}
