import { type ReactNode, useId } from "react";
import styles from "./page.module.css";

interface Props {
  title: string;
  /** It takes the whole width where sections stand beside each other. */
  isWide?: boolean;
  children: ReactNode;
}

export function Section({ title, isWide = false, children }: Props) {
  const heading = useId();
  return (
    <section className={styles.section} aria-labelledby={heading} data-wide={isWide || undefined}>
      <h2 id={heading}>{title}</h2>
      {children}
    </section>
  );
}
