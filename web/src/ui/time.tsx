import { formatAgo } from "../lib/format";
import { useNow } from "./now";

/** A time relative to now, with the full one on hover. */
export function Ago({ time }: { time: string }) {
  return (
    <time title={new Date(time).toLocaleString()} dateTime={time}>
      {formatAgo(time, useNow())}
    </time>
  );
}
