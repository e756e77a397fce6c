import type { MessageSearch } from "../../api/tables";
import { counted, formatCount, visible } from "../../lib/format";
import page from "../../ui/page.module.css";
import { Failure } from "../../ui/states";

interface Props {
  search: MessageSearch;
  words: string;
  total: number;
}

/** Shows the progress of the search of the messages, and stops it. */
export function MessageSearchState({ search, words, total }: Props) {
  const { found, read, isRunning, error, stop } = search;
  const isOver = read >= total;
  return (
    <>
      <p className={page.note} role="status">
        {isRunning ? "Searching messages for" : isOver ? "Messages searched for" : "Search stopped for"} “
        {visible(words)}”: {counted(found?.size ?? 0, "conversation")} found among {formatCount(read)} of{" "}
        {formatCount(total)} read.{" "}
        {isRunning && (
          <button type="button" onClick={stop}>
            Stop searching
          </button>
        )}
      </p>
      {error !== null && <Failure error={error} what="The search of messages" />}
    </>
  );
}
