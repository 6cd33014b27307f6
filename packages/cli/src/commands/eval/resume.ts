import { defined } from '@stet/template/defined'
import { defineCommand } from '../../command.ts'
import { complete, parseNumber } from './eval.ts'
import { experimentArgument, findExperiment } from './find-experiment.ts'
import { exitCodeOf, finish, finishFlags, parseFinish, printFinished } from './report/finish.ts'

export const command = defineCommand({
  summary: 'Runs the unscored items of an experiment again, keeps the rest, and shows the result. Ctrl-C stops it.',
  examples: ['stet eval resume 5b8f3c2a', 'stet eval resume 5b8f3c2a --new-rows'],
  args: { ...experimentArgument },
  flags: {
    '--new-rows': 'also run examples that are new or changed',
    '--budget <usd>': 'new budget of the whole experiment',
    ...finishFlags,
  },
  parse: (raw) => ({
    ref: raw.args[0] ?? '',
    addsRows: raw.flags.newRows,
    budgetUsd: parseNumber(raw.flags.budget, '--budget'),
    ...parseFinish(raw),
  }),
  async run({ ref, addsRows, budgetUsd, ...input }, ctx) {
    const client = await ctx.client()
    const experiment = await findExperiment(ref, ctx)
    const resumed = await client.experiments.resume(experiment.uuid, {
      ...(addsRows && { rows: 'new' }),
      ...defined({ budgetUsd }),
    })
    const following = { files: [], onInterrupt: 'stop' } as const
    const ended = await complete(client, [resumed], following, ctx)
    return finish(client, ended, input, ctx)
  },
  print: printFinished,
  exitCode: exitCodeOf,
})
