import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { definitionQuery } from "../../api/definitions";
import type { Definition } from "../../api/types";
import { presentContent } from "../../lib/content_fields";
import { changedFields, fieldName } from "../../lib/definitions";
import { counted } from "../../lib/format";
import { TextDiff } from "../../ui/diff";
import page from "../../ui/page.module.css";
import { Section } from "../../ui/section";
import { Empty, Failure, Loading } from "../../ui/states";
import { useDefinition } from "./definition";
import styles from "./definitions.module.css";

const route = getRouteApi("/definitions/$id/changes");

/** Shows the changes of a version, against the one before it or any other. */
export function DefinitionChanges() {
  const { id } = route.useParams();
  const search = route.useSearch();
  const { data: definition } = useDefinition();
  if (definition === undefined) return null;
  const against = search.against ?? definition.version - 1;
  if (definition.version === 1 && search.against === undefined) {
    return (
      <Empty title="There is one version">
        <p>A change of the content makes the next one; earlier versions never change.</p>
      </Empty>
    );
  }
  return (
    <>
      <Against definition={definition} against={against} />
      <Difference id={id} definition={definition} against={against} />
    </>
  );
}

function Against({ definition, against }: { definition: Definition; against: number }) {
  const navigate = route.useNavigate();
  const latest = useQuery(definitionQuery(definition.id));
  const newest = Math.max(definition.version, latest.data?.version ?? 1);
  return (
    <p className={styles.versions}>
      <label htmlFor="against">Version {definition.version} against version</label>
      <select
        id="against"
        value={against}
        onChange={(event) =>
          void navigate({ search: (old) => ({ ...old, against: Number(event.target.value) }), replace: true })
        }
      >
        {Array.from({ length: newest }, (_, index) => index + 1)
          .filter((version) => version !== definition.version)
          .map((version) => (
            <option key={version} value={version}>
              {version}
            </option>
          ))}
      </select>
    </p>
  );
}

interface DifferenceProps {
  id: string;
  definition: Definition;
  against: number;
}

function Difference({ id, definition, against }: DifferenceProps) {
  const query = useQuery(definitionQuery(id, against));
  if (query.isPending) return <Loading what="the other version" />;
  if (query.isError)
    return <Failure error={query.error} what={`Version ${against}`} retry={() => void query.refetch()} />;
  const changes = changedFields(presentContent(query.data.content), presentContent(definition.content));
  const scenarios = definition.scenarioCount - query.data.scenarioCount;
  return (
    <>
      <p className={page.note}>
        {changes.length === 0
          ? "The content is the same."
          : `${counted(changes.length, "field")} ${changes.length === 1 ? "differs" : "differ"}.`}{" "}
        {counted(definition.scenarioCount, "scenario")}
        {scenarios !== 0 && `, ${Math.abs(scenarios)} ${scenarios > 0 ? "more" : "fewer"}`}.
      </p>
      {changes.map((change) => (
        <Section key={change.field} title={fieldName(change.field)}>
          <TextDiff
            label={`Changes of ${fieldName(change.field)}`}
            before={change.before}
            after={change.after}
          />
        </Section>
      ))}
    </>
  );
}
