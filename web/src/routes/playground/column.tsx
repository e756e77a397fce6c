import { useState } from "react";
import { visible } from "../../lib/format";
import { type Column, type Playground, systemOf } from "../../lib/playground";
import page from "../../ui/page.module.css";
import { Failure } from "../../ui/states";
import { Conversation } from "./conversation";
import { KeepPrompt } from "./keep_prompt";
import styles from "./playground.module.css";
import { ColumnSettings } from "./settings";

interface Props {
  playground: Playground;
  column: Column;
  number: number;
  isSending: boolean;
  /** It says why the last message was not sent; undefined if it was. */
  error: unknown;
  change: (changes: Partial<Column>) => void;
  /** It sends the message that was not sent. */
  retry: () => void;
  answerAgain: (content: string) => void;
  remove: (() => void) | null;
}

export function ColumnView(props: Props) {
  const { playground, column, number, isSending, error, change, retry, answerAgain, remove } = props;
  const [isKeeping, keep] = useState(false);
  const system = systemOf(playground, column);
  const hidden = <span className="hidden-text"> of column {number}</span>;
  return (
    <section className={styles.column} aria-label={`Column ${number}`}>
      <div className={page.bar}>
        <h2>Column {number}</h2>
        <button type="button" disabled={system.trim() === ""} onClick={() => keep(true)}>
          Keep the prompt…{hidden}
        </button>
        {remove && (
          <button type="button" onClick={remove}>
            Remove<span className="hidden-text"> column {number}</span>
          </button>
        )}
      </div>
      <ColumnSettings
        column={column}
        isShared={playground.sharedSystem !== null}
        error={error}
        change={change}
      />
      {column.chat && (
        <Conversation
          key={column.chat.id}
          chat={column.chat}
          number={number}
          isBusy={isSending}
          answerAgain={answerAgain}
        />
      )}
      {isSending && <p role="status">Sending…</p>}
      {!isSending && column.unsent && (
        <div>
          <article className={styles.sent} aria-label="message that was not sent">
            {visible(column.unsent.content)}
          </article>
          {error ? (
            <Failure error={error} what="The message was not sent" />
          ) : (
            <p>It is not known whether this message was sent.</p>
          )}
          <button type="button" onClick={retry}>
            Try again<span className="hidden-text"> in column {number}</span>
          </button>
        </div>
      )}
      {isKeeping && <KeepPrompt system={system} params={column.params} close={() => keep(false)} />}
    </section>
  );
}
