import { ApiError } from "../api/client";
import page from "./page.module.css";

interface Props {
  error: unknown;
  overwrite: () => void;
  reload: () => void;
}

/**
 * Offers to overwrite or reload where somebody has changed something since it was opened here; nothing for other
 * errors.
 */
export function Conflict({ error, overwrite, reload }: Props) {
  if (!(error instanceof ApiError && error.status === 412)) return null;
  return (
    <div className={page.warning} role="status">
      <p>
        Save the fields that you have changed over what is stored now, or discard them and edit what is stored
        now.
      </p>
      <p className={page.bar}>
        <button type="button" onClick={overwrite}>
          Save mine over it
        </button>
        <button type="button" onClick={reload}>
          Discard mine
        </button>
      </p>
    </div>
  );
}
