import styles from "./form.module.css";

/** Shows the issue of several fields together; it may have the focus, like fields with errors. */
export function GroupError({ error }: { error: string | undefined }) {
  if (error === undefined) return null;
  return (
    <p className={styles.error} data-refused tabIndex={-1}>
      {error}
    </p>
  );
}
