import { defined } from '@stet/template/defined'
import type { Prisma } from '../../../../generated/prisma/client.ts'
import type { Example, ExampleStore } from '../../../features/examples/example.ts'
import { refuse } from '../../../shared/app-error.ts'
import { type DatabaseClient, fromJson, toJson } from '../database.ts'
import { withUniqueName } from '../database-error.ts'
import { withAuthor } from './api-key-store.ts'

const shown = { include: withAuthor } as const

export function postgresExampleStore(client: DatabaseClient): ExampleStore {
  const findOptional = async (workspaceId: number, projectId: number, uuid: string): Promise<Example | null> => {
    const row = await client.example.findFirst({ where: { workspaceId, projectId, uuid }, ...shown })
    return row && toExample(row)
  }
  return {
    async list(workspaceId, projectId, documentUuid) {
      const where = { workspaceId, projectId, documentUuid }
      return (await client.example.findMany({ where, ...shown, orderBy: { id: 'asc' } })).map(toExample)
    },
    async totals(workspaceId, projectId, documentUuid) {
      const [row] = await client.$queryRaw<{ count: number; bytes: number }[]>`
        SELECT count(*)::int AS count, coalesce(sum(octet_length(parameters::text) + octet_length(messages::text)), 0)::int AS bytes
        FROM example
        WHERE workspace_id = ${workspaceId} AND project_id = ${projectId} AND document_uuid = ${documentUuid}::uuid`
      return row ?? { count: 0, bytes: 0 }
    },
    findOptional,
    async create(workspaceId, { author, parameters, messages, ...example }) {
      const columns = { parameters: toJson(parameters), messages: toJson(messages) }
      await withUniqueName('example-name-taken', example.name, () =>
        client.example.create({
          data: { ...example, workspaceId, authorId: author.id, ...columns },
          select: { id: true },
        }),
      )
    },
    async update(workspaceId, projectId, uuid, { parameters, messages, ...change }) {
      const columns = { parameters: parameters && toJson(parameters), messages: messages && toJson(messages) }
      const data = { ...change, ...defined(columns) }
      await withUniqueName('example-name-taken', change.name ?? '', () =>
        client.example.updateMany({ where: { workspaceId, projectId, uuid }, data }),
      )
      const example = await findOptional(workspaceId, projectId, uuid)
      if (!example) throw refuse('unknown-example')
      return example
    },
    async delete(workspaceId, projectId, uuid) {
      const { count } = await client.example.deleteMany({ where: { workspaceId, projectId, uuid } })
      return count === 1
    },
  }
}

function toExample({
  id: _id,
  authorId: _authorId,
  parameters,
  messages,
  ...row
}: Prisma.ExampleGetPayload<typeof shown>): Example {
  return { ...row, parameters: fromJson(parameters), messages: fromJson(messages) }
}
