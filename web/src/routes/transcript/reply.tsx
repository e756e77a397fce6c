import type { Message } from "../../api/types";

import { costText, formatCount, formatDecimal, formatMs, visible } from "../../lib/format";
import styles from "./transcript.module.css";

type Reply = NonNullable<Message["reply"]>;

/** Shows usage and time of one reply of the target, and the judge's decision on the conversation up to it. */
export function ReplyFigures({ reply }: { reply: Reply }) {
  const { usage, verdict } = reply;
  return (
    <>
      <p className={styles.reply}>
        <span>{formatMs(reply.durationMs)}</span>
        <span>
          {formatCount(usage.inputTokens)} tokens in, {formatCount(usage.outputTokens)} out
        </span>
        <span>{costText(reply.costUsd)}</span>
      </p>
      {verdict && (
        <p className={styles.reply}>
          <span>
            <strong>Judge</strong>: {verdictText(verdict)}. {visible(verdict.reasoning)}
          </span>
        </p>
      )}
    </>
  );
}

/** Has a text such as "success criteria not met, failure criteria met". */
interface Verdict {
  readonly successMet: boolean;
  readonly failureMet: boolean;
  readonly confidence: number | null;
}

export function verdictText(verdict: Verdict): string {
  const success = verdict.successMet ? "success criteria met" : "success criteria not met";
  const met = verdict.failureMet ? `${success}, failure criteria met` : success;
  return verdict.confidence === null ? met : `${met}, confidence ${formatDecimal(verdict.confidence)}`;
}
