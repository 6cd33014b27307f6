/** Live prompts as prompts and as resources of MCP. */

import { defined } from '@stet/template/defined'
import { findConversation } from '../../features/conversations/find-conversation.ts'
import type { UnresolvedDocument } from '../../features/documents/document.ts'
import { listUnresolved, preparePrompt } from '../../features/documents/read-document.ts'
import { findVersionRow } from '../../features/documents/version-ref.ts'
import type { Project } from '../../features/projects/project.ts'
import { renderPrompt } from '../../features/templates/prompt-config.ts'
import { assertCompiles } from '../../features/templates/template-engine.ts'
import { foundOrUndefined } from '../../shared/app-error.ts'
import { refuseText } from '../../shared/text-guards.ts'
import { conversationBody } from '../../wire/conversation.ts'
import { descriptionOf, promptArguments, promptMessages, titleOf } from '../../wire/mcp/prompt-tools.ts'
import { isForeseen, listPage, promptUri, readUri } from '../../wire/mcp/results.ts'
import {
  addressOf,
  InvalidParams,
  type McpCall,
  qualifiedPath,
  readQualified,
  type ToolDeps,
  visibleProjects,
} from './call.ts'

export const pageSize = 100

interface LivePrompt {
  project: Project
  document: UnresolvedDocument
}

interface LivePage<Entry> {
  entries: readonly Entry[]
  nextCursor?: string
}

/** Yields the live prompts of one project by path. Nothing if nothing is live. */
export async function* livePrompts(
  deps: ToolDeps,
  { caller, signal }: McpCall,
  { id: projectId, liveVersionUuid }: Project,
  page: { limit?: number; cursor?: string } = {},
): AsyncGenerator<UnresolvedDocument> {
  if (liveVersionUuid === null) return
  yield* listUnresolved(deps, { caller, projectId, versionRef: 'live', signal, ...page })
}

/** @param entryOf shows a prompt. Its text is dropped before the next one is read. Undefined leaves it out. */
async function livePage<Entry extends object>(
  deps: ToolDeps,
  call: McpCall,
  cursor: string | undefined,
  entryOf: (prompt: LivePrompt, projects: readonly Project[]) => Promise<Entry | undefined>,
): Promise<LivePage<Entry>> {
  await call.reserve()
  const projects = await visibleProjects(deps, call)
  const start = cursor === undefined ? undefined : readCursor(cursor)
  const page = listPage<Entry>((omitted) => ({ _meta: { 'stet/omitted': omitted } }))
  let read = 0
  let last: [projectId: number, path: string] | undefined
  const pageUpTo = (place: typeof last) => ({
    entries: page.entries,
    ...(place && { nextCursor: Buffer.from(JSON.stringify(place)).toString('base64url') }),
  })
  for (const project of projects.filter(({ id }) => start === undefined || id >= start.projectId)) {
    const after = project.id === start?.projectId ? { cursor: start.path } : {}
    const limit = pageSize - read
    for await (const document of livePrompts(deps, call, project, { limit, ...after })) {
      const entry = await entryOf({ project, document }, projects)
      if (entry && !page.add(entry)) return pageUpTo(last)
      read += 1
      last = [project.id, document.path]
    }
    if (read >= pageSize) return pageUpTo(last)
  }
  return pageUpTo(undefined)
}

function readCursor(cursor: string): { projectId: number; path: string } {
  try {
    const [projectId, path] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Number.isInteger(projectId) && typeof path === 'string' && refuseText(path) === undefined)
      return { projectId, path }
  } catch {
    // The same answer as for other JSON.
  }
  throw new InvalidParams('The cursor is not one of this list')
}

export async function listPrompts(deps: ToolDeps, call: McpCall, cursor: string | undefined) {
  const numberOf = liveNumbers(deps, call)
  const { entries, ...rest } = await livePage(deps, call, cursor, async ({ project, document }, projects) => {
    if (document.errors.length > 0) return undefined
    return {
      name: qualifiedPath(call, projects, project, document.path),
      title: titleOf(document),
      ...defined({ description: descriptionOf(document) }),
      arguments: promptArguments(document),
      _meta: { 'stet/version': await numberOf(project.id) },
    }
  })
  return { prompts: [...entries], ...rest }
}

/** Returns the function that reads the number of a project's live version once. */
function liveNumbers({ stores }: ToolDeps, { caller }: McpCall) {
  const numbers = new Map<number, number | null>()
  return async (projectId: number) => {
    const known = numbers.get(projectId)
    if (known !== undefined) return known
    const { number } = await findVersionRow(stores, { caller, projectId, versionRef: 'live' })
    numbers.set(projectId, number)
    return number
  }
}

/** @throws InvalidParams for an unknown prompt, one with steps, one that does not compile, and for the arguments. */
export async function getPrompt(deps: ToolDeps, call: McpCall, name: string, given: Record<string, string>) {
  const { caller, signal } = call
  const place = await readQualified(deps, call, name)
  const address = place && { caller, projectId: place.project.id, versionRef: 'live', path: place.path, signal }
  const prompt = address && (await foundOrUndefined(preparePrompt(deps, address)))
  if (!prompt) throw new InvalidParams(`Unknown prompt: ${name}`)
  call.traceAs(name, { 'gen_ai.prompt.name': prompt.text.path })
  if (prompt.scan.usesSteps) throw new InvalidParams('The prompt has steps; call its tool instead')
  try {
    assertCompiles(prompt.scan)
    const owner = { workspaceId: caller.workspaceId, apiKeyId: caller.apiKeyId, signal }
    const messages = promptMessages(await renderPrompt(deps, prompt, given, owner))
    return { ...defined({ description: descriptionOf(prompt.scan) }), messages }
  } catch (error) {
    if (!isForeseen(error) || error.code === 'ServiceUnavailableError') throw error
    throw new InvalidParams(error.message, error.details)
  }
}

export async function listResources(deps: ToolDeps, call: McpCall, cursor: string | undefined) {
  const { entries, ...rest } = await livePage(deps, call, cursor, async ({ project, document }, projects) => {
    return {
      uri: promptUri({ projectId: project.id, versionRef: 'live', path: document.path }),
      name: qualifiedPath(call, projects, project, document.path),
      title: titleOf(document),
      ...defined({ description: descriptionOf(document) }),
      mimeType: promptType,
    }
  })
  return { resources: [...entries], ...rest }
}

const promptType = 'text/markdown'
const conversationType = 'application/json'

export const resourceTemplates = [
  {
    uriTemplate: 'stet://{projectId}/{version}/{+path}',
    name: 'prompt',
    description: 'A prompt exactly as stored. The version is `live`, a number or a uuid.',
    mimeType: promptType,
  },
  {
    uriTemplate: 'stet://conversations/{uuid}',
    name: 'conversation',
    description: 'The messages, the status and the cost of a run and its chats.',
    mimeType: conversationType,
  },
]

/** @throws InvalidParams with the uri. */
export async function readResource(deps: ToolDeps, call: McpCall, uri: string) {
  const place = readUri(uri)
  const text = place && (await foundOrUndefined(readText(deps, call, place)))
  if (text === undefined) throw new InvalidParams(`Unknown resource: ${uri}`, { uri })
  return { contents: [{ uri, ...text }] }
}

async function readText(deps: ToolDeps, call: McpCall, place: NonNullable<ReturnType<typeof readUri>>) {
  const { caller, project } = call
  if ('conversationUuid' in place) {
    await call.reserve()
    const conversation = await findConversation(deps, { caller, conversationUuid: place.conversationUuid })
    if (project && conversation.projectId !== project.id) return undefined
    return { mimeType: conversationType, text: JSON.stringify(conversationBody(conversation)) }
  }
  if (project && place.projectId !== project.id) return undefined
  const address = await addressOf(deps, call, { id: place.projectId }, place.versionRef)
  const { text } = await preparePrompt(deps, { ...address, path: place.path })
  return { mimeType: promptType, text: text.content }
}
