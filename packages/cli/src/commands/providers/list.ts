import type { ProviderKeyInfo } from '@stet/sdk'
import { defineCommand } from '../../command.ts'
import { formatAge, formatTable } from '../../terminal/output.ts'

export const command = defineCommand({
  summary: "Lists the provider keys: stored ones, and those from the server's settings.",
  examples: ['stet providers list', 'stet providers list --json'],
  parse: () => undefined,
  run: async (_, ctx) => ({ providers: await (await ctx.client()).providerKeys.list() }),
  print({ providers }, { io }) {
    const columns = [
      { head: 'NAME', cell: ({ name }: ProviderKeyInfo) => name },
      { head: 'TYPE', cell: ({ provider }: ProviderKeyInfo) => provider },
      { head: 'TOKEN', cell: ({ token }: ProviderKeyInfo) => token },
      { head: 'MODEL', cell: ({ defaultModel }: ProviderKeyInfo) => defaultModel ?? '-' },
      { head: 'URL', cell: ({ url }: ProviderKeyInfo) => url ?? '-' },
      { head: 'FROM', cell: ({ id }: ProviderKeyInfo) => (id === 0 ? 'server' : 'stored') },
      {
        head: 'USED',
        cell: ({ lastUsedAt: at }: ProviderKeyInfo) => (at === null ? '-' : io.tty.stdout ? formatAge(at) : at),
      },
    ]
    io.out(formatTable(columns, providers, io))
  },
})
