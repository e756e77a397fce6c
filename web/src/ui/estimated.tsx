import { formatCount, formatInterval, formatShare, UNKNOWN } from "../lib/format";
import { IntervalMark } from "./bars";
import styles from "./estimated.module.css";
import page from "./page.module.css";

interface ShareProps {
  value: number | null;
  interval: readonly number[] | null;
  n: number;
  what: string;
}

interface Props extends ShareProps {
  axis: { min: number; max: number };
  format: (value: number) => string;
}

/** Shows a value with its 95% interval, drawn and in words, and its number of trials. */
export function Estimated({ value, interval, axis, format, n, what }: Props) {
  if (value === null) return <span className={page.note}>{UNKNOWN}</span>;
  const bounds = formatInterval(interval, format);
  return (
    <span className={styles.estimate}>
      <IntervalMark
        value={value}
        interval={interval}
        {...axis}
        label={`${what} ${format(value)}${bounds && `, 95% interval ${bounds}`}`}
      />
      <span className={styles.text}>
        <strong>{format(value)}</strong> {bounds && `(${bounds})`} <small>n = {formatCount(n)}</small>
      </span>
    </span>
  );
}

export function Share(props: ShareProps) {
  return <Estimated {...props} axis={{ min: 0, max: 1 }} format={formatShare} />;
}
