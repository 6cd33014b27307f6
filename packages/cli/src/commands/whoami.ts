import { defineCommand } from '../command.ts'
import { formatTable } from '../terminal/output.ts'

interface Row {
  name: string
  value: string | number | null
  origin: string
}

export const command = defineCommand({
  summary: 'Shows server, key, project and version, and where each comes from.',
  examples: ['stet whoami', 'stet whoami --json'],
  parse: () => undefined,
  async run(_, ctx) {
    const settings = await ctx.settings()
    const { apiKey, workspace } = await (await ctx.client()).me()
    const { lock, versionRef, projectId } = settings
    const fromLock = lock && { value: lock.version.ref ?? lock.version.uuid, origin: 'lock file' }
    return {
      server: settings.baseUrl,
      profile: settings.profile,
      key: { name: apiKey.name, prefix: apiKey.prefix, origin: settings.apiKey?.origin ?? '' },
      workspace: workspace.name,
      scopes: apiKey.scopes,
      expiresAt: apiKey.expiresAt,
      project: projectId ?? null,
      version: versionRef ?? fromLock ?? { value: 'live', origin: 'default' },
    }
  },
  print(data, { io }) {
    const rows: Row[] = [
      { name: 'server', ...data.server, value: data.server.value },
      { name: 'profile', ...data.profile },
      { name: 'key', value: `${data.key.name} (${data.key.prefix}…)`, origin: data.key.origin },
      { name: 'workspace', value: data.workspace, origin: 'server' },
      { name: 'scopes', value: data.scopes.join(', '), origin: 'server' },
      { name: 'expires', value: data.expiresAt ?? 'never', origin: 'server' },
      { name: 'project', ...(data.project ?? { value: 'not set', origin: '' }) },
      { name: 'version', ...data.version },
    ]
    const columns = [
      { head: '', cell: (row: Row) => row.name },
      { head: 'VALUE', cell: (row: Row) => String(row.value) },
      { head: 'FROM', cell: (row: Row) => row.origin },
    ]
    io.out(formatTable(columns, rows, io))
  },
})
