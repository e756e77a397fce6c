import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { scenariosQuery } from "../../api/definitions";
import { useCanWrite } from "../../api/role";
import type { Definition, Scenario } from "../../api/types";
import { saidText } from "../../lib/conversation_text";
import { visible } from "../../lib/format";
import { useToggle } from "../../ui/fold";
import { More } from "../../ui/more";
import page from "../../ui/page.module.css";
import { Empty, Failure, Loading } from "../../ui/states";
import { AddScenarios } from "./add_scenarios";
import { useDefinition } from "./definition";
import styles from "./definitions.module.css";
import { DeleteScenario } from "./delete_scenario";
import { ScenarioDetails } from "./scenario_details";

const route = getRouteApi("/definitions/$id/scenarios");

export function DefinitionScenarios() {
  const { data } = useDefinition();
  return data === undefined ? null : <List definition={data} />;
}

function List({ definition }: { definition: Definition }) {
  const isLatest = route.useSearch().v === undefined;
  const canWrite = useCanWrite();
  const query = useInfiniteQuery(scenariosQuery(definition.id, definition.version));
  const items = query.data?.pages.flatMap((each) => each.items) ?? [];
  const [deleted, setDeleted] = useState<Scenario | null>(null);
  const said = useRef<HTMLParagraphElement>(null);
  const canChange = canWrite && isLatest;
  const isGone = deleted !== null && !items.some((each) => each.id === deleted.id);
  // The element with the focus disappears with its row.
  useEffect(() => {
    if (isGone) said.current?.focus();
  }, [isGone]);
  return (
    <>
      {canChange && <AddScenarios definition={definition} />}
      {canWrite && !isLatest && (
        <p className={page.note}>
          A version never changes: scenarios are added, edited and deleted in{" "}
          <Link to="/definitions/$id/scenarios" params={{ id: definition.id }} search={{}}>
            the latest version
          </Link>
          .
        </p>
      )}
      <p ref={said} role="status" tabIndex={-1}>
        {isGone && `Deleted: ${visible(deleted.name || deleted.id)}.`}
      </p>
      {query.isPending && <Loading what="scenarios" />}
      {query.isError && <Failure error={query.error} what="Scenarios" retry={() => void query.refetch()} />}
      {query.isSuccess && items.length === 0 && (
        <Empty title="No scenarios yet">
          <p>A scenario is one test: what the user says first, and what a good answer contains.</p>
        </Empty>
      )}
      {items.length > 0 && (
        <section aria-label="Scenarios">
          {items.map((each) => (
            <ScenarioRow key={each.id} scenario={each}>
              {canChange && (
                <div className={page.bar}>
                  <Link
                    to="/definitions/$id/scenarios/$scenario"
                    params={{ id: definition.id, scenario: each.id }}
                  >
                    Edit<span className="hidden-text"> {visible(each.name || each.id)}</span>
                  </Link>
                  <DeleteScenario
                    definitionId={definition.id}
                    scenario={each}
                    deleted={() => setDeleted(each)}
                  />
                </div>
              )}
            </ScenarioRow>
          ))}
          <More query={query} shown={items.length} total={definition.scenarioCount} noun="scenario" />
        </section>
      )}
    </>
  );
}

/** Shows its text and, once it is unfolded, all of it, with its actions. */
function ScenarioRow({ scenario, children }: { scenario: Scenario; children: ReactNode }) {
  const [isOpen, toggle] = useToggle();
  const first = scenario.messages.find((each) => each.role === "user") ?? scenario.messages[0];
  const scores = Object.entries(scenario.dimensions).map(([name, score]) => `${name} ${score}`);
  return (
    <details className={styles.scenario} onToggle={toggle}>
      <summary>
        <span className={styles.title}>{visible(scenario.name || scenario.id)}</span>
        <span className={styles.first}>{first ? visible(saidText(first).slice(0, 300)) : ""}</span>
        <span className={styles.scores}>{visible(scores.join(", "))}</span>
      </summary>
      {isOpen && (
        <div className={styles.opened}>
          {children}
          <ScenarioDetails scenario={scenario} />
        </div>
      )}
    </details>
  );
}
