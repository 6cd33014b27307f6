import type { contract } from '@stet/contract'
import { defined } from '@stet/template/defined'
import { deleteProject } from '../../features/conversations/deletion/delete-project.ts'
import { listTags } from '../../features/conversations/label-conversation.ts'
import { readGates, saveGates } from '../../features/experiments/gates/save-gates.ts'
import { type CreatedProject, createProject, updateProject } from '../../features/projects/save-project.ts'
import { readStats } from '../../features/stats/read-stats.ts'
import { tagUseBody } from '../../wire/conversation.ts'
import { createdProjectBody, gatesBody, projectBody, statsBody } from '../../wire/project.ts'
import { callerOf, whileOpen } from '../auth/request-context.ts'
import { pathId } from '../body/address.ts'
import type { HttpDeps } from '../http-deps.ts'
import { onlyOnce } from '../idempotency/only-once.ts'
import type { Routes } from '../mount.ts'

const readInstant = (text: string | undefined) => (text === undefined ? undefined : new Date(text))

export function projectRoutes(deps: HttpDeps): Routes<typeof contract.projects> {
  return {
    list: async ({ res }) => {
      const { workspaceId, projectId } = callerOf(res)
      const projects = await deps.stores.projects.list(workspaceId, projectId)
      return { status: 200, body: projects.map(projectBody) }
    },
    create: async ({ body, req, res }) => {
      const subjectOf = ({ project }: CreatedProject) => ({ projectId: project.id })
      return onlyOnce(deps, { req, res, status: 201, bodyOf: createdProjectBody, subjectOf }, (own) =>
        createProject(own, { ...body, caller: callerOf(res) }),
      )
    },
    update: async ({ params, body, res }) => {
      const projectId = pathId(params.projectId, 'unknown-project')
      const project = await updateProject(deps, { ...body, caller: callerOf(res), projectId })
      return { status: 200, body: projectBody(project) }
    },
    delete: async ({ params, body, res }) => {
      const projectId = pathId(params.projectId, 'unknown-project')
      await deleteProject(deps, { ...body, caller: callerOf(res), projectId })
      return { status: 200, body: { id: projectId } }
    },
    stats: async ({ params, query: { from, to, ...rest }, res }) => {
      const projectId = pathId(params.projectId, 'unknown-project')
      const range = { from: readInstant(from), to: readInstant(to) }
      const signal = whileOpen(res)
      const stats = await readStats(deps, { ...rest, ...defined(range), caller: callerOf(res), projectId, signal })
      return { status: 200, body: statsBody(stats) }
    },
    tags: async ({ params, res }) => {
      const projectId = pathId(params.projectId, 'unknown-project')
      const uses = await listTags(deps, { caller: callerOf(res), projectId })
      return { status: 200, body: uses.map(tagUseBody) }
    },
    gates: async ({ params, res }) => {
      const projectId = pathId(params.projectId, 'unknown-project')
      return { status: 200, body: gatesBody(await readGates(deps, { caller: callerOf(res), projectId })) }
    },
    setGates: async ({ params, body, res }) => {
      const projectId = pathId(params.projectId, 'unknown-project')
      return { status: 200, body: gatesBody(await saveGates(deps, { ...body, caller: callerOf(res), projectId })) }
    },
  }
}
