import { defineCommand } from '../command.ts'
import { CliError } from '../exit-code.ts'
import { namingPrompt, showRun, showWholeRun } from '../ui/live-run.ts'
import { findConversation } from '../ui/recent-conversations.ts'
import { parseShown, shownFlag } from '../ui/run-output.ts'

export const command = defineCommand({
  summary: 'Follows the latest run of a conversation, or replays it. Ctrl-C detaches; the run continues.',
  examples: [
    'stet attach 9f0d6c1e',
    'stet attach 9f0d6c1e --from 12 --show events',
    `stet attach 9f0d6c1e --json | jq -r 'select(.data.type=="text-delta").data.textDelta'`,
  ],
  args: { '<conversation>': 'its uuid, or the first 8 digits' },
  flags: {
    '--from <event>': 'only events after this id',
    '--no-stream': 'wait for the whole answer',
    ...shownFlag,
  },
  parse(raw) {
    const from = raw.flags.from
    const isStreaming = raw.flags.stream
    if (from !== undefined && !/^\d{1,15}$/.test(from))
      throw new CliError('usage', `--from must be a number, not "${from}"`)
    if (from !== undefined && !isStreaming) throw new CliError('usage', 'Use --from or --no-stream, not both')
    return { ref: raw.args[0] ?? '', from, isStreaming, shown: parseShown(raw) }
  },
  async run({ ref, from, isStreaming, shown }, ctx) {
    const client = await ctx.client()
    const uuid = await findConversation(ref, ctx)
    await namingPrompt(client, uuid, () => {
      if (!isStreaming) {
        return showWholeRun((signal) => client.runs.attach(uuid, { stream: false, signal }), { shown, head: {} }, ctx)
      }
      const stream = client.runs.attachStream(uuid, from === undefined ? {} : { lastEventId: from })
      return showRun(stream, { client, onInterrupt: 'leave', shown, head: {} }, ctx)
    })
  },
})
