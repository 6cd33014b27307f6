import type { InstallationStore } from '../../../features/sessions/ports.ts'
import type { DatabaseClient } from '../database.ts'

export function postgresInstallationStore(client: DatabaseClient): InstallationStore {
  const id = 1
  return {
    async findOptional() {
      const row = await client.installation.findUnique({ where: { id } })
      return row?.uuid ?? null
    },
    async save(uuid) {
      await client.installation.createMany({ data: { id, uuid }, skipDuplicates: true })
      const row = await client.installation.findUniqueOrThrow({ where: { id } })
      return row.uuid
    },
  }
}
