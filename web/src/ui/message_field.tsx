import type { ReactNode } from "react";
import { Field } from "./field";

const MAX_LENGTH = 100_000;

interface Props {
  label?: string;
  note: ReactNode;
  value: string;
  change: (text: string) => void;
  /** Ctrl and Enter call it, or ⌘ and Enter. */
  send: () => void;
}

/** Edits a message of a chat. */
export function MessageField({ label = "Message", note, value, change, send }: Props) {
  return (
    <Field label={label} id="message" note={note}>
      <textarea
        id="message"
        rows={4}
        maxLength={MAX_LENGTH}
        value={value}
        onChange={(event) => change(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
        }}
      />
    </Field>
  );
}
