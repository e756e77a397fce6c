import type { Message } from "../../api/types";

import { indentedJson, SPEAKERS } from "../../lib/conversation_text";
import { visible } from "../../lib/format";
import { CopyButton } from "../../ui/copy";
import { FilePart } from "../../ui/file_part";
import type { Format } from "./format";
import { ReplyFigures } from "./reply";
import { Code, Said } from "./said";
import styles from "./transcript.module.css";

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
