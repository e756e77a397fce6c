import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { ApiError } from "../api/client";
import styles from "./states.module.css";

const OUTLINE_AFTER_MS = 150;

/** Shows the outline of loading content, after a moment without it, because most answers are faster. */
export function Loading({ rows = 6, what }: { rows?: number; what: string }) {
  const [isShown, show] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => show(true), OUTLINE_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className={styles.loading} role="status">
      <span className={isShown ? styles.what : "hidden-text"}>Loading {what}</span>
      {isShown && Array.from({ length: rows }, (_, row) => <div key={String(row)} className={styles.bar} />)}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Tells whether the detail names all wrong fields already. */
function isSaid({ detail, fields }: ApiError): boolean {
  return fields.every((each) => detail.includes(each.message));
}

/** The same request would be refused again. */
function isRefusal({ status }: ApiError): boolean {
  return status === 400 || status === 422;
}

/** Shows an error beside the content that is loaded already. */
export function Failure({ error, retry, what }: { error: unknown; retry?: () => void; what: string }) {
  if (error instanceof ApiError && error.status === 404)
    return <NotFound what={what} detail={error.detail} />;
  if (error instanceof ApiError && error.status === 403) return <RoleTooLow detail={error.detail} />;
  const problem = error instanceof ApiError ? error : new ApiError(0, "Unexpected error", String(error));
  return (
    <div className={styles.failure} role="alert">
      <strong>{problem.title}</strong>
      <p>
        {what}: {problem.detail}
      </p>
      {!isSaid(problem) && (
        <ul>
          {problem.fields.map((each) => (
            <li key={each.field}>
              <code>{each.field}</code> {each.message}
            </li>
          ))}
        </ul>
      )}
      <div className={styles.actions}>
        {retry && !isRefusal(problem) && (
          <button type="button" onClick={retry}>
            Try again
          </button>
        )}
        {problem.requestId && <small>Request {problem.requestId}</small>}
      </div>
    </div>
  );
}

/** Shows in place of a screen that could not be loaded or drawn, inside the shell. */
export function BrokenScreen({ error }: { error: unknown }) {
  // A script that was not loaded is not requested again, so the page is loaded anew.
  return <Failure error={error} what="This screen" retry={() => location.reload()} />;
}

export function NotFound({ what, detail }: { what: string; detail?: string }) {
  return (
    <div className={styles.empty}>
      <h1>{what}: not found</h1>
      <p>{detail ?? "There is no such address on this page."}</p>
      <p>
        <Link to="/runs">All runs</Link>
      </p>
    </div>
  );
}

export function RoleTooLow({ detail }: { detail: string }) {
  return (
    <Empty title="Your role does not permit this">
      <p>{detail}</p>
    </Empty>
  );
}
