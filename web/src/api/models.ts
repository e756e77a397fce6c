import { useQuery } from "@tanstack/react-query";
import { withServed } from "../lib/model_choice";
import { modelsQuery, servedModelsQuery } from "./queries";
import { useCanWrite } from "./role";

/** Returns the usable models: those with a price, and those that servers of the workspace's own offer. */
export function useModels() {
  const listed = useQuery(modelsQuery);
  const served = useQuery({ ...servedModelsQuery, enabled: useCanWrite() });
  const data = listed.data && withServed(listed.data, served.data ?? []);
  return { ...listed, data, servers: served.data ?? [] };
}
