import { useState } from "react";
import { Dialog, DialogActions } from "./dialog";
import { listKeys } from "./keys";
import styles from "./keys.module.css";
import { KeysSwitch } from "./keys_switch";

const NAMES: Readonly<Record<string, string>> = {
  Escape: "Esc",
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  PageUp: "Page Up",
  PageDown: "Page Down",
};

export function KeysDialog({ close }: { close: () => void }) {
  const [scopes] = useState(listKeys);
  return (
    <Dialog title="Keyboard shortcuts" close={close}>
      {scopes.map(({ title, keys }) => (
        <section key={title} aria-label={title}>
          <h3 className={styles.title}>{title}</h3>
          <dl className={styles.keys}>
            {keys.map(({ key, does }) => (
              <div key={key}>
                <dt>
                  {key
                    .split(" ")
                    .map((each) => (each === "or" ? "or" : <kbd key={each}>{NAMES[each] ?? each}</kbd>))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <KeysSwitch />
      <DialogActions>
        <button type="button" onClick={close}>
          Close
        </button>
      </DialogActions>
    </Dialog>
  );
}
