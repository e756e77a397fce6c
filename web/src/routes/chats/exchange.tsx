import { useNavigate } from "@tanstack/react-router";
import { api, read } from "../../api/client";
import { useCanWrite } from "../../api/role";
import type { Branch, Exchange } from "../../api/types";
import { Failure } from "../../ui/states";
import { useChatChange } from "./changes";
import styles from "./chat.module.css";
import { MessageView } from "./message";
import { LastTurn, TurnSteps } from "./steps";
import { TurnInProgress } from "./turn_in_progress";

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
