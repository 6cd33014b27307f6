import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Message, RunResult, Stet } from '@stet/sdk'
import { defineCommand, listFlag, type RawInput, textFlag } from '../command.ts'
import type { Context } from '../context.ts'
import { CliError, exitCodes } from '../exit-code.ts'
import { findVersion } from '../sync/version-ref.ts'
import { sayFoot, showRun } from '../ui/live-run.ts'
import { type ParameterArgument, parseParameter, parseParameterFile, readParameters } from '../ui/parameters.ts'

interface RunInput {
  path: string
  parameters: ParameterArgument[]
  parameterFile: string | undefined
  messages: Message[]
  isStreaming: boolean
  customIdentifier: string | undefined
}

export const command = defineCommand({
  summary: 'Runs a prompt. The answer goes to standard output as it comes, everything else to standard error.',
  examples: [
    'stet run support/reply -p customer=Ana -p ticket=@ticket.txt',
    'stet run support/triage -p urgent:=true --params more.json --no-stream',
    'stet run support/reply -p ticket="It fails" --json | jq -r .event',
  ],
  args: [{ name: 'path', summary: 'the prompt', isRequired: true }],
  flags: [
    {
      long: '--param',
      short: '-p',
      value: '<name=value>',
      isMany: true,
      summary: 'parameter: name=text, name=@file or name:=json',
    },
    { long: '--params', value: '<file>', summary: 'parameters from a JSON file; - is standard input' },
    { long: '--message', short: '-m', value: '<text>', isMany: true, summary: 'user message after the prompt' },
    { long: '--no-stream', summary: 'wait for the whole answer' },
    { long: '--id', value: '<identifier>', summary: 'identifier of your own, kept with the conversation' },
  ],
  parse: parseRun,
  async run(input, ctx) {
    const client = await ctx.client()
    await ctx.projectId()
    const versionUuid = await versionOf(client, ctx)
    const options = {
      versionUuid,
      ...(input.messages.length > 0 && { messages: input.messages }),
      ...(input.customIdentifier !== undefined && { customIdentifier: input.customIdentifier }),
    }
    const start = (parameters: Record<string, unknown>): Promise<RunResult> => {
      if (!input.isStreaming) return runWhole(client, input.path, { ...options, parameters }, ctx)
      const stream = client.prompts.stream(input.path, { ...options, parameters })
      return showRun(stream, { path: input.path, versionName: versionName(versionUuid) }, ctx)
    }
    return withMissingParameters(start, await gatherParameters(input, ctx), ctx)
  },
  exitCode: () => exitCodes.success,
})

function parseRun(raw: RawInput): RunInput {
  return {
    path: (raw.args[0] ?? '').replace(/\.promptl$/, ''),
    parameters: listFlag(raw, 'param').map(parseParameter),
    parameterFile: textFlag(raw, 'params'),
    messages: listFlag(raw, 'message').map((content): Message => ({ role: 'user', content })),
    isStreaming: raw.flags['stream'] !== false,
    customIdentifier: textFlag(raw, 'id'),
  }
}

async function gatherParameters(input: RunInput, ctx: Context): Promise<Record<string, unknown>> {
  const { parameterFile } = input
  if (parameterFile === '-' && ctx.flags.apiKeyStdin) {
    throw new CliError('usage', '--params - and --api-key-stdin both read standard input')
  }
  const named = await readParameters(input.parameters, ctx.io.cwd)
  if (parameterFile === undefined) return named
  if (parameterFile === '-')
    return { ...parseParameterFile(new TextDecoder().decode(await ctx.io.readStdin())), ...named }
  const text = await readFile(resolve(ctx.io.cwd, parameterFile), 'utf8').catch(() => {
    throw new CliError('usage', `--params: cannot read ${parameterFile}`)
  })
  return { ...parseParameterFile(text), ...named }
}

// The lock names the version only for its own server and project; flags and variables go before it.
async function versionOf(client: Stet, ctx: Context): Promise<string> {
  const { versionRef, lock, baseUrl, projectId } = await ctx.settings()
  if (versionRef) return versionRef.value === 'live' ? 'live' : (await findVersion(client, versionRef.value)).uuid
  if (lock?.baseUrl !== baseUrl.value || lock.projectId !== projectId?.value) return 'live'
  return lock.version.ref ?? lock.version.uuid
}

function versionName(versionUuid: string): string {
  return versionUuid === 'live' ? 'live' : versionUuid.slice(0, 8)
}

async function runWhole(
  client: Stet,
  path: string,
  options: { versionUuid: string; parameters: Record<string, unknown> },
  ctx: Context,
): Promise<RunResult> {
  const startedMs = performance.now()
  const result = await client.prompts.run(path, { ...options, stream: false })
  if (ctx.flags.json) ctx.io.out(`${JSON.stringify(result)}\n`)
  else {
    const { text } = result.response
    ctx.io.out(text.endsWith('\n') ? text : `${text}\n`)
    sayFoot(result, { totalMs: performance.now() - startedMs, firstTextMs: undefined }, ctx)
  }
  return result
}

// The server names what is missing before a run begins: asking costs a human one more request, and nobody else anything.
async function withMissingParameters(
  start: (parameters: Record<string, unknown>) => Promise<RunResult>,
  parameters: Record<string, unknown>,
  ctx: Context,
): Promise<RunResult> {
  const { UnprocessableEntityError } = await import('@stet/sdk')
  try {
    return await start(parameters)
  } catch (error) {
    const missing = error instanceof UnprocessableEntityError ? missingOf(error.details) : []
    if (missing.length === 0) throw error
    if (!ctx.isInteractive) {
      const flags = missing.map((name) => `-p ${name}=…`).join(' ')
      throw new CliError('usage', `Missing parameters: ${missing.join(', ')}`, { hint: flags })
    }
    const asked: Record<string, unknown> = {}
    for (const name of missing) asked[name] = await ctx.ask({ message: name, flag: `-p ${name}=…` })
    return start({ ...parameters, ...asked })
  }
}

function missingOf(details: unknown): string[] {
  if (typeof details !== 'object' || details === null || !('missing' in details)) return []
  return Array.isArray(details.missing) ? details.missing.filter((name) => typeof name === 'string') : []
}
