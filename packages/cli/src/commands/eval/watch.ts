import { defineCommand } from '../../command.ts'
import { complete } from './eval.ts'
import { experimentArgument, findExperiment } from './find-experiment.ts'
import { type EvalFile, loadEvalFile } from './load-eval-file.ts'
import { exitCodeOf, finish, finishFlags, parseFinish, printFinished } from './report/finish.ts'

export const command = defineCommand({
  summary: 'Waits for the end of an experiment and shows its result. Ctrl-C leaves; the experiment continues.',
  examples: ['stet eval watch 5b8f3c2a', 'stet eval watch 5b8f3c2a --file refund.eval.ts'],
  args: { ...experimentArgument },
  flags: {
    '--file <file>...': 'score the answers with the scorers of an eval file',
    ...finishFlags,
  },
  parse: (raw) => ({ ref: raw.args[0] ?? '', files: raw.flags.file, ...parseFinish(raw) }),
  async run({ ref, files: names, ...input }, ctx) {
    const files: EvalFile[] = []
    for (const name of names) files.push(await loadEvalFile(name, ctx.io.cwd))
    const client = await ctx.client()
    const experiment = await findExperiment(ref, ctx)
    const following = { files, onInterrupt: 'leave' } as const
    const ended = await complete(client, [experiment], following, ctx)
    return finish(client, ended, input, ctx)
  },
  print: printFinished,
  exitCode: exitCodeOf,
})
