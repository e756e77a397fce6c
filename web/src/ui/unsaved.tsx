import { useBlocker } from "@tanstack/react-router";
import { Dialog, DialogActions } from "./dialog";

/** Asks before a form with changes is left. */
export function UnsavedGuard({ isUnsaved }: { isUnsaved: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isUnsaved && (current.pathname !== next.pathname || versionOf(current) !== versionOf(next)),
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  });
  if (blocker.status !== "blocked") return null;
  return (
    <Dialog title="Leave without saving?" close={blocker.reset}>
      <p>What you have changed here would be lost.</p>
      <DialogActions>
        <button type="button" data-kind="primary" onClick={blocker.proceed}>
          Leave
        </button>
        <button type="button" onClick={blocker.reset}>
          Stay
        </button>
      </DialogActions>
    </Dialog>
  );
}

/** Returns another version of a definition or profile, which is shown instead of the edited one. */
function versionOf({ search }: { search: object }): unknown {
  return "v" in search ? search.v : undefined;
}
