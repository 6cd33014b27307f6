import { defineCommand } from '../../command.ts'
import { experimentArgument, findExperiment } from './find-experiment.ts'
import { exitCodeOf, finish, finishFlags, parseFinish, printFinished } from './report/finish.ts'

export const command = defineCommand({
  summary: 'Shows what an experiment has found so far. The exit codes are those of `stet eval`.',
  examples: ['stet eval show 5b8f3c2a', 'stet eval show 5b8f3c2a --json'],
  args: { ...experimentArgument },
  flags: finishFlags,
  parse: (raw) => ({ ref: raw.args[0] ?? '', ...parseFinish(raw) }),
  async run({ ref, ...input }, ctx) {
    const client = await ctx.client()
    const experiment = await findExperiment(ref, ctx)
    return finish(client, [experiment], input, ctx)
  },
  print: printFinished,
  exitCode: exitCodeOf,
})
