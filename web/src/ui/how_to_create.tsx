import { useCanWrite } from "../api/role";
import { openNewFold } from "./new_fold";

/** Ends an empty list: it opens the form above the list, or says that the user may not. */
export function HowToCreate({ noun }: { noun: string }) {
  if (!useCanWrite()) return <p>Creating one needs the role member or admin.</p>;
  return (
    <button type="button" data-kind="primary" onClick={() => openNewFold(noun)}>
      Create the first {noun}
    </button>
  );
}
