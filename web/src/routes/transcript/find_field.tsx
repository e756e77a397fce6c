import { useEffect, useRef } from "react";
import { MAX_MATCHES, nextMatch } from "../../lib/find";
import { formatCount } from "../../lib/format";
import styles from "./transcript.module.css";

interface Props {
  words: string;
  count: number;
  found: number;
  /** It is true if the browser finds the same, so that its keys are left to it. */
  isBrowsers: boolean;
  seek: (words: string) => void;
  go: (found: number) => void;
}

/** Finds words in a conversation. If it is drawn in part, Ctrl or ⌘ and F lead here; once more, to the browser. */
export function FindField({ words, count, found, isBrowsers, seek, go }: Props) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isBrowsers) return;
    const press = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "f") return;
      if (document.activeElement === field.current) return;
      event.preventDefault();
      field.current?.select();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [isBrowsers]);
  const step = (direction: 1 | -1) => {
    const to = nextMatch(count, found, direction);
    if (to >= 0) go(to);
  };
  return (
    <search className={styles.find}>
      <label>
        Find{" "}
        <input
          ref={field}
          type="search"
          value={words}
          onChange={(event) => seek(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
          }}
        />
      </label>
      <span role="status" className={styles.count}>
        {words !== "" &&
          (count === 0
            ? "not found"
            : `${formatCount(found + 1)} of ${count === MAX_MATCHES ? "at least " : ""}${formatCount(count)}`)}
      </span>
      <button type="button" disabled={count === 0} onClick={() => step(-1)}>
        Previous<span className="hidden-text"> place</span>
      </button>
      <button type="button" disabled={count === 0} onClick={() => step(1)}>
        Next<span className="hidden-text"> place</span>
      </button>
    </search>
  );
}
