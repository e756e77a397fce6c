import { getRouteApi, Link } from "@tanstack/react-router";
import { visible } from "../../lib/format";

const route = getRouteApi("/runs/$id");

/** Links to the scenario's row in the matrix of the run. */
export function ScenarioLink({ id, name }: { id: string; name: string }) {
  const { id: run } = route.useParams();
  return (
    <Link to="/runs/$id" params={{ id: run }} search={{ q: id }}>
      {visible(name)}
    </Link>
  );
}
