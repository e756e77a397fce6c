import { useEffect, useRef, useState } from "react";
import styles from "./copy.module.css";

const DONE_MS = 2_000;
type State = "idle" | "copied" | "failed";

interface Props {
  label: string;
  /** It names the copied text for screen readers, where several texts can be copied. */
  of?: string;
  /** It is the text, or a function that loads it. */
  text: string | (() => Promise<string>);
}

/** Copies a text; where the browser refuses, the text is shown in a field, selected. */
export function CopyButton({ label, of, text }: Props) {
  const [state, setState] = useState<State>("idle");
  const [shown, show] = useState("");
  useEffect(() => {
    if (state !== "copied") return;
    const timer = setTimeout(() => setState("idle"), DONE_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async () => {
    try {
      const content = typeof text === "string" ? text : await text();
      show(content);
      await navigator.clipboard.writeText(content);
      setState("copied");
    } catch {
      setState("failed");
    }
  };
  return (
    <>
      <button type="button" onClick={() => void copy()}>
        {label}
        {of && <span className="hidden-text"> {of}</span>}
      </button>
      <span role="status" className={styles.state}>
        {state === "copied" && "Copied"}
        {state === "failed" && (shown ? "Copy it from this field:" : "It could not be loaded. Try again.")}
      </span>
      {state === "failed" && shown && <SelectedText text={shown} label={label} />}
    </>
  );
}

function SelectedText({ text, label }: { text: string; label: string }) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    field.current?.select();
  }, []);
  return <textarea ref={field} readOnly aria-label={label} className={styles.field} rows={6} value={text} />;
}
