import { useMemo } from "react";
import { diffTexts } from "../lib/diff";
import { visible } from "../lib/format";
import styles from "./diff.module.css";

/** Shows a text with removed and added words or sentences, marked by line and weight as well as by color. */
export function TextDiff({ before, after, label }: { before: string; after: string; label: string }) {
  const { parts, areSentences } = useMemo(() => diffTexts(before, after), [before, after]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={styles.diff} data-sentences={areSentences} aria-label={label} tabIndex={0}>
      {parts.map((part, index) => {
        const text = visible(part.text);
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of two texts never move
        if (part.side === "removed") return <del key={index}>{text}</del>;
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of two texts never move
        if (part.side === "added") return <ins key={index}>{text}</ins>;
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of two texts never move
        return <span key={index}>{text}</span>;
      })}
    </section>
  );
}
