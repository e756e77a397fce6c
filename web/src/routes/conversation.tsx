import { useQuery } from "@tanstack/react-query";
import { ApiError } from "../api/client";
import type { Run } from "../api/queries";
import { transcriptQuery } from "../api/tables";
import { columnName } from "../lib/estimates";
import { Outcome, type ProbeTable } from "../lib/probe_table";
import { Empty, Failure, Loading } from "../ui/states";
import { TranscriptView } from "./transcript";

/** Whether it was held to its end. */
export function hasTranscript(table: ProbeTable, index: number | undefined): boolean {
  const outcome = index === undefined ? Outcome.NONE : table.outcome[index];
  return outcome !== Outcome.NONE && outcome !== Outcome.ERRORED;
}

interface ConversationProps {
  run: Run;
  table: ProbeTable;
  index: number | undefined;
  against?: string | undefined;
  /** The heading names the target instead of the scenario. */
  isSideBySide?: boolean;
}

/** What was said to the probe of an index, or why there is nothing. */
export function Conversation({ run, table, index, against, isSideBySide = false }: ConversationProps) {
  const isThere = hasTranscript(table, index);
  const query = useQuery({ ...transcriptQuery(run.id, index ?? 0), enabled: isThere });
  if (!isThere) {
    const isError = index !== undefined && table.outcome[index] === Outcome.ERRORED;
    return (
      <Empty title={isError ? "Errored" : "Not there yet"}>
        <p>
          {isError
            ? "The infrastructure failed, not the target. The results of the run say why; a retry runs it again."
            : "The conversation has no outcome yet."}
        </p>
      </Empty>
    );
  }
  if (query.data)
    return (
      <TranscriptView
        transcript={query.data}
        against={against}
        heading={isSideBySide ? columnName(query.data) : undefined}
      />
    );
  if (query.error instanceof ApiError && query.error.status === 404)
    return <Empty title="Its outcome has changed: reload the page" />;
  if (query.isError)
    return <Failure error={query.error} what="The conversation" retry={() => void query.refetch()} />;
  return <Loading what="the conversation" />;
}
