import { randomUUID } from 'node:crypto'
import type { Prisma } from '../../../../generated/prisma/client.ts'
import type { Version } from '../../../features/projects/project.ts'
import type { VersionStore } from '../../../features/versions/ports.ts'
import { refuse } from '../../../shared/app-error.ts'
import type { DatabaseClient } from '../database.ts'

const shown = {
  author: { select: { id: true, name: true, email: true } },
  liveOf: { select: { id: true } },
} as const satisfies Prisma.VersionInclude

export function postgresVersionStore(client: DatabaseClient): VersionStore {
  const inProject = (workspaceId: number, projectId: number) => ({ projectId, project: { workspaceId } })
  const findFirst = async (where: Prisma.VersionWhereInput) => {
    const row = await client.version.findFirst({ where, include: shown })
    return row && toVersion(row)
  }
  return {
    async list(workspaceId, projectId, status) {
      const number = { draft: { equals: null }, merged: { not: null } }
      const rows = await client.version.findMany({
        where: { ...inProject(workspaceId, projectId), ...(status && { number: number[status] }) },
        include: shown,
        orderBy: [{ number: { sort: 'desc', nulls: 'first' } }, { createdAt: 'desc' }, { id: 'desc' }],
      })
      return rows.map(toVersion)
    },
    findOptional: (workspaceId, projectId, uuid) => findFirst({ ...inProject(workspaceId, projectId), uuid }),
    findLiveOptional: (workspaceId, projectId) => findFirst({ liveOf: { id: projectId, workspaceId } }),
    findNumberOptional: (workspaceId, projectId, number) => findFirst({ ...inProject(workspaceId, projectId), number }),
    async create(workspaceId, projectId, { title, authorId, parentVersionUuid, at }) {
      const row = await client.version.create({
        data: {
          uuid: randomUUID(),
          title,
          parentVersionUuid,
          createdAt: at,
          updatedAt: at,
          project: { connect: { id: projectId, workspaceId } },
          author: { connect: { id: authorId } },
        },
        include: shown,
      })
      return toVersion(row)
    },
    async publish(workspaceId, projectId, id, { number, title, description, at }) {
      // `number: null` matches only a draft. A unique constraint rejects a used number.
      const { count } = await client.version.updateMany({
        where: { ...inProject(workspaceId, projectId), id, number: null },
        data: { number, title, description, mergedAt: at, updatedAt: at },
      })
      if (count !== 1) throw new Error('Only a draft can be published')
      await client.project.updateMany({ where: { id: projectId, workspaceId }, data: { liveVersionId: id } })
      const version = await findFirst({ id })
      if (!version) throw refuse('unknown-version')
      return version
    },
    async freeUuid(uuid) {
      const version = await client.version.findUnique({
        where: { uuid },
        select: { id: true, project: { select: { deletedAt: true } } },
      })
      if (version === null) return true
      if (version.project.deletedAt === null) return false
      await client.version.updateMany({ where: { id: version.id }, data: { uuid: randomUUID() } })
      return true
    },
    async rewrite(workspaceId, projectId, id, { authorId, ...history }) {
      const where = { ...inProject(workspaceId, projectId), id }
      await client.version.updateMany({ where, data: { ...history, authorId } })
      const version = await findFirst(where)
      if (!version) throw refuse('unknown-version')
      return version
    },
    async touch(workspaceId, projectId, id, at) {
      const where = { ...inProject(workspaceId, projectId), id }
      await client.version.updateMany({ where, data: { updatedAt: at } })
    },
  }
}

function toVersion({
  authorId: _authorId,
  liveOf,
  ...row
}: Prisma.VersionGetPayload<{ include: typeof shown }>): Version {
  return { ...row, isLive: liveOf !== null }
}
