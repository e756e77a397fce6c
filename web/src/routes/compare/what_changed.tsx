import type { ComparisonFigures } from "../../api/types";

import { visible } from "../../lib/format";
import { PlainText } from "../../ui/plain_text";
import { Section } from "../../ui/section";
import styles from "./compare.module.css";

/** Lists differences between the runs besides their results, which may explain a difference. */
export function WhatChanged({ changed }: { changed: ComparisonFigures["whatChanged"] }) {
  return (
    <Section title="What changed between the runs">
      {changed.changes.length === 0 ? (
        <p className={styles.note}>
          Nothing that is recorded: definition, targets and settings are the same.
        </p>
      ) : (
        <ul className={styles.list}>
          {changed.changes.map((each) => (
            <li key={`${each.aspect} ${each.summary}`}>
              {visible(each.summary)}
              {each.isCause && <small className={styles.cause}>may explain a difference</small>}
            </li>
          ))}
        </ul>
      )}
      {changed.isConfounded && (
        <p className={styles.note}>
          Several of these may explain a difference, so none of them alone explains it.
        </p>
      )}
      {changed.diff !== "" && (
        <details>
          <summary className={styles.summary}>Differences of the texts that targets are sent</summary>
          <PlainText label="Differences of the texts" text={changed.diff} isCode />
        </details>
      )}
    </Section>
  );
}
