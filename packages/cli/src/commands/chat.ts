import { defineCommand, type Flags, type Input } from '../command.ts'
import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'
import { chatLoop } from '../ui/chat-loop.ts'
import { namingPrompt, showRun } from '../ui/live-run.ts'
import { type ParameterInput, parameterFlags, parseParameters } from '../ui/parameters.ts'
import { findConversation } from '../ui/recent-conversations.ts'
import { parseShown, type Shown, shownFlag } from '../ui/run-output.ts'
import { runPrompt } from './run.ts'

interface ChatInput {
  ref: string | undefined
  path: string | undefined
  parameters: ParameterInput
  message: string | undefined
  shown: Shown
}

const flags = {
  '--prompt <path>': 'start a conversation with this prompt',
  ...parameterFlags,
  '-m, --message <text>': 'the message; - is standard input',
  ...shownFlag,
} as const satisfies Flags

export const command = defineCommand({
  summary: 'Continues a conversation: one message with --message or piped text, otherwise line by line.',
  examples: [
    'stet chat 9f0d6c1e -m "Shorter, please"',
    'echo "Shorter, please" | stet chat 9f0d6c1e',
    'stet chat --prompt support/reply -p customer=Ana -p ticket=@ticket.txt',
  ],
  args: { '[conversation]': 'its uuid, or the first 8 digits' },
  flags,
  parse: parseChat,
  run: chat,
})

function parseChat(raw: Input<typeof flags>): ChatInput {
  const [ref] = raw.args
  const path = raw.flags.prompt
  if ((ref === undefined) === (path === undefined)) {
    throw new CliError('usage', 'Name a conversation, or a prompt to start one', {
      hint: 'run stet chat <uuid>, or stet chat --prompt <path>',
    })
  }
  const parameters = parseParameters(raw)
  if (path === undefined && (parameters.named.length > 0 || parameters.file !== undefined)) {
    throw new CliError('usage', 'Parameters need a prompt', { hint: 'pass --prompt <path>' })
  }
  return { ref, path, parameters, message: raw.flags.message, shown: parseShown(raw) }
}

async function chat(input: ChatInput, ctx: Context): Promise<void> {
  const message = await messageOf(input, ctx)
  if (message === undefined && !ctx.isInteractive && input.path === undefined) {
    throw new CliError('usage', 'Missing input: the message', { hint: 'pass -m <text>, or text on standard input' })
  }
  const begun = input.path === undefined ? undefined : await begin(input, input.path, message, ctx)
  const uuid = begun ?? (await findConversation(input.ref ?? '', ctx))
  if (begun === undefined && message !== undefined) return say(uuid, message, input.shown, ctx)
  if (message !== undefined || !ctx.isInteractive) return
  const client = await ctx.client()
  await chatLoop(
    {
      say: (text, turnCtx) => say(uuid, text, input.shown, turnCtx),
      messages: async () => (await client.conversations.get(uuid)).conversation,
    },
    ctx,
  )
}

async function begin(
  { parameters, shown }: ChatInput,
  path: string,
  message: string | undefined,
  ctx: Context,
): Promise<string | undefined> {
  const messages = message === undefined ? [] : [{ role: 'user' as const, content: message }]
  return (await runPrompt({ path, parameters, messages, transport: 'stream', shown }, ctx))?.uuid
}

async function say(uuid: string, message: string, shown: Shown, ctx: Context): Promise<void> {
  const client = await ctx.client()
  await namingPrompt(client, uuid, () =>
    showRun(client.prompts.chatStream(uuid, message), { client, onInterrupt: 'stop', shown, head: {} }, ctx),
  )
}

// Piped text is the message, unless the key or the parameters already use standard input.
async function messageOf({ message, parameters }: ChatInput, ctx: Context): Promise<string | undefined> {
  if (message !== undefined && message !== '-') return message
  const isTaken = ctx.flags.apiKeyStdin || parameters.file === '-'
  if (message === '-' && isTaken) throw new CliError('usage', 'Only one flag can read standard input')
  if (isTaken || (message === undefined && ctx.io.tty.stdin)) return undefined
  const text = new TextDecoder().decode(await ctx.io.readStdin()).trim()
  return text === '' ? undefined : text
}
