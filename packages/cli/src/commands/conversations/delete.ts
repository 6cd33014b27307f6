import { defineCommand } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { findConversation } from '../../ui/recent-conversations.ts'

export const command = defineCommand({
  summary: 'Deletes a conversation permanently, with its runs and annotations. Refuses one with an active run.',
  examples: ['stet conversations delete 9f0d6c1e', 'stet conversations delete 9f0d6c1e --yes'],
  args: { '<conversation>': 'its uuid, or the first 8 digits' },
  parse: ({ args }) => ({ ref: args[0] ?? '' }),
  async run({ ref }, ctx) {
    const client = await ctx.client()
    const uuid = await findConversation(ref, ctx)
    if (!(await ctx.confirm(`Delete conversation ${uuid} permanently?`, '--yes'))) {
      throw new CliError('usage', 'Nothing was changed')
    }
    return client.conversations.delete(uuid)
  },
  print({ uuid }, { style, say }) {
    say(`${style.ok} Deleted conversation ${uuid}`)
  },
})
