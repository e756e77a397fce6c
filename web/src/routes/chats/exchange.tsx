import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { turnProgressQuery, turnQuery } from "../../api/chats";
import { api, read } from "../../api/client";
import { useCanWrite } from "../../api/role";
import type { Branch, Exchange } from "../../api/types";
import { visible } from "../../lib/format";
import { BEGIN, type Phase as TurnPhase } from "../../lib/turns";
import { Failure } from "../../ui/states";
import { useChatChange } from "./changes";
import styles from "./chat.module.css";
import { MessageView } from "./message";
import { Phase, TurnFailure, type TurnProps, TurnSteps } from "./steps";
import { TurnState } from "./turn_state";

interface Props {
  chatId: string;
  branch: Branch;
  exchange: Exchange;
  isLast: boolean;
}

/** Shows a message of the user with its answer, and the operations of its turn. */
export function ExchangeView({ chatId, branch, exchange, isLast }: Props) {
  const canWrite = useCanWrite();
  const isOpen = exchange.turnId !== null && exchange.turnId === branch.openTurnId;
  const number = exchange.position + 1;
  const shared = { chatId, branch, number, canWrite: canWrite && branch.openTurnId === null };
  return (
    <li className={styles.exchange} aria-label={`Exchange ${number}`}>
      {exchange.user ? (
        <MessageView {...shared} message={exchange.user} />
      ) : (
        <p className={styles.gone}>The message was deleted.</p>
      )}
      {exchange.answer && <MessageView {...shared} message={exchange.answer} />}
      {isOpen && exchange.turnId ? (
        <TurnInProgress key={exchange.turnId} chatId={chatId} turnId={exchange.turnId} number={number} />
      ) : (
        <>
          {exchange.turnId && (isLast || exchange.answer === null) && (
            <LastTurn chatId={chatId} turnId={exchange.turnId} />
          )}
          <div className={styles.actions}>
            {isLast && exchange.user && shared.canWrite && (
              <Regenerate chatId={chatId} branchId={branch.id} hasAnswer={exchange.answer !== null} />
            )}
            {canWrite && <Fork chatId={chatId} branchId={branch.id} exchange={exchange} />}
          </div>
          {exchange.turnId && <TurnSteps chatId={chatId} turnId={exchange.turnId} number={number} />}
        </>
      )}
    </li>
  );
}

/** Says so if the last turn has no answer, and shows nothing otherwise. */
function LastTurn({ chatId, turnId }: { chatId: string; turnId: string }) {
  const { data: turn } = useQuery(turnQuery(chatId, turnId));
  if (turn?.status !== "failed" && turn?.status !== "aborted") return null;
  return <TurnFailure turn={turn} />;
}

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
function TurnInProgress({ chatId, turnId, number }: TurnProps) {
  const canWrite = useCanWrite();
  const client = useQueryClient();
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
        <article aria-label={`draft of answer ${number}`}>
          <p className={styles.text}>{visible(progress.draft.text)}</p>
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

interface RegenerateProps {
  chatId: string;
  branchId: string;
  hasAnswer: boolean;
}

function Regenerate({ chatId, branchId, hasAnswer }: RegenerateProps) {
  const start = useChatChange(chatId, () =>
    read(
      api.POST("/v1/chats/{chat_id}/turns", {
        params: { path: { chat_id: chatId } },
        body: { trigger: "regenerate", branchId },
      }),
    ),
  );
  return (
    <>
      <button type="button" disabled={start.isPending} onClick={() => start.mutate(undefined)}>
        {hasAnswer ? "Answer again" : "Answer"}
      </button>
      {start.isError && <Failure error={start.error} what="The message was not answered" />}
    </>
  );
}

interface ForkProps {
  chatId: string;
  branchId: string;
  exchange: Exchange;
}

/** Creates and opens a branch with the conversation up to here. */
function Fork({ chatId, branchId, exchange }: ForkProps) {
  const navigate = useNavigate();
  const fork = useChatChange(chatId, async () => {
    const made = await read(
      api.POST("/v1/chats/{chat_id}/branches", {
        params: { path: { chat_id: chatId }, header: { "Idempotency-Key": crypto.randomUUID() } },
        body: { fromBranchId: branchId, afterExchangeId: exchange.id },
      }),
    );
    await navigate({ to: "/chats/$id", params: { id: chatId }, search: { branch: made.id } });
  });
  return (
    <>
      <button type="button" disabled={fork.isPending} onClick={() => fork.mutate(undefined)}>
        Fork here<span className="hidden-text"> after exchange {exchange.position + 1}</span>
      </button>
      {fork.isError && <Failure error={fork.error} what="The branch was not created" />}
    </>
  );
}
