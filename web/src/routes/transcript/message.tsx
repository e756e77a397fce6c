import { lazy, type ReactNode, Suspense, useMemo } from "react";
import type { Message } from "../../api/types";

import { indentedJson, SPEAKERS, withWhiteSpace } from "../../lib/conversation_text";
import { diffWords } from "../../lib/diff";
import { segmentsOf } from "../../lib/find";
import { visible } from "../../lib/format";
import { CopyButton } from "../../ui/copy";
import { FilePart } from "../../ui/file_part";
import type { Format } from "./format";
import { ReplyFigures } from "./reply";
import styles from "./transcript.module.css";

const Markdown = lazy(() => import("./markdown"));

export interface MessageProps {
  message: Message;
  number: number;
  format: Format;
  /** These words of a search are marked. */
  words: string;
  /** It is another target's answer to the same: words that it does not have are marked. */
  against?: string | undefined;
  calledName?: string | undefined;
  /** It is omitted where several conversations are side by side. */
  copied?: string | undefined;
  /** If true, the figures of this reply are shown; a single reply has the conversation's. */
  hasFigures: boolean;
}

/** Shows who said what; in every format, nothing of it is markup. */
export function MessageBody(props: MessageProps) {
  const { message, number, format, words, against, calledName, copied, hasFigures } = props;
  const said = (text: string, key?: number) => (
    <Said key={key} text={text} format={format} words={words} against={against} />
  );
  return (
    <>
      <div className={styles.role}>
        {SPEAKERS[message.role]}
        {calledName !== undefined && <small>{visible(calledName)}</small>}
        {message.isError && <small className={styles.error}>! failed</small>}
        {copied !== undefined && <CopyButton label="Copy" of={`message ${number}`} text={copied} />}
      </div>
      {format === "json" ? (
        <Code text={JSON.stringify(message, null, 2)} words={words} />
      ) : (
        <>
          {message.reasoning && (
            <details className={styles.fold}>
              <summary>Reasoning, which is not part of the answer</summary>
              <p className={styles.value}>{visible(message.reasoning)}</p>
            </details>
          )}
          {typeof message.content === "string"
            ? (message.content !== "" || !message.toolCalls?.length) && said(message.content)
            : message.content.map((part, index) =>
                part.type === "text" ? (
                  said(part.text ?? "", index)
                ) : (
                  // biome-ignore lint/suspicious/noArrayIndexKey: parts of a message never move
                  <div key={index} className={styles.file}>
                    <FilePart part={part} />
                  </div>
                ),
              )}
          {message.toolCalls?.map((call) => (
            <div key={call.id} className={styles.call}>
              calls <code>{visible(call.name)}</code>
              <Code text={indentedJson(call.arguments) ?? call.arguments} words={words} />
            </div>
          ))}
          {hasFigures && message.reply && <ReplyFigures reply={message.reply} />}
        </>
      )}
    </>
  );
}

interface SaidProps {
  text: string;
  format: Format;
  words: string;
  against: string | undefined;
}

function Said({ text, format, words, against }: SaidProps) {
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

function Code({ text, words }: { text: string; words: string }) {
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
