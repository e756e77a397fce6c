import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { branchesQuery, exchangesQuery, turnQuery } from "../../api/chats";
import { ApiError } from "../../api/client";
import type { ChatMessage, Exchange } from "../../api/types";
import { costText, counted, formatMs, visible } from "../../lib/format";
import type { ColumnChat } from "../../lib/playground";
import { mainCallOf } from "../../lib/turns";
import { LoadMore } from "../../ui/more";
import page from "../../ui/page.module.css";
import { Failure, Loading } from "../../ui/states";
import { STATES } from "../chats/message";
import { LastTurn } from "../chats/steps";
import { TurnInProgress } from "../chats/turn_in_progress";
import { useFormat } from "../transcript/format";
import { Said } from "../transcript/said";
import styles from "./playground.module.css";

interface Props {
  chat: ColumnChat;
  number: number;
  isBusy: boolean;
  /** It has the last message answered again, with the settings of now. */
  answerAgain: (content: string) => void;
}

/** Shows what was said in a column. */
export function Conversation({ chat: { id, branchId }, number, isBusy, answerAgain }: Props) {
  const branches = useQuery(branchesQuery(id));
  const query = useInfiniteQuery(exchangesQuery(id, branchId));
  const error = query.error ?? branches.error;
  if (error instanceof ApiError && error.status === 404)
    return <p className={page.note}>This conversation was erased. The next message begins another.</p>;
  if (error) {
    const retry = () => void Promise.all([query.refetch(), branches.refetch()]);
    return <Failure error={error} what="The conversation" retry={retry} />;
  }
  if (query.data === undefined || branches.data === undefined) return <Loading what="the conversation" />;
  const openTurn = branches.data.find((each) => each.id === branchId)?.openTurnId ?? null;
  const exchanges = query.data.pages.flatMap((each) => each.items).reverse();
  const last = exchanges.at(-1);
  return (
    <>
      <LoadMore query={query}>Load earlier messages</LoadMore>
      <ol className={styles.exchanges} aria-label={`Conversation in column ${number}`}>
        {exchanges.map((each) => (
          <ExchangeView
            key={each.id}
            chatId={id}
            exchange={each}
            isLast={each === last}
            isOpen={openTurn !== null && each.turnId === openTurn}
          />
        ))}
      </ol>
      {last?.user && openTurn === null && (
        <p className={page.bar}>
          <button type="button" disabled={isBusy} onClick={() => answerAgain(last.user?.content ?? "")}>
            <AgainLabel chatId={id} exchange={last} />
            <span className="hidden-text"> in column {number}</span>
          </button>
        </p>
      )}
    </>
  );
}

function AgainLabel({ chatId, exchange }: { chatId: string; exchange: Exchange }) {
  const { data: turn } = useQuery({
    ...turnQuery(chatId, exchange.turnId ?? ""),
    enabled: exchange.turnId !== null,
  });
  return turn?.status === "failed" ? "Try again" : "Answer again";
}

interface ExchangeProps {
  chatId: string;
  exchange: Exchange;
  isLast: boolean;
  isOpen: boolean;
}

function ExchangeView({ chatId, exchange, isLast, isOpen }: ExchangeProps) {
  const { user, answer, turnId, position } = exchange;
  const number = position + 1;
  const element = useRef<HTMLLIElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each turn is in sight when it begins and when it ends
  useEffect(() => {
    if (isLast) element.current?.scrollIntoView({ block: "nearest" });
  }, [isLast, turnId, isOpen]);
  return (
    <li ref={element}>
      <article className={styles.sent} aria-label={`message ${number}`}>
        {user ? visible(user.content) : "The message was deleted."}
      </article>
      {isOpen && turnId !== null ? (
        <TurnInProgress key={turnId} chatId={chatId} turnId={turnId} number={number} />
      ) : (
        <>
          {turnId !== null && (isLast || answer === null) && <LastTurn chatId={chatId} turnId={turnId} />}
          {answer && answer.turnId !== turnId && (
            <p className={page.note}>The earlier answer stays in the conversation:</p>
          )}
          {answer && <Answer chatId={chatId} answer={answer} number={number} />}
        </>
      )}
    </li>
  );
}

interface AnswerProps {
  chatId: string;
  answer: ChatMessage;
  number: number;
}

function Answer({ chatId, answer, number }: AnswerProps) {
  const format = useFormat();
  const { usage, turnId, status } = answer;
  const { data: turn } = useQuery({ ...turnQuery(chatId, turnId ?? ""), enabled: turnId !== null });
  const durationMs = turn ? mainCallOf(turn.main).durationMs : null;
  return (
    <article aria-label={`answer ${number}`}>
      <Said text={answer.content} format={format} />
      <p className={page.facts}>
        {STATES[status] !== "" && <strong>{STATES[status]}</strong>}
        {answer.modelId && <span>{visible(answer.modelId)}</span>}
        {usage && <span>{counted(usage.inputTokens + usage.outputTokens, "token")}</span>}
        {usage && <span>{costText(answer.costUsd)}</span>}
        {durationMs !== null && <span>{formatMs(durationMs)}</span>}
      </p>
    </article>
  );
}
