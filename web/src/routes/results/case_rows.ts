import { useMemo } from "react";
import { useAllCaseTexts } from "../../api/tables";
import type { ProbeTable } from "../../lib/probe_table";
import { groupRows, orderedRows, parseCaseOrder, type RowGroup } from "../../lib/row_groups";
import type { ResultsSearch } from "../../lib/search";

interface CaseRows {
  /** They are in the order in which the table shows them. */
  readonly rows: readonly number[];
  /** It is null if the rows are not grouped. */
  readonly groups: readonly RowGroup[] | null;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly retry: () => void;
}

/** Orders rows by a text of their cases, and groups them, as the address asks for. */
export function useCaseRows(
  id: string,
  table: ProbeTable,
  listed: Int32Array,
  found: readonly number[],
  search: Pick<ResultsSearch, "order" | "group">,
): CaseRows {
  const { group } = search;
  const order = parseCaseOrder(search.order);
  const isWanted = order !== undefined || group !== undefined;
  const { data, error, refetch } = useAllCaseTexts(id, table.cases, isWanted);
  const texts = useMemo(() => data && new Map(data.map((each) => [each.index, each])), [data]);
  const ordered = useMemo(
    () => (texts && order ? orderedRows(found, texts, order) : found),
    [found, texts, order],
  );
  const groups = useMemo(
    () => (texts && group !== undefined ? groupRows(ordered, texts, group, table, listed) : null),
    [ordered, texts, group, table, listed],
  );
  const rows = useMemo(() => groups?.flatMap((each) => each.rows) ?? ordered, [groups, ordered]);
  const isPending = isWanted && texts === undefined && error === null;
  return { rows, groups, isPending, error: isWanted ? error : null, retry: () => void refetch() };
}
