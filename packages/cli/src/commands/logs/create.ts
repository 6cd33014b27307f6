import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Message } from '@stet/sdk'
import { defined } from '@stet/template/defined'
import { defineCommand } from '../../command.ts'
import type { Context } from '../../context.ts'
import { CliError } from '../../exit-code.ts'
import { isJsonObject } from '../../settings/json-file.ts'
import { promptNamed } from '../../sync/prompt-path.ts'
import { findVersionToRun } from '../../sync/version-ref.ts'
import { rememberConversation } from '../../ui/recent-conversations.ts'

export const command = defineCommand({
  summary: 'Records an external run as a conversation, and prints its uuid.',
  examples: [
    'stet logs create support/reply --messages talk.json --response "On its way."',
    'stet logs create support/reply --messages - < talk.json',
  ],
  args: { '<path>': 'the prompt' },
  flags: {
    '--messages <file>': 'JSON list of messages; - is standard input',
    '--response <text>': 'final assistant message',
    '--response-file <file>': 'final assistant message, from a file',
    '--id <identifier>': 'custom identifier, stored with the conversation',
  },
  parse(raw) {
    const messagesFile = raw.flags.messages
    const [response, responseFile] = [raw.flags.response, raw.flags.responseFile]
    if (messagesFile === undefined)
      throw new CliError('usage', 'Missing input: the messages', { hint: 'pass --messages <file>' })
    if (response !== undefined && responseFile !== undefined) {
      throw new CliError('usage', 'Use --response or --response-file, not both')
    }
    return { name: raw.args[0] ?? '', messagesFile, response, responseFile, customIdentifier: raw.flags.id }
  },
  async run({ name, messagesFile, response, responseFile, customIdentifier }, ctx) {
    await ctx.projectId()
    const client = await ctx.client()
    const messages = parseMessages(await readInput(messagesFile, '--messages', ctx))
    const closing = responseFile === undefined ? response : await readInput(responseFile, '--response-file', ctx)
    const log = await client.logs.create(await promptNamed(name, ctx), messages, {
      versionUuid: await findVersionToRun(client, ctx),
      ...defined({ response: closing, customIdentifier }),
    })
    await rememberConversation(log.uuid, ctx)
    return log
  },
  print({ uuid }, { io }) {
    io.out(`${uuid}\n`)
  },
})

async function readInput(file: string, flag: string, ctx: Context): Promise<string> {
  if (file === '-') {
    if (ctx.flags.apiKeyStdin) throw new CliError('usage', `${flag} - and --api-key-stdin both read standard input`)
    return new TextDecoder().decode(await ctx.io.readStdin())
  }
  return readFile(resolve(ctx.io.cwd, file), 'utf8').catch(() => {
    throw new CliError('usage', `${flag}: cannot read ${file}`)
  })
}

// The server validates each message.
function parseMessages(text: string): Message[] {
  try {
    const value: unknown = JSON.parse(text)
    if (Array.isArray(value) && value.every(isMessage)) return value
  } catch {
    // The error below also covers invalid JSON.
  }
  throw new CliError('usage', '--messages must be a JSON list of messages with role and content')
}

function isMessage(value: unknown): value is Message {
  return isJsonObject(value) && typeof value['role'] === 'string' && 'content' in value
}
