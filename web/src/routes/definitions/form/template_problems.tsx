import type { Content } from "../../../lib/definitions";
import { visible } from "../../../lib/format";
import { templateProblems, withDimension, withPlaceholder } from "../../../lib/preview";
import styles from "../definitions.module.css";

interface Props {
  content: Content;
  /** Offers to correct them. */
  setContent?: (change: (content: Content) => Content) => void;
}

/** The placeholders and dimensions of a template that do not fit. */
export function TemplateProblems({ content, setContent }: Props) {
  const { unknown, unused } = templateProblems(content);
  if (unknown.length + unused.length === 0) return null;
  return (
    <ul className={styles.problems} aria-label="Problems of the template" aria-live="polite">
      {unknown.map((name) => (
        <li key={`[${name}]`}>
          The placeholder [{visible(name)}] has no dimension with that name.{" "}
          {setContent && (
            <button type="button" onClick={() => setContent((now) => withDimension(now, name))}>
              Add dimension {visible(name)}
            </button>
          )}
        </li>
      ))}
      {unused.map((name, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: dimensions may have one name while they are typed
        <li key={index}>
          {name.trim() === "" ? (
            "A dimension has no name."
          ) : (
            <>
              The template has no placeholder [{visible(name)}].{" "}
              {setContent && (
                <button type="button" onClick={() => setContent((now) => withPlaceholder(now, name))}>
                  Insert [{visible(name)}]
                </button>
              )}
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
