import { type ReactNode, useId, useMemo, useState } from "react";
import { useModels } from "../../../api/models";
import { PARTS, type Part } from "../../../lib/content_fields";
import { type Content, exactText } from "../../../lib/definitions";
import { scoredDimensions } from "../../../lib/level_choice";
import { dimensionsOf } from "../../../lib/preview";
import { useToggle } from "../../../ui/fold";
import page from "../../../ui/page.module.css";
import { PlainText } from "../../../ui/plain_text";
import { PatternTrial, patternOf, ScenarioPreview } from "../preview";
import { DimensionsContext, useForm, useHasIssues } from "./context";
import { OFFERS, OtherFields } from "./control";
import { ValueControl } from "./controls";
import styles from "./form.module.css";
import { TemplateProblems } from "./template_problems";

interface Props {
  content: Content;
  /** It is the version that a fork inherits from; null for a definition that is no fork. */
  inherited: Content | null;
  setContent: (change: (content: Content) => Content) => void;
}

export function Parts({ content, inherited, setContent }: Props) {
  const pattern = patternOf(content);
  const { dimensions } = content;
  const scored = useMemo(() => scoredDimensions({ dimensions }), [dimensions]);
  const extras: Readonly<Record<string, ReactNode>> = {
    template: <TemplateProblems content={content} setContent={setContent} />,
    dimensions: <ScenarioPreview content={content} />,
    decision: pattern !== null && <PatternTrial pattern={pattern} />,
  };
  return (
    <DimensionsContext value={scored}>
      <Offers content={content} />
      {PARTS.map((part) => (
        <PartField
          key={part.name}
          part={part}
          value={Object.hasOwn(content, part.name) ? content[part.name] : undefined}
          inherited={inherited === null ? null : { value: inherited[part.name] }}
        >
          {extras[part.name]}
        </PartField>
      ))}
      <OtherFields fields={PARTS} path="" value={content} />
    </DimensionsContext>
  );
}

/** Defines the offers of fields for models and dimensions. */
export function Offers({ content }: { content: Content }) {
  const models = useModels();
  return (
    <>
      <datalist id={OFFERS.models}>
        {(models.data ?? [])
          .filter((each) => each.usable)
          .map((each) => (
            <option key={each.id} value={each.id} />
          ))}
      </datalist>
      <datalist id={OFFERS.dimensions}>
        {dimensionsOf(content).map((each, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: names may be equal while they are typed
          <option key={index} value={each.name} />
        ))}
      </datalist>
    </>
  );
}

interface PartProps {
  part: Part;
  value: unknown;
  inherited: { value: unknown } | null;
  children: ReactNode;
}

function PartField({ part, value, inherited, children }: PartProps) {
  const heading = useId();
  const text = exactText(value);
  const isSame = inherited !== null && same(value, inherited.value);
  const [isOverridden, override] = useState(false);
  const isInherited = isSame && !isOverridden;
  const hasIssues = useHasIssues(part.name);
  const [isOpen, toggle] = useToggle(text !== "");
  const fields = (
    <>
      {inherited !== null && (
        <Inheritance part={part} inherited={inherited} isInherited={isInherited} override={override} />
      )}
      {isInherited ? (
        text !== "" && (
          <PlainText
            label={`Inherited value of ${part.label}`}
            text={text}
            isCode={typeof value !== "string"}
          />
        )
      ) : (
        <ValueControl
          control={part.control}
          path={part.name}
          value={value}
          label={part.label}
          note={part.note}
        />
      )}
      {children}
    </>
  );
  if (part.isRare) {
    const isShown = isOpen || hasIssues;
    return (
      <details className={`${styles.part} ${styles.fold}`} open={isShown} onToggle={toggle}>
        <summary>
          <h2>{part.label}</h2>
          {text === "" && <span className={page.note}> not set</span>}
          {isInherited && text !== "" && <span className={page.note}> inherited</span>}
        </summary>
        {isShown && <div className={styles.fields}>{fields}</div>}
      </details>
    );
  }
  return (
    <section className={styles.part} aria-labelledby={heading}>
      <h2 id={heading}>{part.label}</h2>
      <div className={styles.fields}>{fields}</div>
    </section>
  );
}

interface InheritanceProps {
  part: Part;
  inherited: { value: unknown };
  isInherited: boolean;
  override: (isOverridden: boolean) => void;
}

/** Shows whether a fork inherits the part, and changes that. */
function Inheritance({ part, inherited, isInherited, override }: InheritanceProps) {
  const { change } = useForm();
  const isSet = exactText(inherited.value) !== "";
  const toggle = () => {
    override(isInherited);
    if (!isInherited) change(part.name, inherited.value);
  };
  return (
    <p className={styles.inheritance}>
      <span>{isInherited ? (isSet ? "Inherited" : "Inherited: not set") : "Overridden"}</span>
      {/* One button keeps the focus. */}
      <button type="button" onClick={toggle}>
        {isInherited ? "Override" : "Inherit"}
        <span className="hidden-text"> {part.label}</span>
        {isInherited ? "" : " again"}
      </button>
    </p>
  );
}

function same(one: unknown, other: unknown): boolean {
  return exactText(one) === exactText(other);
}
