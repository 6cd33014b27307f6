import { defined } from '@stet/template/defined'
import type { ProviderKey as ProviderKeyRow } from '../../../../generated/prisma/client.ts'
import type { ProviderKeyStore } from '../../../features/providers/ports.ts'
import { type ProviderKey, providerNameKey } from '../../../features/providers/provider-key.ts'
import { refuse } from '../../../shared/app-error.ts'
import { type DatabaseClient, fromJson, toJson } from '../database.ts'
import { withUniqueName } from '../database-error.ts'

export function postgresProviderKeyStore(client: DatabaseClient): ProviderKeyStore {
  const findOptional = async (workspaceId: number, id: number): Promise<ProviderKey | null> => {
    const row = await client.providerKey.findFirst({ where: { workspaceId, id } })
    return row && toProviderKey(row)
  }
  return {
    async list(workspaceId) {
      const rows = await client.providerKey.findMany({ where: { workspaceId }, orderBy: { name: 'asc' } })
      return rows.map(toProviderKey)
    },
    findOptional,
    async lock(workspaceId, id) {
      await client.$queryRaw`SELECT id FROM provider_key WHERE workspace_id = ${workspaceId} AND id = ${id} FOR UPDATE`
      return findOptional(workspaceId, id)
    },
    async create(workspaceId, { configuration, ...fields }, seal) {
      // Sealing needs the id, which the insert returns. The caller's transaction hides the row until the commit.
      const data = { ...fields, workspaceId, nameKey: providerNameKey(fields.name), sealedToken: '' }
      const { id } = await withUniqueName('name-taken', fields.name, () =>
        client.providerKey.create({ data: { ...data, configuration: toJson(configuration) }, select: { id: true } }),
      )
      return toProviderKey(await client.providerKey.update({ where: { id }, data: { sealedToken: seal(id) } }))
    },
    async update(workspaceId, id, { configuration, ...change }) {
      const nameKey = change.name === undefined ? undefined : providerNameKey(change.name)
      const data = { ...change, ...defined({ nameKey, configuration: configuration && toJson(configuration) }) }
      const [row] = await withUniqueName('name-taken', change.name ?? '', () =>
        client.providerKey.updateManyAndReturn({ where: { workspaceId, id }, data }),
      )
      if (!row) throw refuse('unknown-provider-key')
      return toProviderKey(row)
    },
    async delete(workspaceId, id) {
      const { count } = await client.providerKey.deleteMany({ where: { workspaceId, id } })
      if (count === 0) throw refuse('unknown-provider-key')
    },
    async touch(workspaceId, id, at) {
      await client.providerKey.updateMany({ where: { workspaceId, id }, data: { lastUsedAt: at } })
    },
  }
}

function toProviderKey({ nameKey: _nameKey, configuration, ...row }: ProviderKeyRow): ProviderKey {
  return { ...row, configuration: fromJson(configuration) }
}
