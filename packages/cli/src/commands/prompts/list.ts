import type { Prompt } from '@stet/sdk'
import { defineCommand } from '../../command.ts'
import { countOf, formatAge, formatTable } from '../../output.ts'
import { promptsDirOf } from '../../sync/prompt-path.ts'
import { findVersionToRun } from '../../sync/version-ref.ts'
import { selectorOf } from '../../sync/workspace.ts'

export const command = defineCommand({
  summary: 'Lists the prompts of a version: by default the version that the folder follows, else live.',
  examples: ['stet prompts list', 'stet prompts list support', 'stet prompts list -V live --json'],
  args: [{ name: 'path', summary: 'prompts or folders; all without any', isMany: true }],
  parse: ({ args }) => ({ names: args }),
  async run({ names }, ctx): Promise<{ prompts: Prompt[] }> {
    await ctx.projectId()
    const client = await ctx.client()
    const all = await client.prompts.list({ versionUuid: await findVersionToRun(client, ctx) })
    const place = { promptsDir: promptsDirOf(await ctx.settings()), cwd: ctx.io.cwd }
    const isSelected = selectorOf(names, new Set(all.map(({ path }) => path)), place)
    return { prompts: all.filter(({ path }) => isSelected(path)) }
  },
  print({ prompts }, { io }) {
    const columns = [
      { head: 'PATH', cell: ({ path }: Prompt) => path },
      { head: 'MODEL', cell: modelOf },
      { head: 'PARAMETERS', cell: ({ parameters }: Prompt) => Object.keys(parameters).join(' ') || '-' },
      {
        head: 'STATE',
        cell: ({ errors }: Prompt) => (errors.length > 0 ? countOf(errors.length, 'error') : 'compiles'),
      },
      { head: 'UPDATED', cell: ({ updatedAt: at }: Prompt) => (io.tty.stdout ? formatAge(at) : at) },
    ]
    io.out(formatTable(columns, prompts, io))
  },
})

function modelOf({ config }: Prompt): string {
  const names = [config['provider'], config['model']].filter((name) => typeof name === 'string')
  return names.join('/') || '-'
}
