import type { VersionDiff } from '@stet/sdk'
import { defineCommand } from '../../command.ts'
import { findVersion } from '../../sync/version-ref.ts'
import { shortUuid } from '../../terminal/output.ts'
import { countLines, type DiffSides, formatCount, unifiedDiff } from '../../ui/diff.ts'
import { page } from '../../ui/pager.ts'

type Changes = VersionDiff['changes']

export const command = defineCommand({
  summary: 'Shows a version and its changes: a draft compared with live, a published one with what was live before.',
  examples: ['stet versions show live', 'stet versions show 0b9c7b7e --diff', 'stet versions show 0b9c7b7e --json'],
  args: { '<version>': 'a uuid, its first 8 digits, or live' },
  flags: { '--diff': 'show only the changes, line by line' },
  parse: (raw) => ({ ref: raw.args[0] ?? 'live', isDiff: raw.flags.diff }),
  async run({ ref }, ctx) {
    await ctx.projectId()
    const client = await ctx.client()
    const version = await findVersion(client, ref)
    const { uuid, baseVersionUuid, baseRevision } = version
    const base = baseVersionUuid === null ? {} : { base: `${baseVersionUuid}@${baseRevision}` }
    const { changes } = await client.versions.diff(uuid, base)
    return { version, changes }
  },
  async print({ version, changes }, ctx, { isDiff }) {
    if (isDiff) {
      const sides = sidesOf(changes, shortUuid(version.uuid))
      const texts = await Promise.all(sides.map((one) => unifiedDiff(one, ctx.dataStyle)))
      if (texts.length === 0) return ctx.say(`${ctx.style.ok} No changes`)
      return page(texts.join(''), ctx)
    }
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
    for (const [name, value] of Object.entries(fields)) ctx.io.out(`${name.padEnd(12)}${value}\n`)
    for (const { path, status, before, after, conflict } of changes) {
      const lines = formatCount(await countLines(before?.content, after?.content))
      ctx.io.out(`  ${status.padEnd(9)} ${path}  ${lines}${conflict ? '  conflict with live' : ''}\n`)
    }
  },
})

/** A move is one change, whose text before is that of the earlier path. */
function sidesOf(changes: Changes, uuid: string): DiffSides[] {
  const earlier = new Map(changes.map(({ path, before }) => [path, before]))
  return changes.flatMap(({ path, before, after, conflict, movedFrom, movedTo }) => {
    if (movedTo !== undefined && after === null) return []
    const former = movedFrom ? (earlier.get(movedFrom.path) ?? before) : before
    return {
      beforeName: former === null ? '/dev/null' : `before  ${movedFrom?.path ?? path}`,
      afterName: after === null ? '/dev/null' : `${uuid}  ${path}${conflict ? '  conflict with live' : ''}`,
      before: former?.content ?? '',
      after: after?.content ?? '',
    }
  })
}
