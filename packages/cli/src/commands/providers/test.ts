import { defineCommand, textFlag } from '../../command.ts'
import { exitCodes } from '../../exit-code.ts'

export const command = defineCommand({
  summary:
    'Makes one short call with a provider key, also with one from the server. The provider may charge for the call.',
  examples: ['stet providers test openai', 'stet providers test openai --model gpt-6-luna'],
  args: [{ name: 'name', summary: 'the provider key', isRequired: true }],
  flags: [{ long: '--model', value: '<model>', summary: 'the model to call; without it, the default model' }],
  parse(raw) {
    const model = textFlag(raw, 'model')
    return { name: raw.args[0] ?? '', ...(model !== undefined && { model }) }
  },
  run: async (input, ctx) => (await ctx.client()).providerKeys.test(input),
  print({ ok, model, durationMs, firstTokenMs, text, error }, { io, style, say }, { name }) {
    const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
    if (ok) {
      const first = firstTokenMs === null ? '' : `, first token after ${seconds(firstTokenMs)}`
      say(`${style.ok} "${name}" answered with ${model} in ${seconds(durationMs)}${first}`)
      io.out(`${text}\n`)
    } else {
      say(`${style.fail} "${name}" failed with ${model} after ${seconds(durationMs)}: ${error?.message}`)
    }
  },
  exitCode: ({ ok }) => (ok ? exitCodes.success : exitCodes.run_failed),
})
