/** Tools that run prompts: the fixed ones, and one for each prompt with a description. */
import { LIMITS, MessageInput } from '@stet/contract'
import { defined } from '@stet/template/defined'
import { z } from 'zod'
import { stopConversation } from '../../features/conversations/stop-conversation.ts'
import type { UnresolvedDocument } from '../../features/documents/document.ts'
import { findPrompt, type PreparedPrompt } from '../../features/documents/read-document.ts'
import type { Project } from '../../features/projects/project.ts'
import type { StartedRun } from '../../features/runs/events/watch-run.ts'
import { queueRun } from '../../features/runs/queue/queue-run.ts'
import type { RunResult } from '../../features/runs/run.ts'
import { startRun } from '../../features/runs/start-run.ts'
import { parameterNames } from '../../features/templates/parameters.ts'
import { readPromptConfig } from '../../features/templates/prompt-config.ts'
import { AppError, foundOrUndefined, RunError } from '../../shared/app-error.ts'
import {
  descriptionOf,
  inputSchema,
  outputSchema,
  pathOfToolName,
  runMeta,
  titleOf,
  toolName,
} from '../../wire/mcp/prompt-tools.ts'
import {
  failedResult,
  progressMessages,
  structuredResult,
  type ToolResult,
  textResult,
} from '../../wire/mcp/results.ts'
import {
  addressOf,
  conversationOf,
  fixedTool,
  InvalidParams,
  issuesText,
  type McpCall,
  openWorld,
  promptPath,
  qualifiedPath,
  readQualified,
  spendRoom,
  type ToolDeps,
  uuid,
  versionRef,
  visibleProjects,
  wholeConversation,
} from './call.ts'
import { livePrompts } from './prompts.ts'

const maxOffered = 100

export const runTools = [
  fixedTool({
    name: 'stet_run_prompt',
    description:
      'Runs a prompt and returns its answer. A run can take minutes, and many clients give up after 60 s: for long runs set `background` to true, which returns the conversation at once, and read it with stet_get_conversation.',
    scopes: [['run']],
    stores: true,
    annotations: openWorld,
    arguments: {
      path: promptPath,
      parameters: z.record(z.string(), z.unknown()).optional().describe('Values of the parameters by name.'),
      messages: z
        .array(z.object({ role: z.string(), content: z.unknown() }).loose())
        .optional()
        .describe('Messages after the prompt, for example `[{"role": "user", "content": "Hello"}]`.'),
      version: versionRef,
      background: z.boolean().optional().describe('Returns before the run ends.'),
    },
    async run(deps, call, { path, parameters = {}, messages = [], version, background }, project) {
      const read = z.array(MessageInput).max(LIMITS.messages).safeParse(messages)
      if (!read.success) throw new InvalidParams(`messages: ${issuesText(read.error)}`)
      const target = { project, path, version, parameters, messages: read.data }
      if (background) {
        const { conversationUuid } = await queueRun(deps, await runInput(deps, call, target))
        return structuredResult({ conversationUuid, status: 'queued' })
      }
      const result = await runToEnd(deps, call, target)
      const { response, toolRequests, tokenUsage: usage, cost, uuid: conversationUuid } = result
      const object = response.streamType === 'object' ? { object: response.object } : {}
      const shown = { text: response.text, ...object, toolRequests, usage, cost, conversationUuid }
      return structuredResult(shown, wholeConversation(call, conversationUuid))
    },
  }),
  fixedTool({
    name: 'stet_stop_run',
    description: 'Stops the running or queued run of a conversation.',
    scopes: [['run']],
    annotations: openWorld,
    arguments: { uuid: uuid('The conversation.') },
    async run(deps, call, { uuid: conversationUuid }, project) {
      await conversationOf(deps, call, project, conversationUuid)
      const { stopped, status } = await stopConversation(deps, { caller: call.caller, conversationUuid })
      return structuredResult({ stopped, status })
    },
  }),
]

interface RunTarget {
  project: Project
  path: string
  version?: string | undefined
  parameters: Record<string, unknown>
  messages: z.output<typeof MessageInput>[]
}

async function runInput(deps: ToolDeps, call: McpCall, { project, path, version, ...given }: RunTarget) {
  return {
    ...(await addressOf(deps, call, project, version)),
    path,
    ...given,
    ...defined({ span: call.span }),
    signal: call.signal,
  }
}

/** Nobody can attach to the run of a closed response through MCP, so the run ends with it. */
async function runToEnd(deps: ToolDeps, call: McpCall, target: RunTarget): Promise<RunResult> {
  const run = await startRun(deps, { ...(await runInput(deps, call, target)), mode: 'json', endsWithReader: true })
  const stop = call.progress ? showProgress(run, call.progress) : undefined
  try {
    return await run.result(call.signal)
  } finally {
    stop?.()
  }
}

/** At most four messages per second. A newer message replaces one that waits. */
const pauseMs = 250

function showProgress(run: StartedRun, send: (message: string) => void): () => void {
  let waiting: string | undefined
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    timer = undefined
    if (waiting === undefined) return
    send(waiting)
    waiting = undefined
    timer = setTimeout(flush, pauseMs)
  }
  const frames = run.frames(
    progressMessages((message) => {
      waiting = message
      if (timer === undefined) flush()
    }),
  )
  const advance = () => void frames.take()
  frames.listen(advance)
  advance()
  return () => clearTimeout(timer)
}

interface PromptTool {
  name: string
  [key: string]: unknown
}

/** Lists the prompts that are tools of their own, by path. */
export async function listPromptTools(deps: ToolDeps, call: McpCall): Promise<object[]> {
  await call.reserve()
  const projects = await visibleProjects(deps, call)
  const tools: PromptTool[] = []
  for (const project of projects) {
    if (tools.length === maxOffered) break
    for await (const document of livePrompts(deps, call, project)) {
      // The text of a prompt is dropped before the next one is read.
      if (isOffered(deps, document))
        tools.push(promptTool(qualifiedPath(call, projects, project, document.path), document))
      if (tools.length === maxOffered) break
    }
  }
  return tools.sort((one, other) => (one.name < other.name ? -1 : 1))
}

function promptTool(path: string, document: UnresolvedDocument): PromptTool {
  return {
    name: toolName(path),
    title: titleOf(document),
    description: descriptionOf(document),
    inputSchema: inputSchema(document),
    ...defined({ outputSchema: outputSchema(document.config) }),
    annotations: openWorld,
  }
}

/** No client answers a client tool here, and a tool without a description is useless to a model. */
function isOffered(deps: ToolDeps, { config, errors, path }: Pick<UnresolvedDocument, 'config' | 'errors' | 'path'>) {
  if (errors.length > 0 || descriptionOf({ config }) === undefined) return false
  try {
    return readPromptConfig(config, path, [...deps.runs.serverTools.keys()]).tools.length === 0
  } catch (error) {
    if (error instanceof RunError) return false
    throw error
  }
}

/** Returns undefined if no prompt has the tool. @throws InvalidParams for the arguments. */
export async function callPromptTool(
  deps: ToolDeps,
  call: McpCall,
  name: string,
  parameters: Record<string, unknown>,
): Promise<ToolResult | undefined> {
  const found = await findPromptTool(deps, call, name)
  if (!found) return undefined
  const { project, prompt } = found
  const { text, version, scan } = prompt
  call.traceAs(name, { 'gen_ai.tool.name': name, 'gen_ai.prompt.name': text.path })
  spendRoom(deps, call, parameters)
  const known = parameterNames(scan.config, scan.parameters)
  const unknown = Object.keys(parameters).filter((each) => !known.has(each))
  if (unknown.length > 0) throw new InvalidParams(`Unknown arguments: ${unknown.join(', ')}`)
  try {
    const target = { project, path: text.path, version: version.uuid, parameters, messages: [] }
    const result = await runToEnd(deps, call, target)
    return await promptResult(deps, call, prompt, result)
  } catch (error) {
    const isBad = error instanceof AppError && /^(missing|invalid)-parameters$/.test(error.reason)
    if (isBad) throw new InvalidParams(error.message, error.details)
    throw error
  }
}

async function promptResult(deps: ToolDeps, call: McpCall, prompt: PreparedPrompt, result: RunResult) {
  const { response } = result
  const { number, uuid: versionUuid } = prompt.version
  const _meta = runMeta(result, number ?? versionUuid)
  const schema = outputSchema(prompt.scan.config)
  if (!schema) return { ...textResult(response.text, wholeConversation(call, result.uuid)), _meta }
  const value = response.streamType === 'object' ? response.object : undefined
  const { workspaceId, apiKeyId } = call.caller
  const check = await deps.templates.checkAnswer({ schema, value }, { workspaceId, apiKeyId, signal: call.signal })
  const problem = 'failure' in check ? check.failure : check.issues[0]?.message
  if (problem !== undefined) {
    const failure = new RunError('invalid_response_format_error', `The response does not match the schema: ${problem}`)
    return { ...failedResult(failure), _meta }
  }
  return { content: [{ type: 'text' as const, text: JSON.stringify(value) }], structuredContent: Object(value), _meta }
}

async function findPromptTool(deps: ToolDeps, call: McpCall, name: string) {
  const named = pathOfToolName(name)
  const place = named === undefined ? await findByHash(deps, call, name) : await readQualified(deps, call, named)
  if (!place) return undefined
  const { caller, signal } = call
  const address = { caller, projectId: place.project.id, versionRef: 'live', path: place.path, signal }
  const prompt = await foundOrUndefined(findPrompt(deps, address))
  if (!prompt) return undefined
  const { scan, text } = prompt
  return isOffered(deps, { ...scan, path: text.path }) ? { project: place.project, prompt } : undefined
}

/** The name ends with a hash of the path, so the path must be found. */
async function findByHash(deps: ToolDeps, call: McpCall, name: string) {
  if (!/_[0-9a-f]{8}$/.test(name)) return undefined
  const projects = await visibleProjects(deps, call)
  for (const project of projects) {
    for await (const { path } of livePrompts(deps, call, project)) {
      if (toolName(qualifiedPath(call, projects, project, path)) === name) return { project, path }
    }
  }
  return undefined
}
