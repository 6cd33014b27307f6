/** Runs the experiments. Every process does so, without an owner or a lease: everything here can be repeated. */
import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { type Repeated, repeat } from '../../../shared/clock.ts'
import { heldBytes } from '../../../shared/json-limits.ts'
import { itemRoom } from '../../runs/queue/queue-run.ts'
import type { ExperimentTexts } from '../experiment.ts'
import type { RunningExperiment } from '../ports.ts'
import { type AdvanceDeps, advanceExperiment } from './advance-experiment.ts'

const lookEveryMs = 10_000
const longestPauseMs = 1_000

/** Texts never change. Most have some kilobytes, so those of all running experiments fit. */
const mostTextBytes = 64 * 1_024 * 1_024

type TextCache = LRUCache<string, ExperimentTexts>

/** Looks at all running experiments every 10 s, and after each end of an item's run in this process. */
export function keepExperiments(deps: AdvanceDeps): Repeated {
  const texts: TextCache = new LRUCache<string, ExperimentTexts>({ maxSize: mostTextBytes, sizeCalculation: heldBytes })
  const looking = repeat(lookEveryMs, (stopping) =>
    advanceAll(deps, texts, stopping).catch((error: unknown) => {
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

async function advanceAll(deps: AdvanceDeps, texts: TextCache, stopping: AbortSignal): Promise<void> {
  const begun = performance.now()
  const running = inTurns(await deps.experiments.work.listRunning())
  const uuids = new Set(running.map(({ uuid }) => uuid))
  for (const uuid of texts.keys()) if (!uuids.has(uuid)) texts.delete(uuid)
  // Places that become free during the look are for the next one, so that none is skipped.
  const room = { left: running.length === 0 ? 0 : await itemRoom(deps) }
  for (const [place, experiment] of running.entries()) {
    if (stopping.aborted) return
    const look = { experiment, others: running.length - 1 - place, room, texts: () => textsOf(deps, texts, experiment) }
    // One experiment that fails must not hold up the others.
    const hasMore = await advanceExperiment(deps, look).catch((error: unknown) => {
      warn(deps, error, experiment)
      texts.delete(experiment.uuid)
      return false
    })
    if (hasMore) deps.experiments.loop.wake()
  }
  // A look counts all items of its experiments, so the next one waits a little.
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
  texts: TextCache,
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
