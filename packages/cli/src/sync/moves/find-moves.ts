import type { LockEntry } from '../../settings/lock-file.ts'
import { baseOf, type Move } from '../compare.ts'
import type { LocalPrompt } from '../scan.ts'
import { similarPairs } from './similar-texts.ts'

export interface Places {
  entries: Readonly<Record<string, LockEntry>>
  local: ReadonlyMap<string, Pick<LocalPrompt, 'text' | 'hashes'>>
  remote: ReadonlyMap<string, { content: string; contentHash: string; documentUuid?: string | undefined }>
}

export interface FoundMoves {
  /** The lock's entries. Those of prompts that both sides moved to the same path are at this path. */
  entries: Readonly<Record<string, LockEntry>>
  /** By the new path. */
  moves: ReadonlyMap<string, Move>
}

/** From each old path to the new one. */
type Ways = ReadonlyMap<string, string>

/**
 * Finds moves on the server by the prompts' uuids, and moves of files by their texts if `guesses` is true. If the two
 * sides moved a prompt to different paths, neither counts, so that both prompts stay.
 */
export function findMoves(places: Places, guesses: boolean): FoundMoves {
  const { local, remote } = places
  const entries = { ...places.entries }
  const [files, served] = [guesses ? findMovedFiles(places) : new Map<string, string>(), findServed(places)]
  const settled = new Map([...served].filter(([from, to]) => files.get(from) === to || isFollowed(places, from, to)))
  const ofServer = without(served, (from, to, left) => {
    return settled.has(from) || files.has(from) || !local.has(from) || (local.has(to) && !left.has(to))
  })
  const ofFiles = without(files, (from, to, left) => {
    const [entry, there] = [places.entries[from], remote.get(from)]
    const isSame = there && (entry?.documentUuid ?? there.documentUuid) === there.documentUuid
    return !isSame || (remote.has(to) && !left.has(to))
  })
  for (const from of settled.keys()) delete entries[from]
  for (const [from, to] of settled) {
    const [{ movedTo: _, ...entry }, known] = [places.entries[from] ?? {}, places.entries[to]]
    if (known?.documentUuid !== entry.documentUuid) entries[to] = entry
  }
  const moves = new Map<string, Move>()
  for (const [from, to] of ofServer) moves.set(to, { from, by: 'server' })
  for (const [from, to] of ofFiles) moves.set(to, { from, by: 'file' })
  return { entries, moves }
}

/** Drops moves until `isWrong` is false for all that are left. */
function without(ways: Ways, isWrong: (from: string, to: string, left: Ways) => boolean): Ways {
  let left = ways
  for (;;) {
    const next = new Map([...left].filter(([from, to]) => !isWrong(from, to, left)))
    if (next.size === left.size) return left
    left = next
  }
}

function findServed({ entries, remote }: Places): Ways {
  const pathOf = new Map([...remote].map(([path, { documentUuid }]) => [documentUuid, path]))
  const served = new Map<string, string>()
  for (const [from, { hash, documentUuid }] of Object.entries(entries)) {
    const to = documentUuid && hash && pathOf.get(documentUuid)
    if (to && to !== from) served.set(from, to)
  }
  return served
}

/** Returns whether the file is already where the server has the prompt, for example after a pull by git. */
function isFollowed({ entries, local }: Places, from: string, to: string): boolean {
  const there = entries[to]
  const isFree = there === undefined || there.documentUuid === entries[from]?.documentUuid
  return isFree && !local.has(from) && local.has(to)
}

function findMovedFiles(places: Places): Ways {
  const { entries, local, remote } = places
  // `stet mv` has noted these. A path can have a new file afterwards.
  const notes = Object.entries(entries).flatMap(([from, { hash, movedTo }]): [string, string][] =>
    hash !== undefined && movedTo !== undefined && local.has(movedTo) ? [[from, movedTo]] : [],
  )
  const isOccupied = (to: string, left: Ways): boolean => entries[to] !== undefined && !left.has(to)
  const noted = without(new Map(notes), (_, to, left) => isOccupied(to, left))
  const taken = new Set(noted.values())
  const lost = Object.keys(entries).filter((path) => !noted.has(path) && isLost(places, path))
  const found = [...local.keys()].filter((path) => !taken.has(path) && (lost.includes(path) || !entries[path]))
  const equal = without(new Map([...noted, ...equalPairs(places, lost, found)]), (from, to, left) => {
    if (noted.has(from)) return false
    // An edited file whose earlier text is in another file has been copied, unless a prompt has moved to its path.
    return isOccupied(to, left) || (local.has(from) && ![...left.values()].includes(from))
  })
  const targets = new Set(equal.values())
  const gone = lost.filter((path) => !equal.has(path) && !local.has(path))
  const isNew = (path: string): boolean => !targets.has(path) && !entries[path] && !remote.has(path)
  const texts = (paths: string[], textOf: (path: string) => string | undefined) =>
    new Map(paths.map((path) => [path, textOf(path) ?? '']))
  return new Map([
    ...equal,
    ...similarPairs(
      texts(gone, (path) => remote.get(path)?.content),
      texts(found.filter(isNew), (path) => local.get(path)?.text),
    ),
  ])
}

/** Returns whether the file of a prompt is absent, or has another text than at the last pull or push. */
function isLost({ entries, local }: Places, path: string): boolean {
  const hashes = local.get(path)?.hashes
  const base = baseOf(entries[path], hashes)
  return base !== undefined && !hashes?.has(base)
}

/**
 * Pairs prompts with files that have their text. If several have the same text, pairs only those whose names agree
 * best, because a wrong pair would give the examples of one prompt to another.
 */
function equalPairs({ entries, local }: Places, lost: readonly string[], found: readonly string[]): [string, string][] {
  const pathsOf = new Map<string, string[]>()
  for (const path of lost) {
    const hash = entries[path]?.hash ?? ''
    pathsOf.set(hash, [...(pathsOf.get(hash) ?? []), path])
  }
  const pairs = found.flatMap((to) =>
    [...(local.get(to)?.hashes ?? [])]
      .flatMap((hash) => pathsOf.get(hash) ?? [])
      .slice(0, maxAlike)
      .flatMap((from) => (from === to ? [] : [{ from, to, likeness: commonEnd(from, to) }])),
  )
  return uniquePairs(pairs)
}

/** Prompts with the same text beyond this number are not considered. */
const maxAlike = 200

interface Pair {
  from: string
  to: string
  likeness: number
}

/** Returns the unambiguous pairs, the likeliest first: no other pair of either side is as likely. */
function uniquePairs(pairs: readonly Pair[]): [string, string][] {
  const unique = new Map<string, string>()
  let open = pairs
  for (;;) {
    // A path may be on both sides.
    const best = { from: new Map<string, Pair | undefined>(), to: new Map<string, Pair | undefined>() }
    for (const pair of open.toSorted((a, b) => a.likeness - b.likeness)) {
      for (const side of ['from', 'to'] as const) {
        const known = best[side].get(pair[side])
        // A copy equals no pair.
        best[side].set(pair[side], known?.likeness === pair.likeness ? { ...pair } : pair)
      }
    }
    const clear = open.filter((pair) => best.from.get(pair.from) === pair && best.to.get(pair.to) === pair)
    if (clear.length === 0) return [...unique]
    for (const { from, to } of clear) unique.set(from, to)
    const taken = new Set(clear.map(({ to }) => to))
    open = open.filter(({ from, to }) => !unique.has(from) && !taken.has(to))
  }
}
/** Counts the last segments that two paths share. */
function commonEnd(one: string, other: string): number {
  const [names, others] = [one.split('/').reverse(), other.split('/').reverse()]
  let count = 0
  while (count < names.length && names[count] === others[count]) count += 1
  return count
}
