import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { analysisQuery, analyze } from "../../api/analyses";
import { isTerminal, runQuery } from "../../api/queries";
import { useCanWrite } from "../../api/role";
import { Failure } from "../../ui/states";

/** Analyzes a run that is over, for users who may; a large one in the background. */
export function AnalyzeButton({ id, label }: { id: string; label: string }) {
  const canWrite = useCanWrite();
  const run = useQuery(runQuery(id)).data;
  const client = useQueryClient();
  const start = useMutation({
    mutationFn: () => analyze(id),
    onSuccess: () => client.invalidateQueries({ queryKey: analysisQuery(id).queryKey }),
  });
  if (!canWrite || !run || !isTerminal(run.status)) return null;
  return (
    <>
      <button type="button" disabled={start.isPending} onClick={() => start.mutate()}>
        {start.isPending ? "Analyzing…" : label}
      </button>
      {start.isSuccess && start.data.status !== "COMPLETED" && (
        <p role="status">It is computed in the background. Reload this page in a minute.</p>
      )}
      {start.isError && <Failure error={start.error} what="The analysis was not made" />}
    </>
  );
}
