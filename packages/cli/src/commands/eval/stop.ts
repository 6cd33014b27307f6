import { defineCommand } from '../../command.ts'
import { shortUuid } from '../../terminal/output.ts'
import { experimentArgument, findExperiment } from './find-experiment.ts'

export const command = defineCommand({
  summary: 'Stops an experiment and its active runs. An experiment that has ended stays unchanged.',
  examples: ['stet eval stop 5b8f3c2a'],
  args: { ...experimentArgument },
  parse: ({ args }) => ({ ref: args[0] ?? '' }),
  async run({ ref }, ctx) {
    const experiment = await findExperiment(ref, ctx)
    return (await ctx.client()).experiments.stop(experiment.uuid)
  },
  print({ uuid, state, counts }, { say, style }) {
    const done = `${counts.ended + counts.failed} of ${counts.total} runs have ended`
    say(`${style.ok} ${shortUuid(uuid)} is ${state}: ${done}. Continue: stet eval resume ${shortUuid(uuid)}`)
  },
})
