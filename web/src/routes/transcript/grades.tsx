import type { Transcript } from "../../api/types";

import { formatCount, formatDecimal, visible } from "../../lib/format";
import { PlainText } from "../../ui/plain_text";
import { Result } from "../../ui/status";
import { Correction } from "./correction";
import { verdictText } from "./reply";
import styles from "./transcript.module.css";

interface GradesProps {
  transcript: Transcript;
  label: string;
  isAlone: boolean;
}

/** Shows the findings of judges and assertions, and the way to correct them. */
export function Grades({ transcript, label, isAlone }: GradesProps) {
  const { verdict, scoring, result } = transcript;
  const results = scoring?.results ?? [];
  return (
    <section className={styles.grades} aria-label={label}>
      {transcript.corrected && result && (
        <p>
          <strong>Corrected by a person</strong>
          {result.score !== null && `, score ${formatDecimal(result.score)}`}
          {result.reason && `: ${visible(result.reason)}`}
        </p>
      )}
      {!transcript.corrected && result?.reason && !scoring && <p>{visible(result.reason)}</p>}
      {scoring?.reason && (
        <p>
          {transcript.corrected && "Before: "}
          {visible(scoring.reason)}
        </p>
      )}
      {transcript.decisionCode !== null && (
        <p>
          <strong>Decision {visible(transcript.decisionCode)}</strong>{" "}
          {transcript.decisionText && visible(transcript.decisionText)}
        </p>
      )}
      {transcript.summaryError && <p>No decision: {visible(transcript.summaryError)}</p>}
      {verdict && (
        <p>
          <strong>Judge</strong>: {verdictText(verdict)}. {visible(verdict.reasoning)}
        </p>
      )}
      {scoring?.evaluatorNote && <p>External evaluator: {visible(scoring.evaluatorNote)}</p>}
      {results.length > 0 && (
        <ul className={styles.checks} aria-label="Assertions">
          {results.map((each, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: assertions of a transcript never move
            <li key={index}>
              <Result success={each.passed} />
              <span>
                <code>{visible(each.type)}</code>
                {each.metric && ` ${visible(each.metric)}`}
                {each.score !== null && ` ${formatDecimal(each.score)}`}
                {each.weight !== 1 && `, weight ${formatCount(each.weight)}`}
                {each.source !== "cupel" && `, ${visible(each.source)}`}
                {each.tag && ` ${visible(each.tag)}`} {visible(each.error ?? each.reason)}
                <Parts parts={each.parts} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {isAlone && verdict && verdict.rawResponse !== "" && (
        <details>
          <summary>Judge’s reply</summary>
          <PlainText label="Judge’s reply" text={verdict.rawResponse} isCode />
        </details>
      )}
      {isAlone && <Correction transcript={transcript} />}
    </section>
  );
}

function Parts({ parts }: { parts: readonly Readonly<Record<string, unknown>>[] }) {
  if (parts.length === 0) return null;
  return (
    <ul className={styles.parts}>
      {parts.map((part, index) => {
        const passed = typeof part["passed"] === "boolean" ? part["passed"] : null;
        const words = [part["type"], part["error"] ?? part["reason"]];
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: members of an assertion never move
          <li key={index}>
            <Result success={passed} /> {visible(words.filter((each) => typeof each === "string").join(" "))}
          </li>
        );
      })}
    </ul>
  );
}
