import { useQuery } from "@tanstack/react-query";
import { ApiError } from "../api/client";
import { transcriptQuery } from "../api/tables";
import type { Run } from "../api/types";
import { columnName } from "../lib/estimates";
import { Outcome, type ProbeTable } from "../lib/probe_table";
import { Empty, Failure, Loading } from "../ui/states";
import { ErroredConversation } from "./transcript/errored";
import { TranscriptView } from "./transcript/transcript";

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
  find?: string | undefined;
}

/** Shows the conversation of the probe of an index, or says why there is none. */
export function Conversation({ run, table, index, against, isSideBySide = false, find }: ConversationProps) {
  if (index !== undefined && table.outcome[index] === Outcome.ERRORED)
    return <ErroredConversation id={`${run.id}-${index}`} isSideBySide={isSideBySide} />;
  if (index === undefined || !hasTranscript(table, index))
    return (
      <Empty title="Not finished yet">
        <p>The conversation has no outcome yet.</p>
      </Empty>
    );
  return <Held runId={run.id} index={index} against={against} isSideBySide={isSideBySide} find={find} />;
}

interface HeldProps {
  runId: string;
  index: number;
  against?: string | undefined;
  isSideBySide?: boolean;
  find?: string | undefined;
}

/** Shows the conversation of an index; if it has no transcript, its error. */
function Held({ runId, index, against, isSideBySide = false, find }: HeldProps) {
  const query = useQuery(transcriptQuery(runId, index));
  if (query.data)
    return (
      <TranscriptView
        transcript={query.data}
        against={against}
        find={find}
        heading={isSideBySide ? columnName(query.data) : undefined}
      />
    );
  if (query.error instanceof ApiError && query.error.status === 404)
    return <ErroredConversation id={`${runId}-${index}`} isSideBySide={isSideBySide} />;
  if (query.isError)
    return <Failure error={query.error} what="The conversation" retry={() => void query.refetch()} />;
  return <Loading what="the conversation" />;
}
