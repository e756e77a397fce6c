import { useState } from "react";
import type { Finding, ReportSummary, Run } from "../../api/types";

import { counted, formatUsd, visible } from "../../lib/format";
import { systemPrompt } from "../../lib/report";
import { CopyButton } from "../../ui/copy";
import { TextDiff } from "../../ui/diff";
import page from "../../ui/page.module.css";
import { PlainText } from "../../ui/plain_text";
import { Section } from "../../ui/section";
import { ConversationLink } from "./failure_modes";
import styles from "./report.module.css";
import { TrialSection } from "./trial";

const KINDS = [
  ["failureModes", "What fails"],
  ["hallucinations", "Hallucinations"],
  ["goalFailures", "Missed goals"],
  ["inconsistencies", "Inconsistencies"],
] as const;

interface Props {
  run: Run;
  report: string;
  summary: ReportSummary;
}

export function Summary({ run, report, summary }: Props) {
  if (summary.error !== null) {
    return (
      <Section title="Summary">
        <p className={page.warning}>
          {visible(summary.model)} gave no summary: {visible(summary.error)}. The figures do not need it.
        </p>
      </Section>
    );
  }
  return (
    <>
      <Section title="Summary">
        <p className={page.prose}>{visible(summary.text)}</p>
        <p className={page.note}>
          Written by {visible(summary.model)} from{" "}
          {counted(summary.shownConversationIds.length, "conversation")}
          {summary.costUsd !== null && `, for ${formatUsd(summary.costUsd)}`}. Every quotation was found in
          its conversation
          {summary.droppedQuotes > 0 &&
            `; left out because no conversation has them: ${counted(summary.droppedQuotes, "quotation")}`}
          .
        </p>
        {KINDS.map(
          ([field, heading]) =>
            summary[field].length > 0 && (
              <div key={field} className={styles.kind}>
                <h3>{heading}</h3>
                {summary[field].map((finding) => (
                  <FindingView key={finding.title + finding.description} id={run.id} finding={finding} />
                ))}
              </div>
            ),
        )}
      </Section>
      <RevisedPrompt run={run} summary={summary} />
      {summary.revisedPromptIssue === null && <TrialSection run={run} report={report} />}
    </>
  );
}

function FindingView({ id, finding }: { id: string; finding: Finding }) {
  return (
    <article className={styles.finding}>
      <h4>{visible(finding.title)}</h4>
      <p>{visible(finding.description)}</p>
      <ul className={styles.quotes}>
        {finding.evidence.map((each) => (
          <li key={each.conversationId + each.quote}>
            <q>{visible(each.quote)}</q>{" "}
            <ConversationLink id={id} conversationId={each.conversationId} quote={each.quote} />
          </li>
        ))}
      </ul>
    </article>
  );
}

/** Shows the suggested system prompt. Only a trial runs it. */
function RevisedPrompt({ run, summary }: { run: Run; summary: ReportSummary }) {
  const [view, show] = useState<"changes" | "prompt">("changes");
  if (summary.revisedPromptIssue !== null) {
    return (
      <Section title="Revised system prompt">
        <p className={page.note}>None is offered: {visible(summary.revisedPromptIssue)}.</p>
      </Section>
    );
  }
  const original = systemPrompt(run.config.definitionSnapshot);
  return (
    <Section title="Revised system prompt">
      <p className={page.prose}>{visible(summary.rationale)}</p>
      <div className={page.bar} data-screen-only>
        <span className={styles.views}>
          <button type="button" aria-pressed={view === "changes"} onClick={() => show("changes")}>
            Changes
          </button>
          <button type="button" aria-pressed={view === "prompt"} onClick={() => show("prompt")}>
            New prompt
          </button>
        </span>
        <CopyButton label="Copy prompt" text={summary.revisedPrompt} />
        <CopyButton label="Copy rationale" text={summary.rationale} />
      </div>
      {view === "prompt" ? (
        <PlainText label="New prompt" text={summary.revisedPrompt} />
      ) : original === null ? (
        <PlainText label="Changes" text={summary.diff} />
      ) : (
        <TextDiff label="Changes" before={original} after={summary.revisedPrompt} />
      )}
      <p className={`${page.note} ${page.below}`}>This is a suggestion; a trial shows whether it helps.</p>
    </Section>
  );
}
