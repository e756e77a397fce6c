import { useQuery } from "@tanstack/react-query";
import { connectorNamesQuery } from "../api/resources";
import { visible } from "../lib/format";
import { type NamedTarget, targetNames } from "../lib/targets";

/** Lists targets by their names; connectors are read only where a target does not name its own. */
export function TargetList({ targets }: { targets: readonly NamedTarget[] }) {
  const isMissing = targets.some((each) => each.connectorId !== null && !each.label && !each.agentName);
  const connectors = useQuery({ ...connectorNamesQuery, enabled: isMissing }).data ?? [];
  return visible(targetNames(targets, new Map(connectors.map((each) => [each.id, each.name]))));
}
