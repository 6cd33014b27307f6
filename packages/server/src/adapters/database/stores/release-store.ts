import type { ReleaseKind } from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import type { Prisma } from '../../../../generated/prisma/client.ts'
import type { OverriddenGate, Release, ReleasedVersion, ReleaseStore } from '../../../features/projects/release.ts'
import type { DatabaseClient } from '../database.ts'
import { withAuthor } from './api-key-store.ts'

const named = { select: { id: true, uuid: true, number: true, title: true, revision: true } } as const
const shown = { ...withAuthor, version: named, from: named } as const satisfies Prisma.ReleaseInclude

export function postgresReleaseStore(client: DatabaseClient): ReleaseStore {
  const inProject = (workspaceId: number, projectId: number) => ({ projectId, project: { workspaceId } })
  const findNewest = async (where: Prisma.ReleaseWhereInput) => {
    const row = await client.release.findFirst({ where, include: shown, orderBy: { seq: 'desc' } })
    return row && toRelease(row)
  }
  return {
    async list(workspaceId, projectId, { limit = 25, cursor }) {
      const where = {
        ...inProject(workspaceId, projectId),
        ...(cursor !== undefined && { seq: { lt: Number(cursor) } }),
      }
      // One extra row shows whether there is a next page.
      const rows = await client.release.findMany({ where, include: shown, orderBy: { seq: 'desc' }, take: limit + 1 })
      const items = rows.slice(0, limit).map(toRelease)
      return { items, nextCursor: rows.length > limit ? String(items.at(-1)?.seq) : null }
    },
    findLatestOptional: (workspaceId, projectId) => findNewest(inProject(workspaceId, projectId)),
    findOptional: (workspaceId, projectId, seq) => findNewest({ ...inProject(workspaceId, projectId), seq }),
    findOfVersionOptional: (workspaceId, projectId, { uuid, revision }) =>
      findNewest({
        ...inProject(workspaceId, projectId),
        version: { uuid },
        ...defined({ revision }),
      }),
    async save(
      workspaceId,
      projectId,
      { version, from, author, apiKeyId, uuid, seq, kind, returnsTo, reason, overrides, createdAt },
    ) {
      const overridden = overrides.length === 0 ? null : JSON.stringify(overrides)
      await client.$executeRaw`
        INSERT INTO release (uuid, project_id, seq, kind, version_id, revision, from_version_id, from_revision, returns_to, author_id,
          api_key_id, reason, overrides, created_at)
        SELECT ${uuid}::uuid, p.id, ${seq}, ${kind}, ${version.id}, ${version.revision}, ${from?.id ?? null}::int,
          ${from?.revision ?? null}::int, ${returnsTo}::int, ${author.id}, ${apiKeyId}, ${reason}, ${overridden}::json,
          ${createdAt}
        FROM project p WHERE p.id = ${projectId} AND p.workspace_id = ${workspaceId}`
    },
  }
}

function toRelease({ version, from, ...row }: Prisma.ReleaseGetPayload<{ include: typeof shown }>): Release {
  const { uuid, seq, kind, revision, fromRevision, returnsTo, author, reason, createdAt } = row
  return {
    ...{ uuid, seq, kind: kind as ReleaseKind, version: released(version, revision) },
    from: from && released(from, fromRevision ?? 0),
    isCurrent: version.revision === revision,
    ...{ returnsTo, author, reason, createdAt },
    overrides: (row.overrides as unknown as OverriddenGate[] | null) ?? [],
  }
}

function released({ number, ...version }: Prisma.VersionGetPayload<typeof named>, revision: number): ReleasedVersion {
  return { ...version, number: number ?? 0, revision }
}
