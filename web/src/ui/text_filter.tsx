import { useEffect, useState } from "react";

const SETTLE_MS = 300;

interface Props {
  label: string;
  value: string | undefined;
  change: (value: string | undefined) => void;
}

/** Edits a text that becomes a filter a moment after the last key. */
export function TextFilter({ label, value, change }: Props) {
  const [text, setText] = useState(value ?? "");
  const settled = value ?? "";
  useEffect(() => setText(settled), [settled]);
  useEffect(() => {
    if (text === settled) return;
    const timer = setTimeout(() => change(text || undefined), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text, settled, change]);
  return (
    <label>
      {label}
      <input type="search" value={text} maxLength={200} onChange={(event) => setText(event.target.value)} />
    </label>
  );
}
