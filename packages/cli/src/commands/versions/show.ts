import { defineCommand } from '../../command.ts'
import { findVersion } from '../../sync/version-ref.ts'
import { countLines, formatCount } from '../../ui/diff.ts'

export const command = defineCommand({
  summary: 'Shows a version and its changes: a draft compared with live, a published one with what was live before.',
  examples: ['stet versions show live', 'stet versions show 0b9c7b7e --json'],
  args: [{ name: 'version', summary: 'a uuid, its first 8 digits, or live', isRequired: true }],
  parse: ({ args }) => ({ ref: args[0] ?? 'live' }),
  async run({ ref }, ctx) {
    await ctx.projectId()
    const client = await ctx.client()
    const version = await findVersion(client, ref)
    const { uuid, baseVersionUuid, baseRevision } = version
    const base = baseVersionUuid === null ? {} : { base: `${baseVersionUuid}@${baseRevision}` }
    const { changes } = await client.versions.diff(uuid, base)
    return { version, changes }
  },
  async print({ version, changes }, { io }) {
    const fields = {
      uuid: version.uuid,
      name: version.title,
      status: version.isLive ? 'merged, live' : version.status,
      version: version.version ?? '-',
      description: version.description ?? '',
      author: version.authorName,
      created: version.createdAt,
      updated: version.updatedAt,
      published: version.mergedAt ?? '-',
    }
    for (const [name, value] of Object.entries(fields)) io.out(`${name.padEnd(12)}${value}\n`)
    for (const { path, status, before, after, conflict } of changes) {
      const lines = formatCount(await countLines(before?.content, after?.content))
      io.out(`  ${status.padEnd(9)} ${path}  ${lines}${conflict ? '  conflict with live' : ''}\n`)
    }
  },
})
