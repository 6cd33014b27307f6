import type { Experiment } from '@stet/sdk'
import { defineCommand, positiveInteger } from '../../command.ts'
import { promptNamed } from '../../sync/prompt-path.ts'
import { findVersionToRun } from '../../sync/version-ref.ts'
import { formatAge, formatTable, shortUuid } from '../../terminal/output.ts'
import { usd } from './report/result-text.ts'

const pageSize = 100

export const command = defineCommand({
  summary: 'Lists the experiments of the project, newest first, also those that the console started.',
  examples: ['stet eval list', 'stet eval list --path support/refund --limit 5 --json'],
  flags: { '--path <path>': 'only those of this prompt', '--limit <n>': 'maximum number (20)' },
  parse: ({ flags: { path, limit } }) => ({ path, limit: positiveInteger(limit ?? '20', '--limit') }),
  async run({ path, limit }, ctx): Promise<{ experiments: Experiment[] }> {
    await ctx.projectId()
    const client = await ctx.client()
    const prompt =
      path === undefined
        ? undefined
        : await client.prompts.get(await promptNamed(path, ctx), { versionUuid: await findVersionToRun(client, ctx) })
    const query = { limit: Math.min(limit, pageSize), ...(prompt && { documentUuid: prompt.documentUuid }) }
    const experiments: Experiment[] = []
    for await (const experiment of client.experiments.list(query)) {
      if (experiments.push(experiment) === limit) break
    }
    return { experiments }
  },
  print({ experiments }, { io }) {
    const isShort = io.tty.stdout
    const columns = [
      { head: 'UUID', cell: ({ uuid }: Experiment) => (isShort ? shortUuid(uuid) : uuid) },
      { head: 'STATE', cell: ({ state, reason }: Experiment) => (reason ? `${state} (${reason})` : state) },
      { head: 'PROMPT', cell: ({ path }: Experiment) => path },
      { head: 'ARMS', cell: ({ arms }: Experiment) => arms.map(({ label }) => label).join(' / ') },
      { head: 'RUNS', cell: ({ counts }: Experiment) => `${counts.ended + counts.failed} of ${counts.total}` },
      { head: 'COST', cell: ({ costUsd }: Experiment) => usd(costUsd) },
      { head: 'STARTED', cell: ({ createdAt: at }: Experiment) => (isShort ? formatAge(at) : at) },
    ]
    io.out(formatTable(columns, experiments, io))
  },
})
