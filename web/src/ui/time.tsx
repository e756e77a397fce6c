import { formatAgo } from "../lib/format";
import { useNow } from "./now";

export function Ago({ time }: { time: string }) {
  return (
    <time title={new Date(time).toLocaleString()} dateTime={time}>
      {formatAgo(time, useNow())}
    </time>
  );
}
