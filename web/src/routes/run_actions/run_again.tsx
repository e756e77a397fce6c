import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, read } from "../../api/client";
import type { Run, Schemas } from "../../api/types";
import { counted, formatUsd } from "../../lib/format";
import { type Confirmable, useConfirmedStart } from "../../ui/confirmed_start";
import { Dialog, DialogActions } from "../../ui/dialog";
import { Failure } from "../../ui/states";

/** Repeats the same scenarios and settings, after showing what they cost. */
export function RunAgain({ run, close }: { run: Run; close: () => void }) {
  const navigate = useNavigate();
  const [key] = useState(() => crypto.randomUUID());
  const { start, isSending, isStarted, question, error } = useConfirmedStart(
    (body: Confirmable) =>
      read(
        api.POST("/v1/runs/{run_id}/rerun", {
          params: { path: { run_id: run.id }, header: { "Idempotency-Key": key } },
          body: body as Schemas["RerunRun"],
        }),
      ),
    async (started) => {
      close();
      await navigate({ to: "/runs/$id", params: { id: started.run.id } });
    },
  );
  return (
    <Dialog title="Run it again?" close={close}>
      <p>
        {counted(run.progress.total, "conversation")} with the same scenarios, targets and settings.
        {run.spend.costUsd !== null && ` This run has cost ${formatUsd(run.spend.costUsd)}.`}
      </p>
      {question}
      {error && <Failure error={error} what="The run was not started" />}
      <DialogActions>
        <button type="button" data-kind="primary" disabled={isSending || isStarted} onClick={() => start({})}>
          Start
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </DialogActions>
    </Dialog>
  );
}
