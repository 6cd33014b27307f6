import { defineCommand } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { describeKey, findKey } from './find-key.ts'

export const command = defineCommand({
  summary: 'Revokes an API key immediately.',
  examples: ['stet keys revoke 3', 'stet keys revoke stet_3f9a --yes'],
  args: { '<key>': 'its id or prefix' },
  parse: ({ args }) => ({ ref: args[0] ?? '' }),
  async run({ ref }, ctx) {
    const client = await ctx.client()
    const key = await findKey(client, ref)
    if (!(await ctx.confirm(`Revoke ${describeKey(key)}?`, '--yes'))) throw new CliError('usage', 'Nothing was changed')
    return client.apiKeys.revoke(key.id)
  },
  print(key, { style, say }) {
    say(`${style.ok} Revoked "${key.name}" (${key.prefix}…)`)
  },
})
