import type { ReactNode } from "react";
import styles from "./field.module.css";

interface Props {
  label: string;
  id: string;
  /** The error of the value has the id `<id>-error`. */
  error?: string | null | undefined;
  note?: ReactNode;
  children: ReactNode;
}

export function Field({ label, id, error, note, children }: Props) {
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children}
      {error ? (
        <small id={`${id}-error`} className={styles.error}>
          {error}
        </small>
      ) : (
        note && <small className={styles.note}>{note}</small>
      )}
    </div>
  );
}
