import { defineCommand } from '../command.ts'
import { shortUuid } from '../terminal/output.ts'
import { findConversation } from '../ui/recent-conversations.ts'

export const command = defineCommand({
  summary: 'Stops the latest run of a conversation. A run that has ended stays unchanged.',
  examples: ['stet stop 9f0d6c1e'],
  args: { '<conversation>': 'its uuid, or the first 8 digits' },
  parse: ({ args }) => ({ ref: args[0] ?? '' }),
  run: async ({ ref }, ctx) => (await ctx.client()).runs.stop(await findConversation(ref, ctx)),
  print({ uuid, stopped, status }, { say, style }) {
    say(`${style.ok} ${stopped ? 'Stopped' : 'No active run in'} ${shortUuid(uuid)}${stopped ? '' : ` (${status})`}`)
  },
})
