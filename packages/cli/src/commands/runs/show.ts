import type { Message, RunDetails } from '@stet/sdk'
import { defineCommand } from '../../command.ts'
import type { Context } from '../../context.ts'
import { conversationText } from '../../ui/conversation-text.ts'
import { findRun } from './find-run.ts'
import { runText } from './run-text.ts'

export const command = defineCommand({
  summary: 'Shows a run: its inputs, its error, its steps.',
  examples: ['stet runs show 7c1d2e3f', 'stet runs show 7c1d2e3f --spans --messages', 'stet runs show 7c1d2e3f --json'],
  args: { '<run>': 'its uuid, that of its conversation, or the first 8 digits' },
  flags: {
    '--messages': 'also the messages',
    '--spans': 'also the calls of models and tools within the steps',
  },
  parse: (raw) => ({ ref: raw.args[0] ?? '', messages: raw.flags.messages, spans: raw.flags.spans }),
  async run({ ref, messages }, ctx): Promise<RunDetails & { messages?: Message[] }> {
    const run = await findRun(ref, ctx)
    return messages ? { ...run, messages: await messagesOf(run, ctx) } : run
  },
  print(run, { io, dataStyle }, { spans }) {
    io.out(`${runText(run, spans, { io, style: dataStyle })}\n`)
    if (run.messages) io.out(`\n${conversationText(run.messages)}`)
  },
})

/** The run's own messages. An active run has none yet. */
async function messagesOf({ conversationUuid, messageRange }: RunDetails, ctx: Context): Promise<Message[]> {
  if (!messageRange) return []
  const { conversation } = await (await ctx.client()).conversations.get(conversationUuid)
  return conversation.slice(...messageRange)
}
