import type { UnresolvedPrompt } from '@stet/sdk'
import { defineCommand } from '../../command.ts'
import type { Context } from '../../context.ts'
import { listPrompts } from '../../sync/list-prompts.ts'
import { promptsDirOf } from '../../sync/prompt-path.ts'
import { scanProject } from '../../sync/scan.ts'
import { findVersionToRun } from '../../sync/version-ref.ts'
import { selectorOf } from '../../sync/workspace.ts'
import { countOf, formatAge, formatTable } from '../../terminal/output.ts'

export const command = defineCommand({
  summary: 'Lists the prompts of a version (default: the one this folder follows, or live).',
  examples: [
    'stet prompts list',
    'stet prompts list support',
    'stet prompts list -V live --json',
    'stet prompts list --local',
  ],
  args: { '[path...]': 'prompts or folders (all)' },
  flags: { '--local': 'only the paths of local files; makes no request' },
  parse: (raw) => ({ names: raw.args, isLocal: raw.flags.local }),
  async run({ names, isLocal }, ctx): Promise<{ prompts: Listed[] }> {
    const all = isLocal ? await filesHere(ctx) : await promptsOfVersion(ctx)
    const place = { promptsDir: promptsDirOf(await ctx.settings()), cwd: ctx.io.cwd }
    const isSelected = selectorOf(names, new Set(all.map(({ path }) => path)), place)
    return { prompts: all.filter(({ path }) => isSelected(path)) }
  },
  print({ prompts }, { io }, { isLocal }) {
    if (isLocal) return io.out(prompts.map(({ path }) => `${path}\n`).join(''))
    const columns = [
      { head: 'PATH', cell: ({ path }: UnresolvedPrompt) => path },
      { head: 'MODEL', cell: modelOf },
      { head: 'PARAMETERS', cell: ({ parameters }: UnresolvedPrompt) => Object.keys(parameters).join(' ') || '-' },
      {
        head: 'STATE',
        cell: ({ errors }: UnresolvedPrompt) => (errors.length > 0 ? countOf(errors.length, 'error') : 'compiles'),
      },
      { head: 'UPDATED', cell: ({ updatedAt: at }: UnresolvedPrompt) => (io.tty.stdout ? formatAge(at) : at) },
    ]
    io.out(formatTable(columns, prompts.filter(isPrompt), io))
  },
})

type Listed = UnresolvedPrompt | { path: string }

function isPrompt(one: Listed): one is UnresolvedPrompt {
  return 'contentHash' in one
}

async function filesHere(ctx: Context): Promise<Listed[]> {
  const { prompts } = await scanProject(await ctx.settings(), ctx.warn)
  return [...prompts.keys()].map((path) => ({ path }))
}

async function promptsOfVersion(ctx: Context): Promise<Listed[]> {
  await ctx.projectId()
  const client = await ctx.client()
  return listPrompts(client, { versionUuid: await findVersionToRun(client, ctx) })
}

function modelOf({ config }: UnresolvedPrompt): string {
  const names = [config['provider'], config['model']].filter((name) => typeof name === 'string')
  return names.join('/') || '-'
}
