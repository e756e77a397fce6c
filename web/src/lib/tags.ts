interface Block {
  readonly tags: readonly (readonly number[])[];
  readonly tagNames: readonly string[];
}
export interface TagCount {
  readonly tag: string;
  readonly count: number;
}

/** Counts tags: the most frequent first, equal ones by name. */
export function countTags(blocks: readonly Block[]): TagCount[] {
  const counts = new Map<string, number>();
  for (const { tags, tagNames } of blocks) {
    for (const own of tags) {
      for (const position of new Set(own)) {
        const tag = tagNames[position];
        if (tag !== undefined) counts.set(tag, (counts.get(tag) ?? 0) + 1);
      }
    }
  }
  return [...counts]
    .map(([tag, count]) => ({ tag, count }))
    .sort((one, other) => other.count - one.count || (one.tag < other.tag ? -1 : 1));
}
