/** The longest list that is shown at once. More would be slow to read and to draw. */
const limit = 60

/**
 * The items whose label contains every word of the query, in their order, those first whose last part starts with it.
 * Without a query all items match.
 */
export function matching<Item extends { label: string }>(items: readonly Item[], query: string): Item[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const found = items
    .map((item) => ({ item, rank: rankOf(item.label.toLowerCase(), words) }))
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank)
  return found.slice(0, limit).map(({ item }) => item)
}

/** 0 without a match. A match at the start of a name counts more than one inside of it. */
function rankOf(label: string, words: readonly string[]): number {
  if (!words.every((word) => label.includes(word))) return 0
  const name = label.slice(label.lastIndexOf('/') + 1)
  const [first = ''] = words
  if (first && name.startsWith(first)) return 3
  return first && label.startsWith(first) ? 2 : 1
}
