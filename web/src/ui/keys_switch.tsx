import { switchKeys, useAreKeysOn } from "./keys";
import page from "./page.module.css";

/** For people whose speech input or hands press keys that they do not mean. */
export function KeysSwitch() {
  const areOn = useAreKeysOn();
  return (
    <>
      <label className={page.check}>
        <input type="checkbox" checked={areOn} onChange={(event) => switchKeys(event.target.checked)} />
        Single-character keys
      </label>
      <p className={`${page.note} ${page.below}`}>
        They act outside of fields. Switched off, in this browser, only these remain: j and k while the focus
        is in the list of Probes or in the Matrix, and [ and ] while it is in the Matrix. Esc, Enter and the
        arrow keys always act.
      </p>
    </>
  );
}
