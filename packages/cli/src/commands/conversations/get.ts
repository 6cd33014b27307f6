import { defineCommand } from '../../command.ts'
import { CliError } from '../../exit-code.ts'
import { conversationMarkdown, conversationText } from '../../ui/conversation-text.ts'
import { findConversation } from '../../ui/recent-conversations.ts'

export const command = defineCommand({
  summary: 'Prints a conversation.',
  examples: ['stet conversations get 9f0d6c1e', 'stet conversations get 9f0d6c1e --format markdown > talk.md'],
  args: { '<conversation>': 'its uuid, or the first 8 digits' },
  flags: { '--format <form>': 'text, markdown or json (text)' },
  parse(raw) {
    const format = raw.flags.format ?? 'text'
    if (!['text', 'markdown', 'json'].includes(format)) {
      throw new CliError('usage', `--format must be text, markdown or json, not "${format}"`)
    }
    return { ref: raw.args[0] ?? '', format }
  },
  run: async ({ ref }, ctx) => (await ctx.client()).conversations.get(await findConversation(ref, ctx)),
  print(data, { io, say }, { format }) {
    if (format === 'json') return io.out(`${JSON.stringify(data, null, 2)}\n`, 'json')
    io.out(format === 'markdown' ? conversationMarkdown(data.conversation) : conversationText(data.conversation))
    say(`${data.status} · ${data.path} · ${data.createdAt}${data.error ? ` · ${data.error.message}` : ''}`)
  },
})
