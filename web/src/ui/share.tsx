import { formatCount, formatInterval, formatShare, UNKNOWN } from "../lib/format";
import { IntervalMark } from "./bars";
import page from "./page.module.css";

interface Props {
  trials: number;
  share: number | null;
  interval: readonly number[] | null;
  what: string;
}

/** A share with its interval, drawn and in words, and how many trials it is of. */
export function Share({ share, interval, what, trials }: Props) {
  if (share === null) return <span className={page.note}>{UNKNOWN}</span>;
  const bounds = formatInterval(interval, formatShare);
  return (
    <span className={page.estimate}>
      <IntervalMark
        value={share}
        interval={interval}
        min={0}
        max={1}
        label={`${what} ${formatShare(share)}${bounds && `, 95% interval ${bounds}`}`}
      />
      <span>
        <strong>{formatShare(share)}</strong> {bounds && `(${bounds})`}{" "}
        <small className={page.note}>n = {formatCount(trials)}</small>
      </span>
    </span>
  );
}
