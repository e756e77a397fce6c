import { useMutation, useQueryClient } from "@tanstack/react-query";

/** A change of a chat, after which all of it that is shown is read anew, whether it was made or refused. */
export function useChatChange<T, R>(chatId: string, change: (input: T) => Promise<R>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => client.invalidateQueries({ queryKey: ["chats", chatId] }),
  });
}
