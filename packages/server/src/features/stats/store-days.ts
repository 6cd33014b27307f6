/**
 * Sums each day once. Facts never change, so two servers that sum the same day get the same rows, and a server that ends
 * half-way leaves none.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Repeated, repeat } from '../../shared/clock.ts'
import type { Needs } from '../deps.ts'
import { sumOf } from './cell.ts'
import { daySeconds, groupBy, sumFacts } from './pieces.ts'
import type { StatsKey, StepCell, StoredDay } from './ports.ts'

export type StoreDaysDeps = Needs<'stats' | 'logger'>

const storeEveryMs = 600_000
/** Steps shorter than a day come from facts. */
const factDays = 40

/** Stores days that have ended, at the start and every ten minutes, then drops facts older than 40 days. */
export function keepStoringDays(deps: StoreDaysDeps): Repeated {
  const storing = repeat(storeEveryMs, (stopping) =>
    storeDays(deps, stopping).catch((error: unknown) => {
      if (!stopping.aborted) warn(deps, error)
    }),
  )
  storing.wake()
  return storing
}

function warn({ logger }: StoreDaysDeps, error: unknown): void {
  logger.warn('stats.not-stored', { reason: error instanceof Error ? error.message : String(error) })
}

/** Pauses after each day for as long as it took. */
export async function storeDays(deps: StoreDaysDeps, signal: AbortSignal): Promise<void> {
  const { store } = deps.stats
  const restAfter = async <T>(work: () => Promise<T>): Promise<T> => {
    signal.throwIfAborted()
    const start = performance.now()
    const result = await work()
    await pause(performance.now() - start, undefined, { signal, ref: false })
    return result
  }
  // A day that fails, for example because its statement takes too long, delays neither other projects nor old facts.
  const failed = new Set<number>()
  for (;;) {
    const days = (await store.listUnstoredDays()).filter(({ projectId }) => !failed.has(projectId))
    if (days.length === 0) break
    for (const { projectId, day } of days) {
      await restAfter(() =>
        storeDay(deps, projectId, day).catch((error: unknown) => {
          failed.add(projectId)
          warn(deps, error)
        }),
      )
    }
  }
  while ((await restAfter(() => store.dropFacts(factDays))) > 0);
}

async function storeDay(deps: StoreDaysDeps, projectId: number, day: string): Promise<void> {
  const from = Date.parse(day)
  const facts = { projectId, from, to: from + daySeconds * 1_000, stepSeconds: daySeconds, isByPrompt: true } as const
  const versions = await sumFacts(deps, { ...facts, by: 'version' })
  const models = await sumFacts(deps, { ...facts, by: 'model' })
  const of = (by: StatsKey, steps: readonly StepCell[], placeOf: (step: StepCell) => Place) =>
    storedDays(day, by, steps, placeOf)
  await deps.stats.store.saveDay(projectId, [
    ...of('prompt', versions, ({ prompt }) => ({ documentUuid: '', key: prompt })),
    ...of('version', versions, ({ key }) => ({ documentUuid: '', key })),
    ...of('version', versions, ({ prompt, key }) => ({ documentUuid: prompt, key })),
    ...of('model', models, ({ key }) => ({ documentUuid: '', key })),
    ...of('model', models, ({ prompt, key }) => ({ documentUuid: prompt, key })),
  ])
}

type Place = Pick<StoredDay, 'documentUuid'> & { key: string }

function storedDays(
  day: string,
  by: StatsKey,
  steps: readonly StepCell[],
  placeOf: (step: StepCell) => Place,
): StoredDay[] {
  const placed = steps.map((step) => ({ ...placeOf(step), via: step.via, cell: step.cell }))
  return [...groupBy(placed, ({ documentUuid }) => documentUuid)].map(([documentUuid, own]) => ({
    ...{ day, documentUuid, by },
    cells: byName(
      own,
      ({ via }) => via,
      (ofVia) =>
        byName(
          ofVia,
          ({ key }) => key,
          (ofKey) => sumOf(ofKey.map(({ cell }) => cell)),
        ),
    ),
  }))
}

/** A model may have any name, for example `constructor`, which `fromEntries` makes an own property. */
function byName<T, R>(items: readonly T[], nameOf: (item: T) => string, resultOf: (own: T[]) => R): Record<string, R> {
  return Object.fromEntries([...groupBy(items, nameOf)].map(([name, own]) => [name, resultOf(own)]))
}
