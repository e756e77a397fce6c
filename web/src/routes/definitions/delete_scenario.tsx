import { useQueryClient } from "@tanstack/react-query";
import { api, ifMatch, read } from "../../api/client";
import { DeleteButton } from "../../ui/delete_button";

interface Props {
  definitionId: string;
  scenario: { readonly id: string };
  /** If it is known, a scenario that somebody has changed meanwhile is not deleted. */
  etag?: string | null;
  deleted: () => unknown;
}

/** Deletes a scenario from the next version of its definition, after a question. */
export function DeleteScenario({ definitionId, scenario, etag = null, deleted }: Props) {
  const client = useQueryClient();
  const remove = async () => {
    await read(
      api.DELETE("/v1/definitions/{definition_id}/scenarios/{scenario_id}", {
        params: { path: { definition_id: definitionId, scenario_id: scenario.id }, header: ifMatch(etag) },
      }),
    );
    await deleted();
    await client.invalidateQueries({ queryKey: ["definition", definitionId] });
  };
  return (
    <DeleteButton what="this scenario" remove={remove}>
      The next version of the definition is without it. Earlier versions, and their runs, keep it.
    </DeleteButton>
  );
}
