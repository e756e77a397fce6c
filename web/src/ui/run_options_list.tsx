import type { Run } from "../api/types";
import { formatAgo, visible } from "../lib/format";
import { useNow } from "./now";

/** Lists runs as the options of a select: by name, age and the end of the id, which tells equal names apart. */
export function RunOptionsList({ runs }: { runs: readonly Run[] }) {
  const now = useNow();
  return runs.map((run) => (
    <option key={run.id} value={run.id}>
      {visible(run.name ?? run.definitionName)}, {formatAgo(run.createdAt, now)}, {run.id.slice(-6)}
    </option>
  ));
}
