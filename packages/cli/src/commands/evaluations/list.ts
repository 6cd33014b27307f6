import type { Evaluation } from '@stet/sdk'
import { defineCommand } from '../../command.ts'
import { promptNamed } from '../../sync/prompt-path.ts'
import { findVersionToRun } from '../../sync/version-ref.ts'
import { formatTable } from '../../terminal/output.ts'

export const command = defineCommand({
  summary: 'Lists the evaluations of the project, newest first.',
  examples: ['stet evaluations list', 'stet evaluations list --path support/triage --json'],
  flags: { '--path <path>': 'only those for this prompt' },
  parse: (raw) => ({ path: raw.flags.path }),
  async run({ path }, ctx): Promise<{ evaluations: Evaluation[] }> {
    await ctx.projectId()
    const client = await ctx.client()
    const all = await client.evaluations.list()
    if (path === undefined) return { evaluations: all }
    const prompt = await client.prompts.get(await promptNamed(path, ctx), {
      versionUuid: await findVersionToRun(client, ctx),
    })
    const isFor = ({ documentUuid }: Evaluation): boolean =>
      documentUuid === null || documentUuid === prompt.documentUuid
    return { evaluations: all.filter(isFor) }
  },
  print({ evaluations }, { io }) {
    const columns = [
      { head: 'UUID', cell: ({ uuid }: Evaluation) => uuid },
      { head: 'NAME', cell: ({ name }: Evaluation) => name },
      { head: 'METRIC', cell: ({ metric }: Evaluation) => metric },
      { head: 'RANGE', cell: rangeOf },
      { head: 'PROMPT', cell: ({ documentUuid }: Evaluation) => documentUuid ?? 'every prompt' },
    ]
    io.out(formatTable(columns, evaluations, io))
  },
})

function rangeOf({ metric, configuration }: Evaluation): string {
  if (metric === 'binary') return '0 or 1'
  return `${configuration['minRating']} to ${configuration['maxRating']}`
}
