/** The names of targets in a line, the first three of many. */
export function targetNames(
  targets: readonly { id: string; label: string | null; model: string | null; connectorId: string | null }[],
): string {
  const names = targets.map((each) => each.label ?? each.model ?? each.connectorId ?? each.id);
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
}
