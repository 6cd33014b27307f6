import { hasReason, NotFoundError, type ProviderTest } from '@stet/sdk'
import { defined } from '@stet/template/defined'
import { defineCommand } from '../../command.ts'
import { CliError, exitCodes } from '../../exit-code.ts'
import { unknownProviderKey } from './entry.ts'

export const command = defineCommand({
  summary:
    'Makes one short call with a provider key, also with one from the server. The provider may charge for the call.',
  examples: ['stet providers test openai', 'stet providers test openai --model gpt-6-luna'],
  args: { '<name>': 'the provider key' },
  flags: { '--model <model>': 'the model to call; without it, the default model' },
  parse(raw) {
    const model = raw.flags.model
    return defined({ name: raw.args[0] ?? '', model })
  },
  async run(input, ctx): Promise<ProviderTest> {
    try {
      return await (await ctx.client()).providerKeys.test(input)
    } catch (error) {
      if (error instanceof NotFoundError) throw unknownProviderKey(input.name)
      if (input.model !== undefined || !hasReason(error, 'invalid-body')) throw error
      throw new CliError('invalid', `"${input.name}" has no default model`, {
        hint: `stet providers test ${input.name} --model <model>`,
      })
    }
  },
  print({ ok, model, durationMs, firstTokenMs, text, error }, { io, style, say }, input) {
    const { name } = input
    const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
    if (ok) {
      const first = firstTokenMs === null ? '' : `, first token after ${seconds(firstTokenMs)}`
      say(`${style.ok} "${name}" answered with ${model} in ${seconds(durationMs)}${first}`)
      io.out(`${text}\n`)
    } else {
      say(`${style.fail} "${name}" failed with ${model} after ${seconds(durationMs)}: ${error?.message}`)
      if (input.model === undefined) say('  hint: --model <model> calls another model')
    }
  },
  exitCode: ({ ok }) => (ok ? exitCodes.success : exitCodes.run_failed),
})
