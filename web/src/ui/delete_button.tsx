import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Dialog, DialogActions } from "./dialog";
import { Failure } from "./states";

interface Props {
  what: string;
  remove: () => Promise<unknown>;
  /** They name what is deleted with it. */
  children: ReactNode;
}

export function DeleteButton({ what, remove, children }: Props) {
  const [isAsking, ask] = useState(false);
  const deletion = useMutation({ mutationFn: remove });
  return (
    <>
      <button type="button" onClick={() => ask(true)}>
        Delete…
      </button>
      {isAsking && (
        <Dialog title={`Delete ${what}?`} close={() => ask(false)}>
          <p>{children}</p>
          {deletion.isError && <Failure error={deletion.error} what="It was not deleted" />}
          <DialogActions>
            <button
              type="button"
              data-kind="primary"
              disabled={deletion.isPending}
              onClick={() => deletion.mutate()}
            >
              Delete
            </button>
            <button type="button" onClick={() => ask(false)}>
              Cancel
            </button>
          </DialogActions>
        </Dialog>
      )}
    </>
  );
}
