import styles from "./form.module.css";

/** What the API says of several fields together; it may have the focus, as the fields of other errors. */
export function GroupError({ error }: { error: string | undefined }) {
  if (error === undefined) return null;
  return (
    <p className={styles.error} data-refused tabIndex={-1}>
      {error}
    </p>
  );
}
