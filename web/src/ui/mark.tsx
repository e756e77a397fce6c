import styles from "./mark.module.css";

/** Draws a cupel, the cup in which a bead of gold is left when everything else has been burnt away. */
export function Mark() {
  return (
    <svg className={styles.mark} viewBox="0 0 32 32" width={24} height={24} aria-hidden="true">
      <path d="M2 12h6.2a8 8 0 0 0 15.6 0H30l-2.7 14.1A4.8 4.8 0 0 1 22.6 30H9.4a4.8 4.8 0 0 1-4.7-3.9z" />
      <circle cx="16" cy="8.6" r="5.6" />
    </svg>
  );
}
