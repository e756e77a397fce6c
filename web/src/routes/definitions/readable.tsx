import type { ReactNode } from "react";
import type { Message } from "../../api/types";
import { type Check, checkOf } from "../../lib/checks";
import { callText, SPEAKERS } from "../../lib/conversation_text";
import { asText, type Content, isContent } from "../../lib/definitions";
import { visible } from "../../lib/format";
import { FilePart } from "../../ui/file_part";
import page from "../../ui/page.module.css";
import { PlainText } from "../../ui/plain_text";

/** Shows messages as a person reads them: who says what. */
export function MessageList({ messages }: { messages: readonly Message[] }) {
  return (
    <dl className={page.pairs}>
      {messages.map((message, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages of a version never move
        <div key={index}>
          <dt>{SPEAKERS[message.role]}</dt>
          <dd className={page.prose}>
            {typeof message.content === "string"
              ? visible(message.content)
              : message.content.map((part, position) =>
                  part.type === "text" ? (
                    // biome-ignore lint/suspicious/noArrayIndexKey: parts of a message never move
                    <p key={position}>{visible(part.text ?? "")}</p>
                  ) : (
                    // biome-ignore lint/suspicious/noArrayIndexKey: parts of a message never move
                    <FilePart key={position} part={part} />
                  ),
                )}
            {message.toolCalls?.map((call) => (
              <code key={call.id} className={page.line}>
                {visible(callText(call))}
              </code>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function CheckList({ assertions }: { assertions: readonly Content[] }) {
  return <Checks checks={assertions.map(checkOf)} />;
}

function Checks({ checks }: { checks: readonly Check[] }) {
  return (
    <ul className={page.list}>
      {checks.map(({ name, value, parts }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: checks of a version never move
        <li key={index} className={page.prose}>
          <strong>{visible(name)}</strong> {visible(value)}
          {parts.length > 0 && <Checks checks={parts} />}
        </li>
      ))}
    </ul>
  );
}

/** Lists texts in their order. */
export function TextList({ texts }: { texts: readonly string[] }) {
  return (
    <ol className={page.list}>
      {texts.map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: texts of a version never move
        <li key={index} className={page.prose}>
          {visible(text)}
        </li>
      ))}
    </ol>
  );
}

interface PairsProps {
  values: Content;
  /** It says whose values they are. */
  label: string;
  names?: Readonly<Record<string, string>>;
}

/** Lists the values that are set: texts and numbers as they are, others as JSON. */
export function Pairs({ values, label, names = {} }: PairsProps) {
  const set = Object.entries(values).filter(([, value]) => asText(value) !== "");
  return (
    <dl className={`${page.pairs} ${page.below}`}>
      {set.map(([name, value]) => (
        <div key={name}>
          <dt>{names[name] ?? visible(name)}</dt>
          <dd className={page.prose}>{valueShown(value, `${name} of ${label}`)}</dd>
        </div>
      ))}
    </dl>
  );
}

function valueShown(value: unknown, label: string): ReactNode {
  if (isContent(value)) return <PlainText label={visible(label)} text={asText(value)} isCode />;
  if (!Array.isArray(value)) return visible(String(value));
  return value.every((each) => typeof each !== "object") ? (
    visible(value.join(", "))
  ) : (
    <PlainText label={visible(label)} text={asText(value)} isCode />
  );
}
