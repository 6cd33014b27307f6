import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Message, RunResult, Stet, ToolHandler, ToolMap } from '@stet/sdk'
import { defined } from '@stet/template/defined'
import { defineCommand, type Flags, type Input } from '../command.ts'
import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'
import { isJsonObject } from '../settings/json-file.ts'
import { promptNamed } from '../sync/prompt-path.ts'
import { findVersionToRun } from '../sync/version-ref.ts'
import { showRun, showWholeRun } from '../ui/live-run.ts'
import {
  gatherParameters,
  type ParameterInput,
  parameterFlags,
  parseParameters,
  withMissingParameters,
} from '../ui/parameters.ts'
import { rememberConversation } from '../ui/recent-conversations.ts'
import { parseShown, type Shown, shownFlag } from '../ui/run-output.ts'

export interface RunInput {
  path: string
  parameters: ParameterInput
  messages: Message[]
  transport: 'stream' | 'json' | 'background'
  customIdentifier?: string | undefined
  shown: Shown
  saveTo?: string | undefined
  toolsFile?: string | undefined
}

const flags = {
  ...parameterFlags,
  '-m, --message <text>...': 'user message after the prompt',
  '--background': 'print the uuid of the conversation and exit; stet attach follows it',
  '--no-stream': 'wait for the whole answer',
  '--tools <module>': 'answer tool calls with the exported functions of a module',
  '--id <identifier>': 'custom identifier, stored with the conversation',
  ...shownFlag,
  '--save <file>': 'also write the result as JSON',
} as const satisfies Flags

export const command = defineCommand({
  summary: 'Runs a prompt. The answer streams to standard output, everything else to standard error.',
  examples: [
    'stet run support/reply -p customer=Ana -p ticket=@ticket.txt',
    'stet run support/triage -p urgent:=true --params more.json --no-stream',
    'stet run support/reply -p ticket="It fails" --json | jq -r .event',
    'stet attach $(stet run report --background)',
  ],
  args: { '<path>': 'the prompt' },
  flags,
  parse: parseRun,
  run: runPrompt,
})

function parseRun(raw: Input<typeof flags>): RunInput {
  const isBackground = raw.flags.background
  const saveTo = raw.flags.save
  const toolsFile = raw.flags.tools
  const isStreaming = raw.flags.stream
  if (isBackground && (saveTo !== undefined || toolsFile !== undefined || !isStreaming)) {
    throw new CliError('usage', 'Use --background without --no-stream, --tools or --save: it exits before the answer')
  }
  if (toolsFile !== undefined && !isStreaming) throw new CliError('usage', 'Use --tools or --no-stream, not both')
  return {
    path: raw.args[0] ?? '',
    parameters: parseParameters(raw),
    messages: raw.flags.message.map((content): Message => ({ role: 'user', content })),
    transport: isBackground ? 'background' : isStreaming ? 'stream' : 'json',
    customIdentifier: raw.flags.id,
    shown: parseShown(raw),
    saveTo,
    toolsFile,
  }
}

/** Returns undefined for a background run. */
export async function runPrompt(input: RunInput, ctx: Context): Promise<RunResult | undefined> {
  const client = await ctx.client()
  await ctx.projectId()
  const tools = input.toolsFile === undefined ? undefined : await loadToolHandlers(input.toolsFile, ctx.io.cwd)
  const versionUuid = await findVersionToRun(client, ctx)
  const options = {
    versionUuid,
    ...(input.messages.length > 0 && { messages: input.messages }),
    ...defined({ customIdentifier: input.customIdentifier }),
  }
  const { shown, saveTo } = input
  const path = await promptNamed(input.path, ctx)
  const head = { path, versionName: versionUuid === 'live' ? 'live' : versionUuid.slice(0, 8) }
  const start = (parameters: Record<string, unknown>): Promise<RunResult | undefined> => {
    const all = { ...options, parameters }
    if (input.transport === 'background') return startInBackground(client, path, all, ctx)
    if (input.transport === 'json') {
      const wait = (signal: AbortSignal): PromiseLike<RunResult> =>
        client.prompts.run(path, { ...all, stream: false, signal })
      return showWholeRun(wait, { shown, head, saveTo }, ctx)
    }
    const following = { client, onInterrupt: 'stop' as const, shown, head, saveTo }
    return showRun(client.prompts.stream(path, { ...all, ...defined({ tools }) }), following, ctx)
  }
  return withMissingParameters(start, await gatherParameters(input.parameters, ctx), ctx)
}

async function startInBackground(
  client: Stet,
  path: string,
  options: { versionUuid: string; parameters: Record<string, unknown> },
  ctx: Context,
): Promise<undefined> {
  const { uuid } = await client.prompts.run(path, { ...options, background: true })
  await rememberConversation(uuid, ctx)
  ctx.io.out(ctx.flags.json ? `${JSON.stringify({ uuid })}\n` : `${uuid}\n`)
}

/**
 * Handlers are the module's exported functions and the functions of its default export object. Named exports take
 * precedence.
 */
export async function loadToolHandlers(file: string, cwd: string): Promise<ToolMap> {
  let module: Record<string, unknown>
  try {
    module = await import(pathToFileURL(resolve(cwd, file)).href)
  } catch (error) {
    throw new CliError('usage', `--tools: cannot import ${file}: ${error instanceof Error ? error.message : error}`)
  }
  const { default: object, ...named } = module
  const entries = Object.entries({ ...(isJsonObject(object) ? object : {}), ...named })
  const handlers = entries.filter((entry): entry is [string, ToolHandler] => typeof entry[1] === 'function')
  if (handlers.length === 0) throw new CliError('usage', `--tools: ${file} exports no function`)
  return Object.fromEntries(handlers)
}
