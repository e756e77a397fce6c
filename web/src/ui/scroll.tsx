import type { ReactNode } from "react";
import styles from "./page.module.css";

/** Lets wide content scroll sideways by itself, also by keyboard. */
export function ScrollRegion({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={styles.scroll} aria-label={`Table: ${label}`} tabIndex={0}>
      {children}
    </section>
  );
}
