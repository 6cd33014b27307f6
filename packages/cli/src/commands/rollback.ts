import type { Change, Stet, UnresolvedPrompt, Version } from '@stet/sdk'
import { defineCommand, hasFlag, textFlag } from '../command.ts'
import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'
import { listPrompts } from '../sync/list-prompts.ts'
import { sendChanges } from '../sync/send.ts'
import { describeVersion, findVersion } from '../sync/version-ref.ts'
import { countOf } from '../terminal/output.ts'
import { countLines, formatCount, unifiedDiff } from '../ui/diff.ts'

interface RollbackInput {
  ref: string | undefined
  title: string | undefined
  isDry: boolean
}

interface RollbackReport {
  target: Version
  version: Version | null
  changes: { path: string; status: Change['status'] }[]
}

export const command = defineCommand({
  summary: 'Restores an earlier version: shows it as a diff, and publishes its contents as a new version.',
  examples: ['stet rollback', 'stet rollback 5d0a3c1e --dry-run', 'stet rollback 12 --yes'],
  args: [{ name: 'version', summary: 'a number, a uuid or its first 8 digits (the version before live)' }],
  flags: [
    { long: '--title', value: '<text>', summary: 'name of the new version' },
    { long: '--dry-run', summary: 'only show what would change' },
  ],
  parse: (raw): RollbackInput => ({
    ref: raw.args[0],
    title: textFlag(raw, 'title'),
    isDry: hasFlag(raw, 'dryRun'),
  }),
  run: rollBack,
  print({ target, version, changes }, { style, say }) {
    if (changes.length === 0) say(`${style.ok} Live already equals ${describeVersion(target)}; nothing to do`)
    else if (version) say(`${style.ok} Live is now v${version.version}, with the contents of v${target.version}`)
    else say(`${countOf(changes.length, 'prompt')} would change`)
  },
})

async function rollBack(input: RollbackInput, ctx: Context): Promise<RollbackReport> {
  await ctx.projectId()
  const client = await ctx.client()
  const live = await client.versions.get('live')
  const target = await findTarget(client, live, input.ref)
  const [now, then] = await Promise.all([
    listPrompts(client, { versionUuid: live.uuid }),
    listPrompts(client, { versionUuid: target.uuid }),
  ])
  const changes = changesBetween(now, then)
  const report = { target, version: null, changes: changes.map(({ path, status }) => ({ path, status })) }
  if (changes.length === 0) return report
  await sayChanges(changes, now, live, target, ctx)
  if (input.isDry) return report
  if (!(await ctx.confirm(`Publish the contents of ${describeVersion(target)}?`, '--yes'))) {
    throw new CliError('usage', 'Nothing was changed')
  }
  // Each change is based on the text that was just shown, so a concurrent publication causes a conflict.
  const title = input.title ?? `rollback to v${target.version}`.slice(0, 256)
  const version = await sendChanges(changes, () => client.versions.create(title, { changes, publish: {} }))
  return { ...report, version }
}

async function findTarget(client: Stet, live: Version, ref: string | undefined): Promise<Version> {
  if (ref !== undefined && !/^\d{1,7}$/.test(ref)) {
    const version = await findVersion(client, ref)
    if (version.status === 'merged') return version
    throw new CliError('usage', `${describeVersion(version)} was never published`, {
      hint: 'run stet publish to publish it',
    })
  }
  const number = ref === undefined ? (live.version ?? 1) - 1 : Number(ref)
  if (number === 0) throw new CliError('not_found', 'Live has no earlier version', { hint: 'run stet versions list' })
  const versions = await client.versions.list({ status: 'merged' })
  const found = versions.find(({ version }) => version === number)
  if (found) return found
  throw new CliError('not_found', `Version ${number} not found`, { hint: 'run stet versions list' })
}

function changesBetween(now: readonly UnresolvedPrompt[], then: readonly UnresolvedPrompt[]): Change[] {
  const live = new Map(now.map((prompt) => [prompt.path, prompt]))
  const wanted = new Set(then.map(({ path }) => path))
  const written = then.flatMap(({ path, content, contentHash }): Change[] => {
    const here = live.get(path)
    if (here?.contentHash === contentHash) return []
    return [{ path, status: here ? 'modified' : 'added', content, baseHash: here?.contentHash ?? '' }]
  })
  const deleted = now
    .filter(({ path }) => !wanted.has(path))
    .map(({ path, contentHash }): Change => ({ path, status: 'deleted', baseHash: contentHash }))
  return [...written, ...deleted].sort((a, b) => (a.path < b.path ? -1 : 1))
}

async function sayChanges(
  changes: readonly Change[],
  now: readonly UnresolvedPrompt[],
  live: Version,
  target: Version,
  ctx: Context,
): Promise<void> {
  const letters = { added: 'A', modified: 'M', deleted: 'D', unchanged: ' ' }
  for (const { path, status, content } of changes) {
    const before = now.find((prompt) => prompt.path === path)?.content
    ctx.say(`${letters[status]} ${path}  ${formatCount(await countLines(before, content))}`)
    const names = {
      beforeName: `live    ${path}  (v${live.version})`,
      afterName: `target  ${path}  (v${target.version})`,
    }
    const text = await unifiedDiff({ ...names, before: before ?? '', after: content ?? '' }, ctx.style)
    ctx.say(text.trimEnd())
  }
}
