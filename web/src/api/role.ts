import { useQuery } from "@tanstack/react-query";
import { sessionQuery } from "./queries";

/** Whether this session may change things; false until it is known, so that nothing is offered that would be refused. */
export function useCanWrite(): boolean {
  const { data } = useQuery(sessionQuery);
  return data?.role === "admin" || data?.role === "member";
}

export function useIsAdmin(): boolean {
  return useQuery(sessionQuery).data?.role === "admin";
}
