import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { turnPromptQuery, turnQuery } from "../../api/chats";
import type { Schemas, Turn } from "../../api/types";

import { costText, counted, formatMs, visible } from "../../lib/format";
import { type Hook, mainCallOf, type Step, stepsOf } from "../../lib/turns";
import { useToggle } from "../../ui/fold";
import { PlainText } from "../../ui/plain_text";
import { Failure, Loading } from "../../ui/states";
import styles from "./chat.module.css";
import { TurnState } from "./turn_state";

export interface TurnProps {
  chatId: string;
  turnId: string;
  number: number;
}

/** Lists the steps of a turn, phase by phase; they are read once it is opened. */
export function TurnSteps({ chatId, turnId, number }: TurnProps) {
  const [isOpen, toggle] = useToggle();
  return (
    <details className={styles.fold} onToggle={toggle}>
      <summary>
        Steps<span className="hidden-text"> of exchange {number}</span>
      </summary>
      {isOpen && <Opened chatId={chatId} turnId={turnId} number={number} />}
    </details>
  );
}

function Opened({ chatId, turnId, number }: TurnProps) {
  const query = useQuery(turnQuery(chatId, turnId));
  if (query.isPending) return <Loading what="the steps" rows={2} />;
  if (query.data === undefined)
    return <Failure error={query.error} what="The steps" retry={() => void query.refetch()} />;
  const turn = query.data;
  const steps = stepsOf(turn.operations);
  return (
    <>
      <Phase title="Before the call" steps={steps} hook="before_main_llm" number={number} />
      <MainCall turn={turn} />
      <Phase title="After the answer" steps={steps} hook="after_main_llm" number={number} />
      <p className={styles.meta}>
        {turn.profile ? (
          <span>
            <Link to="/profiles/$id" params={{ id: turn.profile.id }} search={{ v: turn.profile.version }}>
              profile at version {turn.profile.version}
            </Link>
            {!turn.profile.enabled && ", not in use"}
          </span>
        ) : (
          <span>no profile</span>
        )}
        {turn.operationsSpend !== null && turn.operationsSpend.calls > 0 && (
          <span>
            {counted(turn.operationsSpend.calls, "call")} of operations,{" "}
            {costText(turn.operationsSpend.costUsd)}
          </span>
        )}
        <span>{formatMs(turn.durationMs)} in all</span>
      </p>
      <Prompt chatId={chatId} turnId={turnId} number={number} />
    </>
  );
}

interface PhaseProps {
  title: string;
  steps: readonly Step[];
  hook: Hook;
  number: number;
}

export function Phase({ title, steps, hook, number }: PhaseProps) {
  const own = steps.filter((step) => step.hook === hook);
  if (own.length === 0) return null;
  return (
    <>
      <h2 className={styles.phase}>{title}</h2>
      <ul className={styles.steps} aria-label={title}>
        {own.map((step) => (
          <li key={step.id}>
            <TurnState status={step.status} /> {visible(step.name)}
            {step.durationMs !== null && <small> {formatMs(step.durationMs)}</small>}
            {step.note && <small> {visible(step.note)}</small>}
            {step.value !== null && (
              <PlainText
                label={`Value of ${visible(step.name)}, exchange ${number}`}
                text={step.value}
                isCode
              />
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function MainCall({ turn }: { turn: Turn }) {
  const call = mainCallOf(turn.main);
  return (
    <>
      <h2 className={styles.phase}>Call of the model</h2>
      <p className={styles.meta}>
        <span>{visible(turn.model)}</span>
        {call.wasMade ? (
          <>
            <span>{call.finishReason ?? "not complete"}</span>
            {call.tokens !== null && <span>{counted(call.tokens, "token")}</span>}
            {call.durationMs !== null && <span>{formatMs(call.durationMs)}</span>}
            {call.tokens !== null && <span>{costText(call.costUsd)}</span>}
          </>
        ) : (
          <span>was not called</span>
        )}
      </p>
    </>
  );
}

function Prompt({ chatId, turnId, number }: TurnProps) {
  const [isOpen, toggle] = useToggle();
  const query = useQuery({ ...turnPromptQuery(chatId, turnId), enabled: isOpen });
  return (
    <details className={styles.fold} onToggle={toggle}>
      <summary>What the model received</summary>
      {query.isError && <Failure error={query.error} what="The prompt" />}
      {query.data === null && <p>The model was not called.</p>}
      {query.data && (
        <PlainText
          label={`What the model received, exchange ${number}`}
          text={query.data.messages.map(promptText).join("\n\n")}
        />
      )}
    </details>
  );
}

function promptText({ role, content, operationId }: Schemas["PromptMessage"]): string {
  return `${role}${operationId === null ? "" : ` (added by ${operationId})`}: ${content}`;
}

/** Says so if the last turn has no answer, and shows nothing otherwise. */
export function LastTurn({ chatId, turnId }: { chatId: string; turnId: string }) {
  const { data: turn } = useQuery(turnQuery(chatId, turnId));
  if (turn?.status !== "failed" && turn?.status !== "aborted") return null;
  return <TurnFailure turn={turn} />;
}

function TurnFailure({ turn }: { turn: Turn }) {
  const { failedDetails: failure } = turn;
  return (
    <p className={styles.problem} role="status">
      <TurnState status={turn.status} />{" "}
      {turn.status === "aborted" &&
        (turn.abortReason === "deadline" ? "It took longer than its deadline." : "It was aborted.")}
      {failure && (
        <>
          {FAILED[turn.failedType ?? "main_llm"]}: <code>{visible(failure.errorCode)}</code>{" "}
          {visible(failure.errorMessage)}
        </>
      )}
    </p>
  );
}

const FAILED = {
  before_barrier: "Before the call of the model",
  main_llm: "The call of the model",
  after_main_llm: "After the answer",
} as const;
