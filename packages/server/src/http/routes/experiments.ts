import type { contract } from '@stet/contract'
import { addScores } from '../../features/experiments/add-scores.ts'
import { createExperiment } from '../../features/experiments/create-experiment.ts'
import { listExperiments, readExperiment } from '../../features/experiments/find-experiment.ts'
import { readReport } from '../../features/experiments/report/read-report.ts'
import { resumeExperiment } from '../../features/experiments/resume-experiment.ts'
import { listRows } from '../../features/experiments/rows/list-rows.ts'
import { stopExperiment } from '../../features/experiments/work/stop-experiment.ts'
import { experimentBody, experimentRowBody } from '../../wire/experiment.ts'
import { callerOf } from '../auth/request-context.ts'
import { pathId } from '../body/address.ts'
import type { HttpDeps } from '../http-deps.ts'
import { onlyOnce } from '../idempotency/only-once.ts'
import type { Routes } from '../mount.ts'
import type { UnreadBudget } from '../rate-limit/unread-budget.ts'
import { sizedBody } from '../raw-response.ts'

const addedBody = ({ added }: { added: number; projectId: number }) => ({ added })

export function experimentRoutes(deps: HttpDeps, unread: UnreadBudget): Routes<typeof contract.experiments> {
  const subjectOf = ({ projectId }: { projectId: number }) => ({ projectId })
  return {
    create: async ({ params, body, req, res }) => {
      const projectId = pathId(params.projectId, 'unknown-project')
      const answer = await onlyOnce(deps, { req, res, status: 201, bodyOf: experimentBody }, (own) =>
        createExperiment(own, { ...body, caller: callerOf(res), projectId }),
      )
      deps.experiments.loop.wake()
      return answer
    },
    list: async ({ params, query, res }) => {
      const projectId = pathId(params.projectId, 'unknown-project')
      const { items, nextCursor } = await listExperiments(deps, { ...query, caller: callerOf(res), projectId })
      return { status: 200, body: { items: items.map(experimentBody), nextCursor } }
    },
    get: async ({ params, res }) => {
      return { status: 200, body: experimentBody(await readExperiment(deps, { ...params, caller: callerOf(res) })) }
    },
    items: async ({ params, query: { arm, ...query }, res }) => {
      const caller = callerOf(res)
      await unread.reserve(res, caller.apiKeyId)
      const page = { ...params, ...query, ...(arm !== undefined && { arm: Number(arm) }), caller }
      const { rows, nextCursor, areAnswersDropped } = await listRows(deps, page)
      const items = rows.map((row) => experimentRowBody(row, areAnswersDropped))
      return { status: 200, body: sizedBody(unread, res, { items, nextCursor }) }
    },
    report: async ({ params, query, res }) => {
      return { status: 200, body: await readReport(deps, { ...params, ...query, caller: callerOf(res) }) }
    },
    stop: async ({ params, res }) => {
      return { status: 200, body: experimentBody(await stopExperiment(deps, { ...params, caller: callerOf(res) })) }
    },
    resume: async ({ params, body, req, res }) => {
      const answer = await onlyOnce(deps, { req, res, status: 200, bodyOf: experimentBody, subjectOf }, (own) =>
        resumeExperiment(own, { ...params, ...body, caller: callerOf(res) }),
      )
      deps.experiments.loop.wake()
      return answer
    },
    scores: async ({ params, body, req, res }) =>
      onlyOnce(deps, { req, res, status: 200, bodyOf: addedBody, subjectOf }, (own) =>
        addScores(own, { ...params, ...body, caller: callerOf(res) }),
      ),
  }
}
