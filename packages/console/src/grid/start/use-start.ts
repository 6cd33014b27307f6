import type { CreateExperimentBody } from '@stet/contract/vocabulary'
import type { Prompt } from '@stet/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { chooseDraft } from '../../app/frame/switches/draft-for-edit.ts'
import { versionsQuery } from '../../app/queries.ts'
import { stet, useSession } from '../../app/session.ts'
import type { Arm } from '../../runs/compare/arms.ts'
import { experimentQuery, experimentsQuery } from '../queries.ts'
import { armsOf, bodyOf, estimateOf, serverTools, unaskedUsd } from './arms-of.ts'

export interface StartPlace {
  projectId: number
  /** `live` or the uuid of the open version. */
  versionUuid: string
  document: Prompt
  /** The number of rows. */
  rows: number
  /** Saves the text, and returns the version that has it. */
  ready: () => Promise<{ versionUuid: string }>
  onStarted: (uuid: string) => void
}

export type StartOptions = Pick<CreateExperimentBody, 'tag' | 'trials' | 'budgetUsd'>

/** Starts an experiment: at once if it is cheap, otherwise after a question. */
export function useStart({ projectId, versionUuid, document, rows, ready, onStarted }: StartPlace) {
  const client = useQueryClient()
  const { author } = useSession().apiKey
  const { data: versions = [] } = useQuery(versionsQuery(projectId))
  const { data: last } = useQuery(lastRunsQuery(projectId, document.documentUuid))
  const [asked, setAsked] = useState<readonly Arm[] | null>(null)
  const tools = serverTools(document)
  const estimate = (arms: readonly Arm[], runs: number) => estimateOf(arms, runs, document.config['model'], last ?? [])
  const { mutateAsync, isPending, error, reset } = useMutation({
    mutationFn: async ({ arms, options }: { arms: readonly Arm[]; options: StartOptions }) => {
      const saved = await ready()
      const place = { open: versionUuid, saved: saved.versionUuid }
      return await stet.experiments.create({ ...bodyOf(document.path, arms, place), ...options }, { projectId })
    },
    onSuccess: async (experiment) => {
      setAsked(null)
      client.setQueryData(experimentQuery(experiment.uuid).queryKey, experiment)
      await client.invalidateQueries(experimentsQuery(projectId, document.documentUuid))
      onStarted(experiment.uuid)
    },
  })
  const start = (arms: readonly Arm[], options: StartOptions) => {
    mutateAsync({ arms, options }).catch(() => setAsked((now) => now ?? arms))
  }
  /** Typing on live begins a draft, which is the arm then. A text that cannot be saved says so at the start. */
  const armsNow = async () => {
    const saved = await ready().catch(() => ({ versionUuid }))
    return armsOf(versions, saved.versionUuid, chooseDraft(versions, author, new Date()).existing?.uuid)
  }
  const ask = async () => {
    reset()
    setAsked(await armsNow())
  }
  const runAll = async () => {
    const arms = await armsNow()
    const usd = estimate(arms, rows)
    if (usd !== null && usd <= unaskedUsd && tools.length === 0) return start(arms, {})
    reset()
    setAsked(arms)
  }
  return { asked, tools, estimate, start, runAll, ask, close: () => setAsked(null), isPending, error }
}

/** The runs whose cost foretells that of the next ones. */
function lastRunsQuery(projectId: number, documentUuid: string) {
  return {
    queryKey: ['project', projectId, 'last runs', documentUuid],
    queryFn: async ({ signal }: { signal: AbortSignal }) =>
      (await stet.runs.list({ projectId, documentUuid, status: ['completed'], limit: 20, signal })).items,
    staleTime: 30_000,
  }
}
