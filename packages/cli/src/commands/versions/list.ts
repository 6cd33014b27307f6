import type { Version } from '@stet/sdk'
import { defineCommand } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { listDrafts } from '../../sync/version-ref.ts'
import { formatAge, formatTable, shortUuid } from '../../terminal/output.ts'

export const command = defineCommand({
  summary: 'Lists drafts, then published versions, newest first.',
  examples: ['stet versions list', 'stet versions list --status draft --json'],
  flags: {
    '--status <status>': 'draft or merged',
    '--deleted': 'only deleted drafts that can be restored',
  },
  parse(raw): { status: 'draft' | 'merged' | undefined; isDeleted: boolean } {
    const isDeleted = raw.flags.deleted
    const status = raw.flags.status
    if (status === undefined || status === 'draft' || status === 'merged') return { status, isDeleted }
    throw new CliError('usage', `--status must be draft or merged, not "${status}"`)
  },
  async run({ status, isDeleted }, ctx) {
    const projectId = await ctx.projectId()
    const { lock } = await ctx.settings()
    const client = await ctx.client()
    const versions = await (isDeleted ? listDrafts(client, true) : client.versions.list(status ? { status } : {}))
    const isHere = lock?.projectId === projectId
    return { versions, current: isHere ? (lock?.version.uuid ?? null) : null }
  },
  print({ versions, current }, { io }) {
    const columns = [
      { head: ' ', cell: ({ uuid }: Version) => (uuid === current ? '●' : ' ') },
      { head: 'STATUS', cell: ({ status, deletedAt }: Version) => (deletedAt ? 'deleted' : status) },
      { head: 'NAME', cell: ({ title }: Version) => title },
      {
        head: 'VERSION',
        cell: (one: Version) => (one.version === null ? '-' : `${one.version}${one.isLive ? ' live' : ''}`),
      },
      { head: 'UUID', cell: ({ uuid }: Version) => (io.tty.stdout ? shortUuid(uuid) : uuid) },
      { head: 'AUTHOR', cell: ({ authorName, authorEmail }: Version) => authorName || authorEmail },
      { head: 'UPDATED', cell: ({ updatedAt }: Version) => (io.tty.stdout ? formatAge(updatedAt) : updatedAt) },
    ]
    io.out(formatTable(columns, versions, io))
  },
})
