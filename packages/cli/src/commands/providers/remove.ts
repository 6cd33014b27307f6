import { defineCommand } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { describeEntry, findEntry } from './entry.ts'

export const command = defineCommand({
  summary: 'Deletes a stored provider key. Prompts that use it fail from then on.',
  examples: ['stet providers remove openai', 'stet providers remove openai --yes'],
  args: { '<name>': 'the stored provider key' },
  parse: ({ args }) => ({ name: args[0] ?? '' }),
  async run({ name }, ctx) {
    const client = await ctx.client()
    const entry = await findEntry(client, name)
    const isAgreed = await ctx.confirm(`Delete ${describeEntry(entry)}?`, '--yes')
    if (!isAgreed) throw new CliError('usage', 'Nothing was changed')
    return client.providerKeys.delete(entry.id)
  },
  print({ name }, { style, say }) {
    say(`${style.ok} Deleted provider key "${name}"`)
  },
})
