import type { Version } from '@stet/sdk'
import { defineCommand } from '../../command.ts'
import type { Context } from '../../context.ts'
import { CliError, exitCodes } from '../../exit-code.ts'
import { describeVersion, findVersion } from '../../sync/version-ref.ts'
import { entriesInStep, openWorkspace, saveLock } from '../../sync/workspace.ts'
import { isUnpushed } from '../publish.ts'
import { exitCodeOf, type PullReport, pull, sayPull } from '../pull.ts'

export const command = defineCommand({
  summary: 'Makes this folder follow another version.',
  examples: ['stet versions use live', 'stet versions use 0b9c7b7e --pull'],
  args: { '<version>': 'a uuid, its first 8 digits, or live' },
  flags: {
    '--pull': 'also pull it',
    '--force': 'switch even if files have changes that were not pushed',
  },
  parse: (raw) => ({ ref: raw.args[0] ?? 'live', isForced: raw.flags.force, pulls: raw.flags.pull }),
  async run({ ref, isForced, pulls }, ctx): Promise<{ version: Version; pull: PullReport | null }> {
    const version = await useVersion(ctx, ref, isForced)
    const wantsPull = pulls || (ctx.isInteractive && (await ctx.confirm('Pull it now?', '--pull')))
    if (!wantsPull) return { version, pull: null }
    const report = await pull(ctx.reopened(), { names: [], isPruning: false, isDry: false })
    return { version, pull: report }
  },
  print({ version, pull: report }, ctx) {
    ctx.say(`${ctx.style.ok} This folder follows ${describeVersion(version)}`)
    if (report) sayPull(report, ctx)
  },
  exitCode: ({ pull: report }) => (report ? exitCodeOf(report) : exitCodes.success),
})

/** Points the lock at another version. Prompts that differ keep their base, so the next pull detects differences. */
export async function useVersion(ctx: Context, ref: string, isForced: boolean): Promise<Version> {
  const workspace = await openWorkspace(ctx)
  if (!workspace.settings.lock)
    throw new CliError('usage', 'This folder is not connected to a project', { hint: 'run stet init' })
  const edited = workspace.compared.filter(isUnpushed)
  if (edited.length > 0 && !isForced) {
    throw new CliError('conflict', 'Some changes were not pushed', {
      lines: edited.map(({ path }) => path),
      hint: 'run stet push, or pass --force to switch anyway',
    })
  }
  const version = await findVersion(workspace.client, ref)
  await saveLock(workspace, version, ref === 'live', entriesInStep(workspace))
  return version
}
