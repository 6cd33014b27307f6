/** Starts the next items of an experiment. Any process may call it at any time: no item runs twice. */
import { defined } from '@stet/template/defined'
import type { Needs } from '../../deps.ts'
import { findProject } from '../../documents/version-ref.ts'
import type { ExecuteDeps } from '../../runs/execute-run.ts'
import type { NewConversation } from '../../runs/ports.ts'
import { type ItemRun, itemRoom, queueItem } from '../../runs/queue/queue-run.ts'
import { keptParameters } from '../../runs/start-run.ts'
import { parameterValues } from '../../templates/parameters.ts'
import type { Arm, ArmText, ExperimentTexts } from '../experiment.ts'
import type { Progress, RunningExperiment, WaitingItem } from '../ports.ts'
import { type RowInputs, rowHashOf } from '../rows/fingerprint.ts'

export type TopUpDeps = ExecuteDeps & Needs<'experiments'>

export interface Advancing {
  experiment: RunningExperiment
  /** The number of experiments that have their turn later in this look. */
  others: number
  /** The places that were free when the look began. */
  room: { left: number }
  /** All items before this position have ended. */
  settled: { from: number }
  texts(): Promise<ExperimentTexts>
}

/**
 * Queues its share of items, row by row, while fewer than `concurrency` are active and the cost is below the budget. An item
 * whose row has changed ends without a run. Returns true if there may be more to do now.
 */
export async function topUp(
  deps: TopUpDeps,
  { experiment, others, room, settled, texts }: Advancing,
  progress: Progress,
): Promise<boolean> {
  const { work } = deps.experiments
  const mine = itemsToStart(experiment, progress)
  if (mine <= 0) return false
  const free = Math.min(mine, Math.ceil(Math.min(room.left, await itemRoom(deps)) / (1 + others)))
  if (free <= 0) return false
  const items = await work.listWaiting(experiment.uuid, { from: settled.from, limit: free })
  const changed: string[] = []
  const started: string[] = []
  const starting: Promise<void>[] = []
  for (const item of items) {
    // A process died after it had stored the run.
    if (item.hasRun) started.push(item.conversationUuid)
    else if (!item.row || rowHashOf(item.row) !== item.rowHash) changed.push(item.uuid)
    else {
      const run = await itemRun(deps, experiment, { item, row: item.row, text: (await texts()).arms[item.arm] })
      starting.push(
        queueItem(deps, run).then((outcome) => {
          if (outcome !== 'full') started.push(item.conversationUuid)
        }),
      )
    }
  }
  const outcomes = await Promise.allSettled(starting)
  room.left -= starting.length
  if (changed.length > 0) await work.endItems(changed, 'row-changed')
  if (started.length > 0) await work.markStarted(started)
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  // An item whose start was not noted may have ended. What the others do not take is shared in the next look.
  return items.some(({ hasRun }) => hasRun) || changed.length > 0 || (started.length > 0 && free < mine)
}

/** Not above 0 if nothing may start. Only the runs that are active when the cost reaches the budget can exceed it. */
export function itemsToStart(
  { concurrency, budgetUsd }: Pick<RunningExperiment, 'concurrency' | 'budgetUsd'>,
  { waiting, retrying, running, costUsd }: Pick<Progress, 'waiting' | 'retrying' | 'running' | 'costUsd'>,
): number {
  return costUsd >= budgetUsd ? 0 : Math.min(concurrency - running, waiting - retrying)
}

interface StartingItem {
  item: WaitingItem
  row: RowInputs
  text: ArmText | undefined
}

/** The run has the text that the experiment stored, so a draft may be edited meanwhile. */
async function itemRun(
  deps: TopUpDeps,
  experiment: RunningExperiment,
  { item, row, text }: StartingItem,
): Promise<ItemRun> {
  const { workspaceId, projectId, documentUuid, apiKeyId, authorId } = experiment
  const arm: Arm | undefined = experiment.arms[item.arm]
  if (!arm || !text) throw new Error('The experiment has no such arm')
  const { source, version, path, usesSteps, config, projectDefaults } = text
  const { versionUuid } = arm
  const { keepParameters } = await findProject(deps, { workspaceId, projectId: null }, projectId)
  const conversationUuid = item.conversationUuid
  const conversation: NewConversation = {
    ...{ uuid: conversationUuid, workspaceId, projectId, versionUuid, documentUuid, path },
    ...{
      contentHash: version.contentHash,
      customIdentifier: item.customIdentifier,
      origin: 'background',
      via: 'experiment',
    },
    config: effectiveConfig(text),
    createdAt: deps.clock.now(),
  }
  const overrides = arm.overrides ?? undefined
  const tools = { workspaceId, projectId, versionUuid, conversationUuid, awaited: [], lineage: [path] }
  return {
    conversation,
    prompt: {
      ...{ workspaceId, apiKeyId, tools, version, projectDefaults, source, usesSteps, config, overrides },
      parameters: parameterValues(config, row.parameters),
      messages: [...row.messages],
      ...(Object.keys(row.toolResults).length > 0 && { canned: row.toolResults }),
    },
    start: {
      ...{ apiKeyId, authorId, overrides },
      parameters: keptParameters(keepParameters ?? deps.runs.settings.keepParameters, row.parameters),
    },
  }
}

/** As a run of a caller stores it: front matter and overrides rank above the defaults of the project. */
function effectiveConfig({ config, projectDefaults: { provider, model } }: ArmText): Record<string, unknown> {
  const own = Object.entries(config).filter(([, value]) => value !== null)
  return { ...defined({ provider: provider ?? undefined, model: model ?? undefined }), ...Object.fromEntries(own) }
}
