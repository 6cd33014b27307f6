import type { Merge, MergeSides } from '@stet/template/merge'
import type { LockEntry } from '../../settings/lock-file.ts'
import type { PullStep } from '../apply.ts'
import { baseOf, lockPathOf } from '../compare.ts'
import type { KnownTexts } from './known-texts.ts'

export interface Merger {
  texts: KnownTexts
  /** Returns whether the prompt of this path would compile with this text. */
  compiles(path: string, text: string): Promise<boolean>
}

export async function mergePrompt({ compiles }: Merger, path: string, sides: MergeSides): Promise<Merge> {
  const { mergeTexts } = await import('@stet/template/merge')
  return mergeTexts(sides, (text) => compiles(path, text))
}

const noBase = 'the text that both sides changed was not found; edit the file between the markers'
export const noFormerText = "the file's text before the merge was not found; resolve its conflict markers"

/** Adds the text of a step that needs an earlier one: a merge, or the file's text before a merge. */
export async function withText(
  step: PullStep,
  entry: LockEntry | undefined,
  local: ReadonlySet<string> | undefined,
  names: MergeSides['names'],
  merger: Merger,
): Promise<PullStep> {
  const { one, action } = step
  if (action === 'restore') {
    const text = entry?.mine === undefined ? undefined : await merger.texts.find(one.path, entry.mine)
    return text === undefined ? { one, action: 'unresolved', reason: noFormerText } : { ...step, text }
  }
  if (action !== 'merge' || one.localText === undefined || one.remoteText === undefined) return step
  const baseHash = baseOf(entry, local)
  const base = baseHash === undefined ? undefined : await merger.texts.find(lockPathOf(one), baseHash)
  const sides = { base, mine: one.localText, theirs: one.remoteText, names }
  const { text, regions } = await mergePrompt(merger, one.path, sides)
  if (regions.length === 0) return { one, action, text, baseHash }
  const isLost = baseHash !== undefined && base === undefined
  return { one, action: 'merge-conflict', text, baseHash, ...(isLost && { reason: noBase }) }
}
