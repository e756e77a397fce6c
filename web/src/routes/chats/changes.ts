import { useMutation, useQueryClient } from "@tanstack/react-query";

/** Changes a chat, and reads all shown parts of it anew, whether the change was made or refused. */
export function useChatChange<T, R>(chatId: string, change: (input: T) => Promise<R>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => client.invalidateQueries({ queryKey: ["chats", chatId] }),
  });
}
