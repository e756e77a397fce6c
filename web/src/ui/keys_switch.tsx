import { switchKeys, useAreKeysOn } from "./keys";
import page from "./page.module.css";

/** Switches keys off for people whose speech input or hands press keys that they do not mean. */
export function KeysSwitch() {
  const areOn = useAreKeysOn();
  return (
    <>
      <label className={page.check}>
        <input type="checkbox" checked={areOn} onChange={(event) => switchKeys(event.target.checked)} />
        Single-key shortcuts
      </label>
      <p className={`${page.note} ${page.below}`}>
        They act outside of text fields. Switching them off, for this browser, leaves j and k in the list of
        Probes and in the Matrix, and [ and ] in the Matrix, while the focus is there. Esc, Enter and the
        arrow keys always act.
      </p>
    </>
  );
}
