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
  /** The path at which the base is stored. Default: `path`. Another one if the prompt moves. */
  basePath?: string
}

export interface MergedSides extends Pick<Merge, 'regions'> {
  /** Contains conflict markers if there are regions. Null without a merged text. Without regions, a side deleted the prompt. */
  content: string | null
  isClean: boolean
  isBaseUnknown: boolean
  /** True if the call had merged as much as one call may before. The texts need not conflict. */
  isSkipped: boolean
}

export type TextMerger = (sides: Sides) => Promise<MergedSides>

/**
 * Results wait in memory until they are written. Conflicts do not count, because they stay: otherwise those at the first
 * paths would keep every call from the others. Enough for each `POST …/documents/merge`.
 */
const mostMergedBytes = LIMITS.merges * LIMITS.promptBytes
/** A larger text with markers is left out of a response, and so are further ones of the call. */
const mostShownBytes = { ofText: 65_536, ofCall: 4_194_304 }

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
  const left = { merged: mostMergedBytes, shown: mostShownBytes.ofCall }
  const merge = async (sides: Sides): Promise<MergedSides> => {
    const { path, basePath = path, mine, theirs, baseHash } = sides
    if (mine === theirs) return { ...undecided, content: mine, isClean: true }
    if (mine === null || theirs === null) return undecided
    if (left.merged === 0) return skipped
    const hash = hashIn(baseHash)
    const stored = () => deps.stores.documents.findContentOptional(owner.workspaceId, projectId, basePath, hash)
    const base = hash === '' ? undefined : (sides.base ?? (await stored()) ?? undefined)
    const compiles = async (content: string): Promise<boolean> => {
      const text = { path, content, contentHash: hashContent(content) }
      return (await checkText(deps, text, loadWith(byPath([text]), load), owner)).scan.errors.length === 0
    }
    const { text, regions } = await mergeTexts({ base, mine, theirs, names }, compiles)
    const isBaseUnknown = hash !== '' && base === undefined
    const bytes = Buffer.byteLength(text)
    if (regions.length > 0) return { ...undecided, content: showing(text, bytes), regions, isBaseUnknown }
    if (bytes > LIMITS.promptBytes) return undecided
    if (bytes > left.merged) {
      left.merged = 0
      return skipped
    }
    left.merged -= bytes
    return { ...undecided, content: text, isClean: true }
  }
  const showing = (text: string, bytes: number): string | null => {
    if (bytes > mostShownBytes.ofText) return text
    if (bytes > left.shown) return null
    left.shown -= bytes
    return text
  }
  return async (sides) => {
    const merged = await deps.templates.inTurn(owner, () => merge(sides))
    // Cached scans never yield to the event loop. This wait gives other requests a turn.
    await setImmediate()
    return merged
  }
}

const undecided: MergedSides = { content: null, regions: [], isClean: false, isBaseUnknown: false, isSkipped: false }
const skipped: MergedSides = { ...undecided, isSkipped: true }

/** Returns what the details of a conflict say about its merge. */
export function describeConflict({ content, regions, isBaseUnknown, isSkipped }: MergedSides) {
  const isShown = content !== null && Buffer.byteLength(content) <= mostShownBytes.ofText
  return {
    ...{ merged: isShown ? content : null, regions },
    ...(isBaseUnknown && { baseUnknown: true as const }),
    ...(isSkipped && { skipped: true as const }),
  }
}
