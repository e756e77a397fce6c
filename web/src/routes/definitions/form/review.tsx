import { type Content, changedFields, fieldName } from "../../../lib/definitions";
import { Dialog, DialogActions } from "../../../ui/dialog";
import { TextDiff } from "../../../ui/diff";
import page from "../../../ui/page.module.css";
import styles from "./form.module.css";

export interface Labels {
  readonly name: string;
  readonly folder: string;
  readonly tags: string;
  readonly label: string;
}

const LABELS: Readonly<Record<keyof Labels, string>> = {
  name: "Name",
  folder: "Folder",
  tags: "Tags",
  label: "Version name",
};

interface Props {
  before: { labels: Labels; content: Content };
  after: { labels: Labels; content: Content };
  action: string;
  save: () => void;
  close: () => void;
}

/** Compares the content to save with the stored one. */
export function Review({ before, after, action, save, close }: Props) {
  const changes = [
    ...(Object.keys(LABELS) as (keyof Labels)[])
      .filter((each) => before.labels[each] !== after.labels[each])
      .map((each) => ({ name: LABELS[each], before: before.labels[each], after: after.labels[each] })),
    ...changedFields(before.content, after.content).map((each) => ({ ...each, name: fieldName(each.field) })),
  ];
  return (
    <Dialog title="What changes" close={close} isWide>
      {changes.length === 0 && (
        <p className={page.note}>Only parts that the form does not show have changed.</p>
      )}
      <div className={styles.changes}>
        {changes.map((each) => (
          <section key={each.name}>
            <h3>{each.name}</h3>
            <TextDiff label={`Changed text of ${each.name}`} before={each.before} after={each.after} />
          </section>
        ))}
      </div>
      <DialogActions>
        <button type="button" data-kind="primary" onClick={save}>
          {action}
        </button>
        <button type="button" onClick={close}>
          Continue editing
        </button>
      </DialogActions>
    </Dialog>
  );
}
