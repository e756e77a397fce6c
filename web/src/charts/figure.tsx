import { type PointerEvent, type ReactNode, useId, useRef, useState } from "react";
import { downloadPng, downloadSvg } from "./download";
import styles from "./figure.module.css";
import { type Mark, Marks } from "./marks";

interface Props {
  title: string;
  /** It describes the drawing in words for screen readers. */
  description: string;
  /** It names a downloaded file, without its ending. */
  fileName: string;
  width: number;
  height: number;
  children: ReactNode;
  table: ReactNode;
  /** It is called with the first and the current place of a pointer that is dragged over the drawing. */
  drag?: ((from: number, to: number, isOver: boolean) => void) | undefined;
  /** They are drawn above the children, and reached by keyboard. */
  marks?: readonly Mark[];
}

/** Shows a drawing with its text alternative, the table behind it, and files of it. */
export function ChartFigure(props: Props) {
  const { title, description, fileName, width, height, children, table, drag, marks = [] } = props;
  const svg = useRef<SVGSVGElement>(null);
  const [failure, fail] = useState<string | null>(null);
  const [titleId, textId] = [useId(), useId()];
  const png = () => {
    if (svg.current)
      downloadPng(svg.current, fileName).then(
        () => fail(null),
        () => fail("The browser could not draw the image; SVG works."),
      );
  };
  const [current, setCurrent] = useState(0);
  const [hasFocus, setHasFocus] = useState(false);
  const focus = (mark: number | null) => {
    setHasFocus(mark !== null);
    if (mark !== null) setCurrent(mark);
  };
  const reached = Math.min(current, marks.length - 1);
  const hasMarks = marks.length > 0;
  const begun = useRef<number | null>(null);
  const placeOf = ({ clientX, currentTarget }: PointerEvent<SVGSVGElement>) =>
    clientX - currentTarget.getBoundingClientRect().left;
  const begin = (event: PointerEvent<SVGSVGElement>) => {
    // A finger scrolls.
    if (event.pointerType === "touch" || event.button !== 0) return;
    event.preventDefault();
    event.currentTarget.setPointerCapture(event.pointerId);
    begun.current = placeOf(event);
  };
  const move = (event: PointerEvent<SVGSVGElement>) => {
    if (begun.current !== null) drag?.(begun.current, placeOf(event), false);
  };
  const end = (event: PointerEvent<SVGSVGElement>) => {
    if (begun.current !== null) drag?.(begun.current, placeOf(event), true);
    begun.current = null;
  };
  return (
    <figure className={styles.figure}>
      <figcaption className={styles.caption}>
        <span>{title}</span>
        <span className={styles.downloads}>
          <button type="button" onClick={() => svg.current && downloadSvg(svg.current, fileName)}>
            SVG<span className="hidden-text"> of “{title}”</span>
          </button>
          <button type="button" onClick={png}>
            PNG<span className="hidden-text"> of “{title}”</span>
          </button>
        </span>
      </figcaption>
      {failure && <p role="alert">{failure}</p>}
      {/* A region that scrolls must be reachable by keyboard: by its marks, if it has any. */}
      <section className={styles.scroll} {...(!hasMarks && { tabIndex: 0 })} aria-label={`Drawing: ${title}`}>
        <svg
          ref={svg}
          className={styles.drawing}
          role={hasMarks ? "group" : "img"}
          aria-labelledby={`${titleId} ${textId}`}
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          data-draggable={drag !== undefined}
          {...(drag && { onPointerDown: begin, onPointerMove: move, onPointerUp: end, onPointerCancel: end })}
        >
          <title id={titleId}>{title}</title>
          <desc id={textId}>{description}</desc>
          {children}
          {hasMarks && (
            <Marks title={title} marks={marks} current={reached} hasFocus={hasFocus} focus={focus} />
          )}
        </svg>
      </section>
      {hasMarks && (
        <p className={styles.said} aria-hidden="true">
          {hasFocus ? marks[reached]?.text : <Hint leads={marks.some((each) => each.link || each.choose)} />}
        </p>
      )}
      <details className={styles.table}>
        <summary>Figures as a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
        <section className={styles.scroll} tabIndex={0} aria-label={`Figures: ${title}`}>
          {table}
        </section>
      </details>
    </figure>
  );
}

function Hint({ leads }: { leads: boolean }) {
  return (
    <>
      <kbd>Tab</kbd> leads to the marks, arrow keys from one to another
      {leads && (
        <>
          , and <kbd>Enter</kbd> opens one
        </>
      )}
      .
    </>
  );
}
