/** Runs the experiments. Every process does so, without an owner or a lease: everything here can be repeated. */
import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { type Repeated, repeat } from '../../../shared/clock.ts'
import { heldBytes } from '../../../shared/json-limits.ts'
import { itemRoom } from '../../runs/queue/queue-run.ts'
import type { ExperimentTexts } from '../experiment.ts'
import type { RunningExperiment } from '../ports.ts'
import { type AdvanceDeps, advanceExperiment, nothingSettled, type Settled } from './advance-experiment.ts'

const lookEveryMs = 10_000
const longestPauseMs = 1_000

/** Texts never change. Most have some kilobytes, and those of one experiment have a limit, so that several fit. */
const mostTextBytes = 64 * 1_024 * 1_024

/** What a process keeps of the running experiments. */
interface Kept {
  texts: LRUCache<string, ExperimentTexts>
  settled: Map<string, Settled>
}

/** Looks at all running experiments every 10 s, and after each end of an item's run in this process. */
export function keepExperiments(deps: AdvanceDeps): Repeated {
  const texts = new LRUCache<string, ExperimentTexts>({ maxSize: mostTextBytes, sizeCalculation: heldBytes })
  const kept: Kept = { texts, settled: new Map() }
  const looking = repeat(lookEveryMs, (stopping) =>
    advanceAll(deps, kept, stopping).catch((error: unknown) => {
      if (!stopping.aborted) warn(deps, error)
    }),
  )
  const { loop } = deps.experiments
  loop.wake = looking.wake
  looking.wake()
  return {
    async stop() {
      loop.wake = () => {}
      await looking.stop()
    },
  }
}

async function advanceAll(deps: AdvanceDeps, kept: Kept, stopping: AbortSignal): Promise<void> {
  const begun = performance.now()
  const running = inTurns(await deps.experiments.work.listRunning())
  const uuids = new Set(running.map(({ uuid }) => uuid))
  for (const cache of [kept.texts, kept.settled])
    for (const uuid of cache.keys()) if (!uuids.has(uuid)) cache.delete(uuid)
  // Places that become free during the look are for the next one, so that none is skipped.
  const room = { left: running.length === 0 ? 0 : await itemRoom(deps) }
  for (const [place, experiment] of running.entries()) {
    if (stopping.aborted) return
    const known = kept.settled.get(experiment.uuid)
    const settled = known?.revision === experiment.revision ? known : nothingSettled(experiment)
    kept.settled.set(experiment.uuid, settled)
    const texts = () => textsOf(deps, kept, experiment)
    const look = { experiment, others: running.length - 1 - place, room, settled, texts }
    // One experiment that fails must not hold up the others.
    const hasMore = await advanceExperiment(deps, look).catch((error: unknown) => {
      warn(deps, error, experiment)
      for (const cache of [kept.texts, kept.settled]) cache.delete(experiment.uuid)
      return false
    })
    if (hasMore) deps.experiments.loop.wake()
  }
  // The next look waits a little, because a look reads all items that are open.
  await pause(Math.min(longestPauseMs, (performance.now() - begun) / 2), undefined, { signal: stopping }).catch(
    () => {},
  )
}

/** First those of the workspace with the fewest active items, and of them the experiment with the fewest. */
function inTurns(running: readonly RunningExperiment[]): RunningExperiment[] {
  const ofWorkspace = new Map<number, number>()
  for (const { workspaceId, active } of running) {
    ofWorkspace.set(workspaceId, (ofWorkspace.get(workspaceId) ?? 0) + active)
  }
  const busy = ({ workspaceId }: RunningExperiment) => ofWorkspace.get(workspaceId) ?? 0
  return running.toSorted((one, other) => busy(one) - busy(other) || one.active - other.active)
}

async function textsOf(
  { experiments: { work } }: AdvanceDeps,
  { texts }: Kept,
  { uuid }: RunningExperiment,
): Promise<ExperimentTexts> {
  const known = texts.get(uuid) ?? (await work.findTexts(uuid))
  texts.set(uuid, known)
  return known
}

function warn({ logger }: AdvanceDeps, error: unknown, experiment?: RunningExperiment): void {
  const reason = error instanceof Error ? error.message : String(error)
  logger.warn('experiment.not-advanced', { experimentUuid: experiment?.uuid, reason })
}
