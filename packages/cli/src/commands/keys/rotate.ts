import { defineCommand, parseDuration } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { describeKey, findKey } from './find-key.ts'

export const command = defineCommand({
  summary:
    'Replaces an API key and prints the new one on standard output. The old key keeps working during the overlap.',
  examples: ['stet keys rotate 3 --overlap 24h > key.txt', 'stet keys rotate stet_3f9a --yes'],
  args: { '<key>': 'its id or prefix' },
  flags: { '--overlap <duration>': 'how long the old key keeps working, at most 7d (0s)' },
  parse: (raw) => ({
    ref: raw.args[0] ?? '',
    overlapSeconds: parseDuration(raw.flags.overlap ?? '0s', '--overlap'),
  }),
  async run({ ref, overlapSeconds }, ctx) {
    const client = await ctx.client()
    const old = await findKey(client, ref)
    const isAtOnce = overlapSeconds === 0
    const question = `The old key ${describeKey(old)} stops working immediately. Rotate it?`
    if (isAtOnce && !(await ctx.confirm(question, '--yes, or --overlap <duration>'))) {
      throw new CliError('usage', 'Nothing was changed')
    }
    return client.apiKeys.rotate(old.id, { overlapSeconds })
  },
  print(created, { io, style, say }, { overlapSeconds }) {
    io.out(`${created.key}\n`)
    const end = overlapSeconds === 0 ? 'no longer works' : `works for another ${overlapSeconds} s`
    say(`${style.ok} Rotated ${describeKey(created)}; the old key ${end}`)
  },
})
