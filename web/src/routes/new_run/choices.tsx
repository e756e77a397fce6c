import { visible } from "../../lib/format";
import styles from "./new_run.module.css";

interface Props {
  label: string;
  legend: string;
  items: readonly { id: string; name: string }[];
  chosen: readonly string[];
  choose: (ids: readonly string[]) => void;
}

/** Lists choices of a workspace's items; nothing without items. */
export function Choices({ label, legend, items, chosen, choose }: Props) {
  if (items.length === 0) return null;
  const toggle = (id: string) =>
    choose(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]);
  return (
    <fieldset className={styles.models}>
      <legend>{legend}</legend>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={styles.options} aria-label={label} tabIndex={0}>
        {items.map((each) => (
          <label key={each.id}>
            <input type="checkbox" checked={chosen.includes(each.id)} onChange={() => toggle(each.id)} />
            <span className={styles.modelName}>{visible(each.name)}</span>
          </label>
        ))}
      </section>
    </fieldset>
  );
}
