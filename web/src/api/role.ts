import { useQuery } from "@tanstack/react-query";
import { sessionQuery } from "./queries";

/** Tells whether this session may change things; false until it is known, so that no refused action is offered. */
export function useCanWrite(): boolean {
  const { data } = useQuery(sessionQuery);
  return data?.role === "admin" || data?.role === "member";
}

export function useIsAdmin(): boolean {
  return useQuery(sessionQuery).data?.role === "admin";
}
