import { diffArrays } from 'diff'

export interface MergeSides {
  /** The text that both sides started from. Undefined if it is unknown or the sides have none in common. */
  base: string | undefined
  mine: string
  theirs: string
  /** Follow the markers of a conflict. One line each. */
  names: { mine: string; theirs: string }
}

export interface Merge {
  /** Contains git's conflict markers if there are regions. */
  text: string
  /** The conflicts, markers included. Lines start at 1. */
  regions: { line: number; lines: number }[]
}

/** The cost of a diff grows with the product of length and edits. Texts that differ more conflict as a whole. */
const maxEditLength = 300

/**
 * Merges two texts by line. Changes that overlap or touch conflict unless they are equal. Without a base, every
 * difference is a conflict, because a guessed base would undo edits. A merge that does not compile although both sides
 * do is a conflict too: two sides may add the same key of the front matter on different lines.
 */
export async function mergeTexts(
  sides: MergeSides,
  compiles: (text: string) => boolean | Promise<boolean>,
): Promise<Merge> {
  const { base, mine, theirs } = sides
  const merged = mergeLines(sides)
  if (mine === theirs || theirs === base || mine === base) return merged
  if (merged.regions.length > 0 || (await compiles(merged.text))) return merged
  const bothCompile = (await compiles(mine)) && (await compiles(theirs))
  return bothCompile ? mergeLines(sides, conflictAsWhole) : merged
}

/**
 * The merge of `mergeTexts`, without the question whether the result compiles. Without `names`, a conflict has the lines
 * of `mine`, without markers.
 */
export function mergeLines(
  { base, mine, theirs, names }: Omit<MergeSides, 'names'> & Partial<MergeSides>,
  partsOf = mergedParts,
): Merge {
  if (mine === theirs || theirs === base) return { text: mine, regions: [] }
  if (mine === base) return { text: theirs, regions: [] }
  const [own, other] = [linesOf(mine), linesOf(theirs)]
  const origin = base === undefined ? undefined : linesOf(base)
  return joinParts(partsOf(own.lines, other.lines, origin?.lines), names, mergeForms(origin, own, other))
}

/** Line ends and the final line break belong to the whole text, so that a changed line does not conflict with them. */
interface Form {
  lineEnd: string
  isClosed: boolean
}

function linesOf(text: string): Form & { lines: string[] } {
  const lineEnd = text.includes('\r\n') && !/(^|[^\r])\n/.test(text) ? '\r\n' : '\n'
  const lines = text.split(lineEnd)
  // An empty text has no lines, and counts as closed, so that it takes the other side's last line break.
  const isClosed = lines.at(-1) === ''
  return { lineEnd, isClosed, lines: isClosed ? lines.slice(0, -1) : lines }
}

function mergeForms(base: Form | undefined, mine: Form, theirs: Form): Form {
  return {
    lineEnd: mine.lineEnd === base?.lineEnd ? theirs.lineEnd : mine.lineEnd,
    isClosed: mine.isClosed === base?.isClosed ? theirs.isClosed : mine.isClosed,
  }
}

/** Merged lines, or a conflict. */
type Part = { merged: readonly string[] } | { mine: readonly string[]; theirs: readonly string[] }

function joinParts(parts: readonly Part[], names: MergeSides['names'] | undefined, { lineEnd, isClosed }: Form): Merge {
  const lines: string[] = []
  const regions: Merge['regions'] = []
  for (const part of parts) {
    const isConflict = 'mine' in part
    const added = !isConflict
      ? part.merged
      : names
        ? [`<<<<<<< ${names.mine}`, ...part.mine, '=======', ...part.theirs, `>>>>>>> ${names.theirs}`]
        : part.mine
    if (isConflict) regions.push({ line: lines.length + 1, lines: added.length })
    for (const line of added) lines.push(line)
  }
  const last = isClosed && lines.length > 0 ? lineEnd : ''
  return { text: lines.join(lineEnd) + last, regions }
}

function mergedParts(mine: string[], theirs: string[], base: string[] | undefined): Part[] {
  const [own, other] = base ? [hunksOf(base, mine), hunksOf(base, theirs)] : []
  if (!base || !own || !other) return conflictAsWhole(mine, theirs, base)
  const parts: Part[] = []
  let at = 0
  for (const { from, to, mine, theirs } of groupTouching(own, other)) {
    parts.push({ merged: base.slice(at, from) })
    const mineHere = linesWithin(base, mine, from, to)
    const theirsHere = linesWithin(base, theirs, from, to)
    if (theirs.length === 0 || areEqual(mineHere, theirsHere)) parts.push({ merged: mineHere })
    else if (mine.length === 0) parts.push({ merged: theirsHere })
    else parts.push({ mine: mineHere, theirs: theirsHere })
    at = to
  }
  parts.push({ merged: base.slice(at) })
  return parts
}

/** Lines `from` to `to` of the base, exclusive, became `lines`. */
export interface Hunk {
  from: number
  to: number
  lines: string[]
}

/** Returns undefined if the texts differ too much to be compared in a bounded time. */
export function hunksOf(base: string[], side: string[]): Hunk[] | undefined {
  const changes = diffArrays(base, side, { maxEditLength })
  if (!changes) return undefined
  const hunks: Hunk[] = []
  let at = 0
  let open: Hunk | undefined
  for (const { added, removed, count, value } of changes) {
    if (!added && !removed) {
      at += count
      open = undefined
      continue
    }
    if (!open) {
      open = { from: at, to: at, lines: [] }
      hunks.push(open)
    }
    if (added) open.lines = value
    else {
      at += count
      open.to = at
    }
  }
  return hunks
}

interface Group {
  from: number
  to: number
  mine: Hunk[]
  theirs: Hunk[]
}

function groupTouching(mine: readonly Hunk[], theirs: readonly Hunk[]): Group[] {
  const sided = [
    ...mine.map((hunk) => ({ side: 'mine' as const, hunk })),
    ...theirs.map((hunk) => ({ side: 'theirs' as const, hunk })),
  ].sort((a, b) => a.hunk.from - b.hunk.from || a.hunk.to - b.hunk.to)
  const groups: Group[] = []
  for (const { side, hunk } of sided) {
    let group = groups.at(-1)
    if (!group || hunk.from > group.to) {
      group = { from: hunk.from, to: hunk.to, mine: [], theirs: [] }
      groups.push(group)
    }
    group.to = Math.max(group.to, hunk.to)
    group[side].push(hunk)
  }
  return groups
}

function linesWithin(base: readonly string[], hunks: readonly Hunk[], from: number, to: number): string[] {
  const parts: string[][] = []
  let at = from
  for (const hunk of hunks) {
    parts.push(base.slice(at, hunk.from), hunk.lines)
    at = hunk.to
  }
  return [...parts.flat(), ...base.slice(at, to)]
}

function areEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, index) => line === other[index])
}

/**
 * Leaves out the lines that both sides begin and end with. Without a base, line ends alone conflict too, because nothing
 * says which side has changed them.
 */
function conflictAsWhole(mine: string[], theirs: string[], base: string[] | undefined): Part[] {
  const shorter = Math.min(mine.length, theirs.length)
  let start = 0
  while (start < shorter && mine[start] === theirs[start]) start += 1
  let end = 0
  while (end < shorter - start && mine.at(-1 - end) === theirs.at(-1 - end)) end += 1
  const [mineHere, theirsHere] = [mine.slice(start, mine.length - end), theirs.slice(start, theirs.length - end)]
  // The texts may differ only in their line ends.
  const isEqual = mineHere.length === 0 && theirsHere.length === 0
  if (isEqual && !base) return [{ mine, theirs }]
  return [
    { merged: mine.slice(0, start) },
    isEqual ? { merged: [] } : { mine: mineHere, theirs: theirsHere },
    { merged: mine.slice(mine.length - end) },
  ]
}
