import { Link } from "@tanstack/react-router";
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, type ReactNode, useRef, useState } from "react";
import type { Definition, Scenario } from "../../api/types";
import { formatShare, visible } from "../../lib/format";
import {
  columnKey,
  editedText,
  hasOneText,
  messageText,
  nextSorting,
  type Rates,
  rateOf,
  type SortColumn,
  type Sorting,
  type Variable,
  variableChange,
  variableKey,
  variableValue,
} from "../../lib/scenario_table";
import { ChecksCell } from "./checks_cell";
import styles from "./scenario_table.module.css";
import { type Editing, TextCell } from "./text_cell";

const ROW_PX = 64;
const HEAD_PX = 36;
const SCROLLBAR_PX = 18;

interface Props {
  definition: Definition;
  rows: readonly Scenario[];
  variables: readonly Variable[];
  /** Without them, the column is left out. */
  rates: Rates | undefined;
  sorting: Sorting | undefined;
  sort: (sorting: Sorting | undefined) => void;
  canChange: boolean;
  /** It is called when the last row is drawn. */
  readMore: () => void;
  actions: (scenario: Scenario) => ReactNode;
}

/** Draws only the rows that are seen, and the one that is edited. Texts and variables are edited in their cells. */
export function ScenarioTable(props: Props) {
  const { rows, variables, rates, sorting, sort, canChange, readMore } = props;
  const scroll = useRef<HTMLDivElement>(null);
  const [editing, edit] = useState<Editing | null>(null);
  const edited = editing === null ? -1 : rows.findIndex((each) => each.id === editing.scenario);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => rows[index]?.id ?? index,
    scrollMargin: HEAD_PX,
    overscan: 8,
    rangeExtractor: (range) => {
      if (range.endIndex >= rows.length - 1) queueMicrotask(readMore);
      const drawn = defaultRangeExtractor(range);
      return edited < 0 || drawn.includes(edited)
        ? drawn
        : [...drawn, edited].sort((one, other) => one - other);
    },
  });
  const header = (column: SortColumn, children: ReactNode, isFigure = false) => (
    <SortHeader column={column} sorting={sorting} sort={sort} isFigure={isFigure}>
      {children}
    </SortHeader>
  );
  return (
    <div
      ref={scroll}
      className={styles.scroll}
      role="table"
      aria-label="Scenarios"
      aria-rowcount={rows.length + 1}
      style={
        {
          ...columnsOf(variables.length, rates !== undefined, canChange),
          "--height": `${virtual.getTotalSize() + HEAD_PX + SCROLLBAR_PX}px`,
        } as CSSProperties
      }
    >
      <div role="rowgroup" className={styles.head}>
        <div role="row" aria-rowindex={1} className={styles.columns} style={{ height: HEAD_PX }}>
          {header("name", "Scenario")}
          {header("message", "Message")}
          {variables.map((each) => (
            <SortHeader key={variableKey(each)} column={each} sorting={sorting} sort={sort}>
              {visible(each.name)}
            </SortHeader>
          ))}
          {header("checks", "Checks")}
          {rates && header("rate", "Passed", true)}
          {canChange && (
            <span role="columnheader">
              <span className="hidden-text">Actions</span>
            </span>
          )}
        </div>
      </div>
      <div role="rowgroup" className={styles.body} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const scenario = rows[item.index];
          return (
            scenario && (
              <div
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                role="row"
                aria-rowindex={item.index + 2}
                className={`${styles.columns} ${styles.row}`}
                style={{ transform: `translateY(${item.start - HEAD_PX}px)` }}
              >
                <Cells {...props} scenario={scenario} editing={editing} edit={edit} />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

interface CellsProps extends Props {
  scenario: Scenario;
  editing: Editing | null;
  edit: (editing: Editing | null) => void;
}

function Cells({ definition, scenario, variables, rates, canChange, actions, editing, edit }: CellsProps) {
  const name = visible(scenario.name || scenario.id);
  const cell = { definition, scenario, editing, edit };
  return (
    <>
      <span role="rowheader" className={styles.name}>
        <Link
          to="/definitions/$id/scenarios/$scenario"
          params={{ id: definition.id, scenario: scenario.id }}
          search={({ v }: { v?: number | undefined }) => (v === undefined ? {} : { v })}
        >
          {name}
        </Link>
      </span>
      <TextCell
        {...cell}
        column="message"
        label={`message of ${name}`}
        text={messageText}
        change={canChange && hasOneText(scenario) ? (_, text) => ({ prompt: text }) : null}
      />
      {variables.map((variable) => {
        const isSet = variableValue(scenario, variable) !== undefined;
        return (
          <TextCell
            key={variableKey(variable)}
            {...cell}
            column={variableKey(variable)}
            label={`${visible(variable.name)} of ${name}`}
            text={(stored) => editedText(variableValue(stored, variable))}
            change={
              canChange && (isSet || variable.kind === "variable")
                ? (stored, text) => variableChange(stored, variable, text)
                : null
            }
          />
        );
      })}
      <ChecksCell {...cell} label={name} canChange={canChange} />
      {rates && (
        <span role="cell" className="figure">
          {formatShare(rateOf(rates, scenario.id))}
        </span>
      )}
      {canChange && (
        <span role="cell" className={styles.actions}>
          {actions(scenario)}
        </span>
      )}
    </>
  );
}

interface HeaderProps {
  column: SortColumn;
  sorting: Sorting | undefined;
  sort: (sorting: Sorting | undefined) => void;
  isFigure?: boolean;
  children: ReactNode;
}

function SortHeader({ column, sorting, sort, isFigure = false, children }: HeaderProps) {
  const isSorted = sorting !== undefined && columnKey(sorting.column) === columnKey(column);
  const direction = !isSorted ? "none" : sorting.isDescending ? "descending" : "ascending";
  return (
    <span role="columnheader" aria-sort={direction} className={isFigure ? "figure" : undefined}>
      <button type="button" onClick={() => sort(nextSorting(sorting, column))}>
        {children}
        <span aria-hidden="true">{{ none: "", descending: " ↓", ascending: " ↑" }[direction]}</span>
      </button>
    </span>
  );
}

const [NAME_PX, MESSAGE_PX, VARIABLE_PX, CHECKS_PX, RATE_PX, ACTIONS_PX] = [150, 260, 120, 220, 76, 100];

function columnsOf(variables: number, hasRates: boolean, hasActions: boolean): CSSProperties {
  const columns = [
    `minmax(${NAME_PX}px, 1fr)`,
    `minmax(${MESSAGE_PX}px, 2fr)`,
    ...Array.from({ length: variables }, () => `minmax(${VARIABLE_PX}px, 1fr)`),
    `minmax(${CHECKS_PX}px, 1.5fr)`,
    ...(hasRates ? [`${RATE_PX}px`] : []),
    ...(hasActions ? [`${ACTIONS_PX}px`] : []),
  ];
  const width =
    NAME_PX +
    MESSAGE_PX +
    variables * VARIABLE_PX +
    CHECKS_PX +
    (hasRates ? RATE_PX : 0) +
    (hasActions ? ACTIONS_PX : 0);
  return { "--columns": columns.join(" "), "--width": `${width}px` } as CSSProperties;
}
