import { relative } from 'node:path'
import { defineCommand } from '../command.ts'
import type { Context } from '../context.ts'
import { CliError, exitCodes } from '../exit-code.ts'
import { type Compared, lockPathOf } from '../sync/compare.ts'
import { promptEnding } from '../sync/prompt-path.ts'
import { openWorkspace, selectPaths, type Workspace } from '../sync/workspace.ts'
import { shortUuid } from '../terminal/output.ts'
import { countLines, type DiffSides, formatCount, unifiedDiff, wordDiff } from '../ui/diff.ts'
import { page } from '../ui/pager.ts'

interface DiffInput {
  names: readonly string[]
  isBase: boolean
  against: string | undefined
  form: 'unified' | 'stat' | 'word'
  setsExitCode: boolean
}

interface FileDiff extends DiffSides {
  path: string
  added: number
  removed: number
}

export const command = defineCommand({
  summary: 'Shows how the files differ from the server, line by line.',
  examples: ['stet diff support/reply', 'stet diff --against live --stat', 'stet diff --exit-code'],
  args: { '[path...]': 'prompts or folders (all)' },
  flags: {
    '--base': 'compare with the last pull: omits changes made only on the server',
    '--against <ref>': 'compare with another version',
    '--stat': 'only count changed lines',
    '--word': 'mark changed words instead of lines',
    '--exit-code': 'exit with 3 when anything differs',
  },
  parse(raw): DiffInput {
    const against = raw.flags.against
    if (raw.flags.base && against !== undefined) throw new CliError('usage', 'Use --base or --against, not both')
    return {
      names: raw.args,
      isBase: raw.flags.base,
      against,
      form: raw.flags.stat ? 'stat' : raw.flags.word ? 'word' : 'unified',
      setsExitCode: raw.flags.exitCode,
    }
  },
  async run(input, ctx): Promise<{ files: FileDiff[] }> {
    const workspace = await openWorkspace(ctx, input.against)
    const selected = selectPaths(workspace.compared, input.names, workspace)
    const files: FileDiff[] = []
    for (const one of selected) {
      const isSame = one.localText === one.remoteText || (one.localHash !== undefined && one.state === 'same')
      if (isSame && !one.move) continue
      if (input.isBase && (one.move?.by === 'server' || (isUntouchedHere(one.state) && !one.move))) continue
      if (input.isBase && workspace.entries[lockPathOf(one)]?.hash !== one.remoteHash) {
        ctx.warn(`${one.path}: the server no longer has the text of the last pull; compared with its current text`)
      }
      files.push({
        path: one.path,
        ...namesOf(one, workspace, ctx),
        before: one.remoteText ?? '',
        after: (isSame ? one.remoteText : one.localText) ?? '',
        ...(await countLines(one.remoteText, isSame ? one.remoteText : one.localText)),
      })
    }
    return { files }
  },
  async print({ files }, ctx, { form }) {
    const parts = await Promise.all(
      files.map((file) => {
        if (form === 'stat') return `${file.path}  ${formatCount(file)}\n`
        return form === 'word' ? wordDiff(file, ctx.dataStyle) : unifiedDiff(file, ctx.dataStyle)
      }),
    )
    if (parts.length === 0) ctx.say(`${ctx.style.ok} No differences`)
    else await page(parts.join(''), ctx)
  },
  exitCode: ({ files }, { setsExitCode }) =>
    setsExitCode && files.length > 0 ? exitCodes.differences : exitCodes.success,
})

function isUntouchedHere(state: string): boolean {
  return state.startsWith('remote-') || state === 'same-edit' || state === 'same-new'
}

function namesOf(
  { path, move, remoteText, localText }: Compared,
  { version, promptsDir }: Workspace,
  { io }: Context,
): { beforeName: string; afterName: string } {
  const [there, here] = move?.by === 'file' ? [move.from, path] : [path, move?.from ?? path]
  const file = relative(io.cwd, `${promptsDir}/${here}${promptEnding}`)
  return {
    beforeName: remoteText === undefined ? '/dev/null' : `server  ${there}  (${shortUuid(version.uuid)})`,
    afterName: localText === undefined ? '/dev/null' : `local   ${file}`,
  }
}
