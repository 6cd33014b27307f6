/**
 * Merges texts of two sides outside of any transaction, one at a time in the turn of the workspace, because a merge costs
 * time in the server's thread (ADR 36). Writes nothing.
 */
import { setImmediate } from 'node:timers/promises'
import { LIMITS } from '@stet/contract/vocabulary'
import { type Merge, type MergeSides, mergeTexts } from '@stet/template/merge'
import { refuse } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import type { EvaluationOwner } from '../../templates/template-engine.ts'
import { byPath, checkText, hashContent, type LoadTexts, loadWith } from '../check-document.ts'
import { hashIn } from '../preconditions.ts'

export interface Sides {
  path: string
  /** Null if this side deleted the prompt. */
  mine: string | null
  theirs: string | null
  /** The hash of the text that both sides started from. Empty if there was none. */
  baseHash: string
  /** The text with this hash. Default: the text with this hash that the project has stored. */
  base?: string | undefined
}

export interface MergedSides extends Pick<Merge, 'regions'> {
  /** Contains conflict markers if there are regions. Null without a merged text: a side deleted the prompt. */
  content: string | null
  isClean: boolean
  isBaseUnknown: boolean
}

export type TextMerger = (sides: Sides) => Promise<MergedSides>

/** Bounds the time and the memory of one call. Further texts conflict without being merged. */
const mostMergedBytes = 4_194_304
/** A larger text with markers is left out of an error. */
const mostShownBytes = 65_536

/** @throws AppError BadRequestError if `base` does not have the hash `baseHash`. */
export function assertBase({ path, base, baseHash }: Pick<Sides, 'path' | 'base' | 'baseHash'>): void {
  if (base !== undefined && hashContent(base) !== hashIn(baseHash)) throw refuse('base-mismatch', { path })
}

interface MergerInput extends Pick<MergeSides, 'names'> {
  owner: EvaluationOwner
  /** The project whose stored texts may be the base. */
  projectId: number
  /** Loads the references of merged texts. */
  load: LoadTexts
}

export function textMerger(
  deps: Needs<'stores' | 'templates'>,
  { owner, projectId, names, load }: MergerInput,
): TextMerger {
  let left = mostMergedBytes
  const merge = async (sides: Sides): Promise<MergedSides> => {
    const { path, mine, theirs, baseHash } = sides
    if (mine === theirs) return { content: mine, regions: [], isClean: true, isBaseUnknown: false }
    if (mine === null || theirs === null) return undecided
    left -= Buffer.byteLength(mine) + Buffer.byteLength(theirs)
    if (left < 0) return undecided
    const hash = hashIn(baseHash)
    const stored = () => deps.stores.documents.findContentOptional(owner.workspaceId, projectId, path, hash)
    const base = hash === '' ? undefined : (sides.base ?? (await stored()) ?? undefined)
    const compiles = async (content: string): Promise<boolean> => {
      const text = { path, content, contentHash: hashContent(content) }
      return (await checkText(deps, text, loadWith(byPath([text]), load), owner)).scan.errors.length === 0
    }
    const { text, regions } = await mergeTexts({ base, mine, theirs, names }, compiles)
    const isBaseUnknown = hash !== '' && base === undefined
    if (regions.length === 0 && Buffer.byteLength(text) > LIMITS.promptBytes) return { ...undecided, isBaseUnknown }
    return { content: text, regions, isClean: regions.length === 0, isBaseUnknown }
  }
  return async (sides) => {
    const merged = await deps.templates.inTurn(owner, () => merge(sides))
    // Cached scans never yield to the event loop. This wait gives other requests a turn.
    await setImmediate()
    return merged
  }
}

const undecided: MergedSides = { content: null, regions: [], isClean: false, isBaseUnknown: false }

/** Returns what the details of a conflict say about its merge. */
export function describeConflict({ content, regions, isBaseUnknown }: MergedSides) {
  const isShown = content !== null && Buffer.byteLength(content) <= mostShownBytes
  return { merged: isShown ? content : null, regions, ...(isBaseUnknown && { baseUnknown: true as const }) }
}
