import { Link } from "@tanstack/react-router";
import type { Run } from "../api/types";
import page from "../ui/page.module.css";

/** Says what can follow on the first run of a workspace. */
export function FirstRun({ run, canWrite }: { run: Run; canWrite: boolean }) {
  return (
    <p className={page.note}>
      Next:{" "}
      <Link to="/runs/$id" params={{ id: run.id }}>
        read the results
      </Link>
      {canWrite && (
        <>
          ,{" "}
          <Link to="/definitions/$id/edit" params={{ id: run.definitionId }}>
            change the prompt
          </Link>
          , or{" "}
          <Link to="/new" search={{ run: run.id }}>
            run it again
          </Link>{" "}
          with other targets. Two runs can be compared
        </>
      )}
      .
    </p>
  );
}
