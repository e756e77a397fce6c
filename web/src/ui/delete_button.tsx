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

export function DeleteButton(props: Props) {
  const [isAsking, ask] = useState(false);
  return (
    <>
      <button type="button" onClick={() => ask(true)}>
        Delete…
      </button>
      {isAsking && <DeleteDialog {...props} close={() => ask(false)} />}
    </>
  );
}

/** Asks before something is deleted, and deletes it. */
export function DeleteDialog({ what, remove, close, children }: Props & { close: () => void }) {
  const deletion = useMutation({ mutationFn: remove });
  return (
    <Dialog title={`Delete ${what}?`} close={close}>
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
        <button type="button" onClick={close}>
          Cancel
        </button>
      </DialogActions>
    </Dialog>
  );
}
