import { visible } from "../lib/format";
import styles from "./page.module.css";

/** Shows a text of somebody else as it is; a long one scrolls. */
export function PlainText({
  label,
  text,
  isCode = false,
}: {
  label: string;
  text: string;
  isCode?: boolean;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={styles.text} data-code={isCode} aria-label={label} tabIndex={0}>
      {visible(text)}
    </section>
  );
}
