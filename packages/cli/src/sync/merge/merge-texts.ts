/** `base` is the common ancestor. It is undefined if both sides are new or the ancestor was not found. */
export interface MergeSides {
  base: string | undefined
  mine: string
  theirs: string
  names: { mine: string; theirs: string }
}

/** Merges line by line. Conflicting lines are placed between git's conflict markers. */
export async function mergeTexts({
  base,
  mine,
  theirs,
  names,
}: MergeSides): Promise<{ text: string; isClean: boolean }> {
  const { diff3Merge } = await import('node-diff3')
  const lines = (text: string): string[] => text.split('\n')
  const regions = diff3Merge(lines(mine), lines(base ?? ''), lines(theirs))
  const merged = regions.flatMap(({ ok, conflict }) => {
    if (!conflict) return ok ?? []
    const { a, b } = conflict
    return [`<<<<<<< ${oneLine(names.mine)}`, ...a, '=======', ...b, `>>>>>>> ${oneLine(names.theirs)}`]
  })
  return { text: merged.join('\n'), isClean: regions.every(({ conflict }) => !conflict) }
}

/** Returns whether the three markers that git and `stet pull` write follow one another in order. */
export function hasConflictMarkers(text: string): boolean {
  const markers = text.match(/^(?:<{7}(?= )|={7}(?=\r?$)|>{7}(?= ))/gm) ?? []
  return markers.some((_, index) => {
    const [start = '', middle = '', end = ''] = markers.slice(index, index + 3)
    return start.startsWith('<') && middle.startsWith('=') && end.startsWith('>')
  })
}

function oneLine(name: string): string {
  return name.replaceAll(/\s+/g, ' ')
}
