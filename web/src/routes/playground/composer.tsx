import { type FormEvent, useState } from "react";
import { useKept } from "../../ui/kept";
import { MessageField } from "../../ui/message_field";
import page from "../../ui/page.module.css";
import { KeepScenario } from "./keep_scenario";
import styles from "./playground.module.css";
import { FORM } from "./use_playground";

interface Props {
  /** It says what must be chosen first; null if a message can be sent. */
  missing: string | null;
  isAnswering: boolean;
  send: (content: string, isAgain: boolean) => void;
}

/** Sends a message to all columns, or replaces the last one. */
export function Composer({ missing, isAnswering, send }: Props) {
  const [text, setText] = useKept(FORM, "message", "");
  const [sent, setSent] = useKept(FORM, "sent", "");
  const [isAgain, setAgain] = useKept<boolean>(FORM, "again", false);
  const [isKeeping, keep] = useState(false);
  const isValid = text.trim() !== "" && missing === null && !isAnswering;
  const start = () => {
    if (!isValid) return;
    send(text, isAgain);
    setSent(text);
    setText("");
    setAgain(false);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    start();
  };
  const edit = (isOn: boolean) => {
    setAgain(isOn);
    setText(isOn ? sent : "");
    document.getElementById("message")?.focus();
  };
  return (
    <>
      <form className={styles.composer} onSubmit={submit}>
        <MessageField
          label={isAgain ? "Last message, to be sent again" : "Message to all columns"}
          note={
            isAnswering
              ? "The last message is being answered."
              : (missing ?? "Ctrl and Enter, or ⌘ and Enter, send it")
          }
          value={text}
          change={setText}
          send={start}
        />
        <p className={page.bar}>
          <button type="submit" data-kind="primary" disabled={!isValid}>
            {isAgain ? "Send again" : "Send"}
          </button>
          {isAgain ? (
            <button type="button" onClick={() => edit(false)}>
              Cancel
            </button>
          ) : (
            <button type="button" disabled={sent === ""} onClick={() => edit(true)}>
              Edit and send again
            </button>
          )}
          <button type="button" disabled={text.trim() === "" && sent === ""} onClick={() => keep(true)}>
            Keep as scenario…
          </button>
        </p>
      </form>
      {isKeeping && <KeepScenario message={text.trim() === "" ? sent : text} close={() => keep(false)} />}
    </>
  );
}
