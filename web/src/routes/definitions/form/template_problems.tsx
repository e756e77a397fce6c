import { flushSync } from "react-dom";
import type { Content } from "../../../lib/definitions";
import { visible } from "../../../lib/format";
import { dimensionsOf, templateProblems, withDimension, withPlaceholder } from "../../../lib/preview";
import styles from "../definitions.module.css";
import { idOf } from "./control";

interface Props {
  content: Content;
  setContent?: (change: (content: Content) => Content) => void;
}

/** Shows the placeholders and dimensions of a template that do not fit. */
export function TemplateProblems({ content, setContent }: Props) {
  const { unknown, unused } = templateProblems(content);
  if (unknown.length + unused.length === 0) return null;
  /** The focus moves to the next field to write, because the button is gone. */
  const correct = (change: (content: Content) => Content, path: string) => {
    flushSync(() => setContent?.(change));
    document.getElementById(idOf(path))?.focus();
  };
  const next = dimensionsOf(content).length;
  return (
    <ul className={styles.problems} aria-label="Problems of the template" aria-live="polite">
      {unknown.map((name) => (
        <li key={`[${name}]`}>
          The placeholder [{visible(name)}] has no dimension with that name.{" "}
          {setContent && (
            <button
              type="button"
              onClick={() => correct((now) => withDimension(now, name), `dimensions.${next}.levels.0.label`)}
            >
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
                <button
                  type="button"
                  onClick={() => correct((now) => withPlaceholder(now, name), "template")}
                >
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
