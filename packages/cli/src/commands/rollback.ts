import type { Release, Stet, VersionDiff } from '@stet/sdk'
import { defined } from '@stet/template/defined'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'
import { requireReleases } from '../settings/client.ts'
import { countOf } from '../terminal/output.ts'
import { countLines, formatCount, unifiedDiff } from '../ui/diff.ts'

interface RollbackInput {
  ref: string | undefined
  reason: string | undefined
  isDry: boolean
}

interface RollbackReport {
  target: Release
  /** Null if nothing was released. */
  release: Release | null
  changes: Pick<VersionDiff['changes'][number], 'path' | 'status'>[]
}

export const command = defineCommand({
  summary: 'Returns live to an earlier release, after showing the diff and asking.',
  examples: ['stet rollback', 'stet rollback v12 --dry-run', 'stet rollback 5d0a3c1e@1 --reason "Too many complaints"'],
  args: {
    '[release]':
      'number of a release, or what live served: v12, a uuid or its first 8 digits, <version>@<revision> (the one before)',
  },
  flags: {
    '--reason <text>': 'reason, kept in the history',
    '--dry-run': 'only show what would change',
  },
  parse: (raw): RollbackInput => ({
    ref: raw.args[0],
    reason: raw.flags.reason,
    isDry: raw.flags.dryRun,
  }),
  run: rollBack,
  print({ target, release, changes }, { style, say }) {
    if (!release && changes.length === 0) say(`${style.ok} Live already serves the texts of ${nameOf(target)}`)
    else if (!release) say(`${countOf(changes.length, 'prompt')} would change`)
    else if (release.version.uuid === target.version.uuid) say(`${style.ok} Live serves ${nameOf(target)} again`)
    else say(`${style.ok} Live is now ${nameOf(release)}, with the texts of ${nameOf(target)}`)
  },
})

async function rollBack({ ref, reason, isDry }: RollbackInput, ctx: Context): Promise<RollbackReport> {
  await ctx.projectId()
  const client = await ctx.client()
  await requireReleases(client)
  const { current, target } = await findTarget(client, ref)
  const { changes } = await client.versions.diff(refOf(target), { base: refOf(current) })
  const letters = { added: 'A', modified: 'M', deleted: 'D' }
  for (const { path, status, before, after } of changes) {
    ctx.say(`${letters[status]} ${path}  ${formatCount(await countLines(before?.content, after?.content))}`)
    const sides = {
      ...{ beforeName: `live    ${path}  (${nameOf(current)})`, before: before?.content ?? '' },
      ...{ afterName: `target  ${path}  (${nameOf(target)})`, after: after?.content ?? '' },
    }
    ctx.say((await unifiedDiff(sides, ctx.style)).trimEnd())
  }
  const report = { target, release: null, changes: changes.map(({ path, status }) => ({ path, status })) }
  if (isDry || refOf(target) === refOf(current)) return report
  if (!(await ctx.confirm(`Serve ${nameOf(target)} again?`, '--yes')))
    throw new CliError('usage', 'Nothing was changed')
  const { release } = await client.environments.rollback('live', {
    to: target.seq,
    expectedVersionUuid: current.version.uuid,
    ...defined({ reason }),
  })
  return { ...report, release }
}

/** Finds the newest release that matches. Without `ref`, the one to which the newest release returns. */
async function findTarget(client: Stet, ref: string | undefined): Promise<{ current: Release; target: Release }> {
  let current: Release | undefined
  let target: Release | undefined
  for await (const release of client.environments.releases('live', { limit: 100 })) {
    current ??= release
    if (ref === undefined ? release.seq !== current.returnsTo : !isNamed(release, ref)) continue
    const lines = [target ?? release, release].map(({ version }) => version.uuid)
    if (lines[0] !== lines[1]) throw new CliError('usage', `Live has served several versions ${ref}`, { lines })
    target ??= release
    if (ref === undefined || !/^[0-9a-f-]{8,35}(@|$)/i.test(ref)) break
  }
  if (current && target) return { current, target }
  throw new CliError('not_found', ref === undefined ? 'Live has no earlier version' : `Live has not served ${ref}`)
}

function isNamed({ seq, version }: Release, ref: string): boolean {
  if (ref === String(seq)) return true
  const [, name = '', revision = version.revision] = /^([0-9a-fv-]+)(?:@(\d+))?$/.exec(ref.toLowerCase()) ?? []
  const isVersion = name === `v${version.number}` || (name.length >= 8 && version.uuid.startsWith(name))
  return isVersion && Number(revision) === version.revision
}

function refOf({ version: { uuid, revision } }: Release): string {
  return `${uuid}@${revision}`
}

function nameOf({ version: { number, revision } }: Release): string {
  return `v${number}${revision === 0 ? '' : `@${revision}`}`
}
