import { useMemo } from "react";
import type { Transcript } from "../../api/types";
import { columnName } from "../../lib/estimates";
import { costText, counted, formatMs, visible } from "../../lib/format";
import { withoutLastReason } from "../../lib/grade_lines";
import { Empty } from "../../ui/states";
import { Result } from "../../ui/status";
import { Details } from "./details";
import { Grades } from "./grades";
import { Messages } from "./messages";
import { Operations } from "./operations";
import styles from "./transcript.module.css";

interface TranscriptProps {
  transcript: Transcript;
  /** It is another target's answer to the same: words that it does not have are marked in the last answer. */
  against?: string | undefined;
  /** It replaces the scenario's name, where several conversations about it are side by side. */
  heading?: string | undefined;
  /** These words are searched for at first. */
  find?: string | undefined;
}

/** Shows one conversation. All of it is text: nothing of it is markup. */
export function TranscriptView({ transcript, against, heading, find }: TranscriptProps) {
  const messages = useMemo(
    () => transcript.content && withoutLastReason(transcript.content.messages, transcript),
    [transcript],
  );
  const isAlone = heading === undefined;
  return (
    <article className={styles.transcript}>
      <h2 className={styles.name}>{visible(heading ?? transcript.scenarioName ?? transcript.scenarioId)}</h2>
      <p className={styles.facts}>
        <Result success={transcript.result?.success} />
        {transcript.corrected && <span>corrected</span>}
        {isAlone && <span>{visible(columnName(transcript))}</span>}
        {transcript.personaName && <span>persona {visible(transcript.personaName)}</span>}
        {transcript.repeat > 0 && <span>repeat {transcript.repeat + 1}</span>}
        <span>conversation {transcript.probeIndex}</span>
        <span>{counted(transcript.turnCount, "turn")}</span>
        <span>{formatMs(transcript.durationMs)}</span>
        <span>{counted(transcript.tokenCount, "token")}</span>
        <span>{costText(transcript.totalSpend.costUsd)}</span>
      </p>
      <Grades
        transcript={transcript}
        label={isAlone ? "Grades" : `Grades, ${visible(heading)}`}
        isAlone={isAlone}
      />
      {messages ? (
        <Messages messages={messages} against={against} isAlone={isAlone} find={find} />
      ) : (
        <Empty title="The content is gone">
          <p>It has expired or was deleted. Results and figures remain.</p>
        </Empty>
      )}
      {isAlone && <Operations transcript={transcript} />}
      {isAlone && <Details transcript={transcript} />}
    </article>
  );
}
