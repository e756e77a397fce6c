import { useInfiniteQuery } from "@tanstack/react-query";
import { scenariosQuery } from "../../api/definitions";
import { CreateEval } from "../../api/limits";
import { visible } from "../../lib/format";
import { LoadMore } from "../../ui/more";
import page from "../../ui/page.module.css";
import { Failure, Loading } from "../../ui/states";
import styles from "../new_run/new_run.module.css";

export const MAX_SCENARIOS = CreateEval.scenarioIds.maxItems;

interface ChoiceProps {
  definition: { id: string; version: number };
  chosen: readonly string[];
  choose: (ids: readonly string[]) => void;
}

export function ScenarioChoice({ definition, chosen, choose }: ChoiceProps) {
  const query = useInfiniteQuery(scenariosQuery(definition.id, definition.version));
  const items = query.data?.pages.flatMap((each) => each.items) ?? [];
  const toggle = (id: string) =>
    choose(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]);
  if (query.isPending) return <Loading what="scenarios" rows={3} />;
  if (query.isError)
    return <Failure error={query.error} what="Scenarios" retry={() => void query.refetch()} />;
  return (
    <fieldset className={styles.models}>
      <legend>Scenarios: {chosen.length} chosen</legend>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className={styles.options} aria-label="Scenarios" tabIndex={0}>
        {items.map((each) => (
          <label key={each.id}>
            <input type="checkbox" checked={chosen.includes(each.id)} onChange={() => toggle(each.id)} />
            <span className={styles.modelName}>{visible(each.name ?? each.id)}</span>
          </label>
        ))}
        {items.length === 0 && <p>The definition has no scenarios.</p>}
      </section>
      <p className={page.bar}>
        {items.length > 0 && (
          <button type="button" onClick={() => choose(items.map((each) => each.id))}>
            Choose all {items.length}
          </button>
        )}
        <LoadMore query={query}>Load more scenarios</LoadMore>
      </p>
      {chosen.length > MAX_SCENARIOS && <small>At most {MAX_SCENARIOS.toLocaleString("en")}</small>}
    </fieldset>
  );
}
