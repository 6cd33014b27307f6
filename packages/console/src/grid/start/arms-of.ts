/** The arms that an experiment has without a choice, and what it may cost. Pure. */
import type { CreateExperimentBody } from '@stet/contract/vocabulary'
import type { Prompt, Run, Version } from '@stet/sdk'
import type { Arm } from '../../runs/compare/arms.ts'

/** A start without a question costs at most this much, in USD. */
export const unaskedUsd = 0.5

/**
 * Live as the baseline, and the draft: the open one, otherwise the author's newest. The open version alone if there is
 * nothing to compare it with.
 *
 * @param open `live` or the uuid of the open version
 */
export function armsOf(versions: readonly Version[], open: string, ownDraft: string | undefined): Arm[] {
  const live = versions.find(({ isLive }) => isLive)
  const candidate = open === 'live' || open === live?.uuid ? ownDraft : open
  return [...(live ? [{ version: 'live' }] : []), ...(candidate ? [{ version: candidate }] : [])]
}

/**
 * @param place.open `live` or the uuid of the open version, which is that of an arm without one
 * @param place.saved the version that has the text of the page: the open one, or the draft that typing on live began
 */
export function bodyOf(
  path: string,
  arms: readonly Arm[],
  { open, saved }: { open: string; saved: string },
): Pick<CreateExperimentBody, 'path' | 'arms'> {
  const named = arms.map(({ version = saved, overrides }) => ({
    // Live as a choice stays live, whatever was typed on it.
    versionUuid: version === open && open !== 'live' ? saved : version,
    ...(overrides && { overrides }),
  }))
  return { path, arms: named }
}

/**
 * Runs × the mean cost of the last runs with the same model.
 *
 * @param model of the prompt, for arms that do not change it. Without one, the default model, as the newest run has it
 * @returns null if a model has no such run, or its runs have no price
 */
export function estimateOf(arms: readonly Arm[], runs: number, model: unknown, last: readonly Run[]): number | null {
  const means = arms.map(({ overrides }) => {
    const used = overrides?.model ?? model ?? last[0]?.model
    const costs = last.filter((run) => run.model === used).map(({ cost }) => cost)
    if (costs.length === 0 || costs.includes(null)) return null
    return costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0) / costs.length
  })
  if (means.includes(null)) return null
  return means.reduce<number>((sum, mean) => sum + (mean ?? 0) * runs, 0)
}

/** A row that does not fit an arm, as the server names it. */
export interface MisfitRow {
  name?: string
  reason?: string
  missing?: unknown
  invalid?: unknown
}

/** Why the row does not fit, in words. */
export function misfitText({ reason = 'does not fit', missing, invalid }: MisfitRow): string {
  const listed = (value: unknown) => (Array.isArray(value) ? value : [])
  const wrong = listed(invalid).map((entry) => {
    const { name, expected } = Object(entry) as Record<string, unknown>
    return `${name} must be ${expected}`
  })
  const parts = [listed(missing).length > 0 && `${listed(missing).join(', ')} missing`, ...wrong].filter(Boolean)
  if (parts.length > 0) return parts.join(', ')
  return reason === 'messages-with-steps' ? 'a prompt with steps takes no messages' : reason
}

/** The tools of a prompt that the server runs for real: those without a definition of their own. */
export function serverTools({ config }: Pick<Prompt, 'config'>): string[] {
  const given = config['tools']
  const named = (Array.isArray(given) ? given : [given]).flatMap((entry) => {
    if (typeof entry === 'string') return [entry]
    return Object.entries(Object(entry)).flatMap(([name, tool]) =>
      typeof tool === 'object' && tool !== null && !('handler' in tool) ? [] : [name],
    )
  })
  return [...new Set(named)]
}
