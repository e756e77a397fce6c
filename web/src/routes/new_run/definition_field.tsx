import { useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { definitionSearchQuery } from "../../api/queries";
import type { Schemas } from "../../api/types";
import { visible } from "../../lib/format";
import { Field } from "../../ui/field";
import { TextFilter } from "../../ui/text_filter";
import styles from "./new_run.module.css";

type Definition = Schemas["DefinitionSummary"];

interface Props {
  definitions: readonly Definition[];
  /** It is true if there are further ones, which only a search finds. */
  hasMore: boolean;
  chosen: Definition | undefined;
  choose: (id: string) => void;
}

const FEW = 12;

/** Chooses the definition of a run from a list of the newest, with a search where these are many. */
export function DefinitionField({ definitions, hasMore, chosen, choose }: Props) {
  const [sought, setSought] = useState<string | undefined>(undefined);
  const seek = useCallback((text: string | undefined) => setSought(text), []);
  const found = useQuery({ ...definitionSearchQuery(sought ?? ""), enabled: sought !== undefined });
  const matching = sought === undefined ? definitions : (found.data?.items ?? []);
  const offered =
    chosen === undefined || matching.some((each) => each.id === chosen.id) ? matching : [chosen, ...matching];
  return (
    <>
      <Field label="Definition" id="definition" note={noteOf(sought, found.data?.items.length)}>
        <select id="definition" value={chosen?.id ?? ""} onChange={(event) => choose(event.target.value)}>
          {chosen === undefined && <option value="">choose a definition</option>}
          {offered.map((each) => (
            <option key={each.id} value={each.id}>
              {visible(each.name)} (version {each.version})
            </option>
          ))}
        </select>
      </Field>
      {(definitions.length > FEW || hasMore) && (
        <div className={styles.find}>
          <TextFilter label="Find a definition by its name" value={sought} change={seek} />
        </div>
      )}
    </>
  );
}

function noteOf(sought: string | undefined, found: number | undefined): string | undefined {
  if (sought === undefined) return undefined;
  if (found === undefined) return "Searching…";
  return found === 0 ? "No definition matches" : `${found} found`;
}
