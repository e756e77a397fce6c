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
        They act outside of text fields. Once they are switched off for this browser, only Esc, Enter and the
        arrow keys act.
      </p>
    </>
  );
}
