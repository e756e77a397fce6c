import { lazy, type ReactNode, Suspense, useMemo } from "react";
import { withWhiteSpace } from "../../lib/conversation_text";
import { diffWords } from "../../lib/diff";
import { segmentsOf } from "../../lib/find";
import { visible } from "../../lib/format";
import type { Format } from "./format";
import styles from "./transcript.module.css";

const Markdown = lazy(() => import("./markdown"));

interface Props {
  text: string;
  format: Format;
  /** These words of a search are marked. */
  words?: string;
  /** It is another text: words that it does not have are marked. */
  against?: string | undefined;
}

/** Shows a text in the reader's format; in every format, nothing of it is markup. */
export function Said({ text, format, words = "", against }: Props) {
  // Words are marked in plain text only.
  if (format === "markdown" && words === "" && against === undefined) {
    return (
      <Suspense fallback={<p className={styles.text}>{visible(text)}</p>}>
        <Markdown text={text} />
      </Suspense>
    );
  }
  if (format === "raw") return <Code text={withWhiteSpace(text)} words={words} />;
  return (
    <p className={styles.text}>
      {against === undefined ? <Found text={text} words={words} /> : <Marked text={text} against={against} />}
    </p>
  );
}

export function Code({ text, words }: { text: string; words: string }) {
  return (
    <div className={styles.code}>
      <Found text={text} words={words} />
    </div>
  );
}

/** Marks the searched words in a text. */
function Found({ text, words }: { text: string; words: string }): ReactNode {
  if (words === "") return visible(text);
  return segmentsOf(text, words).map((each, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text never move
    each.isMatch ? <mark key={index}>{visible(each.text)}</mark> : visible(each.text),
  );
}

function Marked({ text, against }: { text: string; against: string }): ReactNode {
  const parts = useMemo(() => diffWords(against, text), [text, against]);
  return parts.map((part, index) => {
    if (part.side === "removed") return null;
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of two texts never move
    return part.side === "added" ? <mark key={index}>{visible(part.text)}</mark> : visible(part.text);
  });
}
