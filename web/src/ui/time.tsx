import { formatAgo } from "../lib/format";
import { useNow } from "./now";

export function Ago({ time }: { time: string }) {
  return (
    <time title={new Date(time).toLocaleString()} dateTime={time}>
      {formatAgo(time, useNow())}
    </time>
  );
}

/** Shows date and time to the second, for events that follow each other closely. */
export function Exact({ time }: { time: string }) {
  return (
    <time title={formatAgo(time, useNow())} dateTime={time}>
      {new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" })}
    </time>
  );
}
