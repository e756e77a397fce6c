import type { Transcript } from "../../api/types";

import { counted, formatCount, formatDecimal, visible } from "../../lib/format";
import { type Check, gradeLines, isCriteria } from "../../lib/grade_lines";
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
  const lines = gradeLines(transcript);
  const checks = (results: readonly Check[], name: string) => (
    <Checks results={results} label={name} verdict={verdict} />
  );
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
      {transcript.corrected && scoring && (
        <p>
          Before: <Result success={scoring.success} />
        </p>
      )}
      {lines.reason && <p>{visible(lines.reason)}</p>}
      {transcript.decisionCode !== null && (
        <p>
          <strong>Decision {visible(transcript.decisionCode)}</strong>{" "}
          {lines.decisionText && visible(lines.decisionText)}
        </p>
      )}
      {transcript.summaryError && <p>No decision: {visible(transcript.summaryError)}</p>}
      {verdict && !lines.hasCriteria && (
        <p>
          <strong>Judge</strong>: {verdictText(verdict)}. {visible(verdict.reasoning)}
        </p>
      )}
      {scoring?.evaluatorNote && <p>External evaluator: {visible(scoring.evaluatorNote)}</p>}
      {lines.open.length > 0 && checks(lines.open, "Assertions")}
      {lines.passed.length > 0 &&
        (lines.open.length === 0 ? (
          checks(lines.passed, "Assertions")
        ) : (
          <details>
            <summary>{counted(lines.passed.length, "check")} passed</summary>
            {checks(lines.passed, "Passed assertions")}
          </details>
        ))}
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

interface ChecksProps {
  results: readonly Check[];
  label: string;
  verdict: Transcript["verdict"];
}

/** Has a line for each check, with its reason; that of the criteria says what the judge found. */
function Checks({ results, label, verdict }: ChecksProps) {
  return (
    <ul className={styles.checks} aria-label={label}>
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
            {each.tag && ` ${visible(each.tag)}`}{" "}
            {verdict && isCriteria(each) && (
              <>
                <strong>Judge</strong>: {verdictText(verdict)}.{" "}
              </>
            )}
            {visible(each.error ?? each.reason)}
            <Parts parts={each.parts} />
          </span>
        </li>
      ))}
    </ul>
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
