import { useMemo } from "react";
import type { Message, Transcript } from "../api/queries";
import { diffWords } from "../lib/diff";
import { columnName } from "../lib/estimates";
import { counted, formatCount, formatMs, formatUsd, visible } from "../lib/format";
import { Empty } from "../ui/states";
import { Result } from "../ui/status";
import styles from "./transcript.module.css";

interface TranscriptProps {
  transcript: Transcript;
  /** The answer of another target to the same: words that it does not have are marked in the last answer. */
  against?: string | undefined;
  /** Instead of the scenario's name, where several conversations about it are side by side. */
  heading?: string | undefined;
}

/** One conversation as it was held. Everything that was said is shown as text: nothing of it is markup. */
export function TranscriptView({ transcript, against, heading }: TranscriptProps) {
  const last = transcript.content?.messages.findLastIndex((message) => message.role === "assistant");
  return (
    <article className={styles.transcript}>
      <h2 className={styles.name}>{visible(heading ?? transcript.scenarioName ?? transcript.scenarioId)}</h2>
      <p className={styles.facts}>
        <Result success={transcript.result?.success} />
        {heading === undefined && <span>{visible(columnName(transcript))}</span>}
        {transcript.personaName && <span>persona {visible(transcript.personaName)}</span>}
        {transcript.repeat > 0 && <span>repeat {transcript.repeat + 1}</span>}
        <span>conversation {transcript.probeIndex}</span>
        <span>{counted(transcript.turnCount, "turn")}</span>
        <span>{formatMs(transcript.durationMs)}</span>
        <span>{counted(transcript.tokenCount, "token")}</span>
        <span>{formatUsd(transcript.totalSpend.costUsd)}</span>
      </p>
      <Grades
        transcript={transcript}
        label={heading === undefined ? "Grades" : `Grades, ${visible(heading)}`}
      />
      {transcript.content ? (
        <ol className={styles.messages} aria-label="Messages">
          {transcript.content.messages.map((message, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: messages of a transcript never move
            <MessageView key={index} message={message} against={index === last ? against : undefined} />
          ))}
        </ol>
      ) : (
        <Empty title="The content is gone">
          <p>It has expired or was deleted. Results and figures remain.</p>
        </Empty>
      )}
    </article>
  );
}

function Grades({ transcript, label }: { transcript: Transcript; label: string }) {
  const { verdict, scoring, result } = transcript;
  const results = scoring?.results ?? [];
  return (
    <section className={styles.grades} aria-label={label}>
      {result?.reason && !scoring && <p>{visible(result.reason)}</p>}
      {scoring?.reason && <p>{visible(scoring.reason)}</p>}
      {transcript.decisionCode !== null && (
        <p>
          <strong>Decision {visible(transcript.decisionCode)}</strong>{" "}
          {transcript.decisionText && visible(transcript.decisionText)}
        </p>
      )}
      {transcript.summaryError && <p>No decision: {visible(transcript.summaryError)}</p>}
      {verdict && (
        <p>
          <strong>Judge</strong>: {verdict.successMet ? "success criteria met" : "success criteria not met"}
          {verdict.failureMet && ", failure criteria met"}, confidence {verdict.confidence.toFixed(2)}.{" "}
          {visible(verdict.reasoning)}
        </p>
      )}
      {results.length > 0 && (
        <ul className={styles.checks} aria-label="Assertions">
          {results.map((each, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: assertions of a transcript never move
            <li key={index}>
              <Result success={each.passed} />
              <span>
                <code>{visible(each.type)}</code>
                {each.score !== null && ` ${each.score.toFixed(2)}`}
                {each.tag && ` ${visible(each.tag)}`} {visible(each.error ?? each.reason)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

const ROLES: Record<Message["role"], string> = {
  system: "System",
  user: "User",
  assistant: "Model",
  tool: "Tool",
};

function MessageView({ message, against }: { message: Message; against: string | undefined }) {
  return (
    <li className={styles.message} data-role={message.role}>
      <div className={styles.role}>{ROLES[message.role]}</div>
      {typeof message.content === "string" ? (
        <p className={styles.text}>
          {against === undefined ? (
            visible(message.content)
          ) : (
            <Marked text={message.content} against={against} />
          )}
        </p>
      ) : (
        message.content.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a message never move
          <p key={index} className={styles.text}>
            {part.type === "text" ? visible(part.text ?? "") : fileText(part)}
          </p>
        ))
      )}
      {message.toolCalls?.map((call) => (
        <p key={call.id} className={styles.text}>
          calls <code>{visible(`${call.name}(${call.arguments})`)}</code>
        </p>
      ))}
    </li>
  );
}

function Marked({ text, against }: { text: string; against: string }) {
  const parts = useMemo(() => diffWords(against, text), [text, against]);
  return parts.map((part, index) => {
    if (part.side === "removed") return null;
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of two texts never move
    return part.side === "added" ? <mark key={index}>{visible(part.text)}</mark> : visible(part.text);
  });
}

type Part = Exclude<Message["content"], string>[number];

function fileText(part: Part): string {
  const size = part.size ? `, ${formatCount(part.size)} bytes` : "";
  return visible(`[${part.type}: ${part.name ?? part.fileId ?? "without a name"}${size}]`);
}
