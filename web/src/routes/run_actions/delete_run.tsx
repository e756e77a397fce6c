import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api, read } from "../../api/client";
import { isTerminal } from "../../api/queries";
import type { Run } from "../../api/types";
import { counted, visible } from "../../lib/format";
import { DeleteDialog } from "../../ui/delete_button";

interface Props {
  run: Run;
  close: () => void;
}

/** Deletes a run after a question that names what is lost, and goes to the list of runs. */
export function DeleteRun({ run, close }: Props) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const remove = async () => {
    await read(api.DELETE("/v1/runs/{run_id}", { params: { path: { run_id: run.id } } }));
    close();
    await navigate({ to: "/runs" });
    client.removeQueries({ queryKey: ["run", run.id] });
    await Promise.all([
      client.invalidateQueries({ queryKey: ["runs"] }),
      client.invalidateQueries({ queryKey: ["experiments"] }),
    ]);
  };
  return (
    <DeleteDialog what={`“${visible(run.name ?? run.definitionName)}”`} remove={remove} close={close}>
      {counted(run.progress.total, "conversation")} of this run and all that was made of them are deleted for
      good: results, corrections, labels, rescores, analyses and reports.{" "}
      {!isTerminal(run.status) && "The run has not ended: what has not run yet will not run. "}
      The definition stays.
    </DeleteDialog>
  );
}
