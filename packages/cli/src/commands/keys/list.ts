import type { ApiKeyInfo } from '@stet/sdk'
import { defineCommand } from '../../command.ts'
import { formatAge, formatTable } from '../../terminal/output.ts'

export const command = defineCommand({
  summary: 'Lists the API keys of the workspace, newest first, including revoked ones.',
  examples: ['stet keys list', 'stet keys list --json'],
  parse: () => undefined,
  run: async (_, ctx) => ({ keys: await (await ctx.client()).apiKeys.list() }),
  print({ keys }, { io }) {
    const time = (at: string | null): string => (at === null ? '-' : io.tty.stdout ? formatAge(at) : at)
    const columns = [
      { head: 'ID', cell: ({ id }: ApiKeyInfo) => String(id) },
      { head: 'NAME', cell: ({ name }: ApiKeyInfo) => name },
      { head: 'PREFIX', cell: ({ prefix }: ApiKeyInfo) => prefix },
      { head: 'SCOPES', cell: ({ scopes }: ApiKeyInfo) => scopes.join(',') },
      { head: 'PROJECT', cell: ({ projectId }: ApiKeyInfo) => String(projectId ?? '-') },
      { head: 'PLAN', cell: ({ plan }: ApiKeyInfo) => plan },
      { head: 'USED', cell: ({ lastUsedAt }: ApiKeyInfo) => time(lastUsedAt) },
      { head: 'EXPIRES', cell: ({ expiresAt }: ApiKeyInfo) => expiresAt ?? 'never' },
      { head: 'STATE', cell: stateOf },
    ]
    io.out(formatTable(columns, keys, io))
  },
})

function stateOf({ revokedAt, expiresAt }: ApiKeyInfo): string {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'valid'
}
