import { useQuery } from "@tanstack/react-query";
import { chosenDefinitionQuery, definitionsQuery } from "../../api/queries";
import { Failure, Loading } from "../../ui/states";
import { DefinitionField } from "../new_run/definition_field";

interface Props {
  id: string;
  choose: (id: string) => void;
}

/** Chooses a definition among the newest, or by a search. */
export function DefinitionChoice({ id, choose }: Props) {
  const newest = useQuery(definitionsQuery);
  const listed = newest.data?.items.find((each) => each.id === id);
  const other = useQuery({ ...chosenDefinitionQuery(id), enabled: id !== "" && newest.isSuccess && !listed });
  if (newest.isError)
    return <Failure error={newest.error} what="Definitions" retry={() => void newest.refetch()} />;
  if (newest.data === undefined) return <Loading what="definitions" rows={1} />;
  return (
    <DefinitionField
      definitions={newest.data.items}
      hasMore={newest.data.nextCursor !== null}
      chosen={listed ?? other.data}
      choose={choose}
    />
  );
}
