import { Link } from "@tanstack/react-router";
import type { Report, ReportContent } from "../../api/types";

import { counted, formatCount, formatShare, visible } from "../../lib/format";
import { probeIndex } from "../../lib/report";
import { FigureHeader } from "../../ui/figure_header";
import page from "../../ui/page.module.css";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import styles from "./report.module.css";

type Excerpt = NonNullable<Report["texts"]>["excerpts"][number];

interface Props {
  id: string;
  content: ReportContent;
  excerpts: readonly Excerpt[];
}

export function FailureModes({ id, content, excerpts }: Props) {
  const { topFailureModes: modes, failureTags } = content;
  if (modes.length === 0) {
    return (
      <Section title="Failure modes">
        <p className={page.note}>No conversation has a failure tag.</p>
      </Section>
    );
  }
  return (
    <Section title="Failure modes">
      {failureTags > modes.length && (
        <p className={page.note}>
          The {modes.length} most frequent of{" "}
          {failureTags >= 1000 ? "1,000 or more" : formatCount(failureTags)} tags.
        </p>
      )}
      <ScrollRegion label="Failure modes">
        <table>
          <thead>
            <tr>
              <th scope="col">Tag</th>
              <FigureHeader>Conversations</FigureHeader>
              <FigureHeader>Share of completed</FigureHeader>
              <th scope="col">Sample conversations, lowest scores first</th>
            </tr>
          </thead>
          <tbody>
            {modes.map((mode) => (
              <tr key={mode.tag}>
                <th scope="row" className={page.name}>
                  <Link to="/runs/$id" params={{ id }} search={{ tag: mode.tag }}>
                    {visible(mode.tag)}
                  </Link>
                </th>
                <td className="figure">{formatCount(mode.count)}</td>
                <td className="figure">{formatShare(mode.share)}</td>
                <td>
                  <span className={styles.samples}>
                    {mode.sampleConversationIds.map((each) => (
                      <ConversationLink key={each} id={id} conversationId={each} isShort />
                    ))}
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      {excerpts.length > 0 && (
        <details className={styles.excerpts}>
          <summary>{counted(excerpts.length, "excerpt")} of failed conversations</summary>
          {excerpts.map((excerpt) => (
            <ExcerptView key={`${excerpt.tag} ${excerpt.conversationId}`} id={id} excerpt={excerpt} />
          ))}
        </details>
      )}
    </Section>
  );
}

interface LinkProps {
  id: string;
  conversationId: string;
  isShort?: boolean;
  quote?: string;
}

export function ConversationLink({ id, conversationId, isShort = false, quote }: LinkProps) {
  const index = probeIndex(conversationId);
  if (index === undefined) return <span>{visible(conversationId)}</span>;
  return (
    <Link to="/runs/$id" params={{ id }} search={{ t: index, find: quote }} className={styles.conversation}>
      <span className={isShort ? "hidden-text" : ""}>conversation </span>
      {index}
    </Link>
  );
}

function ExcerptView({ id, excerpt }: { id: string; excerpt: Excerpt }) {
  return (
    <article className={styles.excerpt}>
      <h3>
        {visible(excerpt.tag)}, {visible(excerpt.column)},{" "}
        <ConversationLink id={id} conversationId={excerpt.conversationId} />
      </h3>
      <p className={page.note}>{visible(excerpt.reason)}</p>
      <dl>
        {excerpt.messages.map((message, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages of an excerpt never move
          <div key={index}>
            <dt>{visible(message.role)}</dt>
            <dd>{visible(message.content)}</dd>
          </div>
        ))}
      </dl>
    </article>
  );
}
