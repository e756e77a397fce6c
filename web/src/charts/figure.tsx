import { type ReactNode, useId, useRef, useState } from "react";
import { downloadPng, downloadSvg } from "./download";
import styles from "./figure.module.css";

interface Props {
  title: string;
  /** What the drawing shows, in words, for those who do not see it. */
  description: string;
  /** The name of a downloaded file, without its ending. */
  fileName: string;
  width: number;
  height: number;
  /** Of the drawing; a title and a description are added. */
  children: ReactNode;
  /** The figures behind the drawing. */
  table: ReactNode;
}

/** A drawing with its text alternative, the table behind it, and files of it. */
export function ChartFigure({ title, description, fileName, width, height, children, table }: Props) {
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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={styles.scroll} tabIndex={0} aria-label={`Drawing: ${title}`}>
        <svg
          ref={svg}
          className={styles.drawing}
          role="img"
          aria-labelledby={`${titleId} ${textId}`}
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
        >
          <title id={titleId}>{title}</title>
          <desc id={textId}>{description}</desc>
          {children}
        </svg>
      </section>
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
