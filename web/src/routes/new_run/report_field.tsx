import styles from "./new_run.module.css";

interface Props {
  isOn: boolean;
  change: (isOn: boolean) => void;
}

export function ReportField({ isOn, change }: Props) {
  return (
    <label className={styles.check}>
      <input type="checkbox" checked={isOn} onChange={(event) => change(event.target.checked)} />
      Write a report when the run completes
    </label>
  );
}
