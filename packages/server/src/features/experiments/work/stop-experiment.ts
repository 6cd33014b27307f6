import { type StopDeps, stopFound } from '../../conversations/stop-conversation.ts'
import type { Needs } from '../../deps.ts'
import type { Experiment, ShownExperiment } from '../experiment.ts'
import { type ExperimentAddress, findExperiment, showExperiment } from '../find-experiment.ts'

type StopExperimentDeps = StopDeps & Needs<'experiments' | 'stores' | 'liveCache' | 'clock'>

/** Idempotent: an experiment that has ended stays as it is. @throws AppError NotFoundError. */
export async function stopExperiment(deps: StopExperimentDeps, address: ExperimentAddress): Promise<ShownExperiment> {
  const experiment = await findExperiment(deps, address)
  const stopped = { state: 'stopped', reason: 'user', finishedAt: deps.clock.now() } as const
  const { workspaceId, uuid } = experiment
  const isFirst = await deps.stores.experiments.setState(workspaceId, uuid, { from: ['running'], ...stopped })
  if (isFirst) await stopItems(deps, experiment)
  return showExperiment(deps, await findExperiment(deps, address))
}

/** Stops the active items. Those of another process get a signal. */
export async function stopItems(
  deps: StopDeps & Needs<'experiments'>,
  { workspaceId, uuid }: Pick<Experiment, 'workspaceId' | 'uuid'>,
): Promise<void> {
  const active = await deps.experiments.work.listActive(uuid)
  await Promise.all(
    active.map(async (conversationUuid) => {
      const find = () => deps.runs.store.findConversation(workspaceId, conversationUuid)
      const found = await find()
      if (found) await stopFound(deps, found, async () => (await find()) ?? found)
    }),
  )
}
