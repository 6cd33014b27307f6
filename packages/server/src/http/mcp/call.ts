/** One request of an MCP client and its projects; the type of a fixed tool, and the arguments that several tools share. */
import type { KeyScope } from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import { z } from 'zod'
import { findConversation } from '../../features/conversations/find-conversation.ts'
import {
  findProject,
  listVisible,
  numberedVersionRef,
  projectNamed,
  readVersionRef,
  segmentOf,
  type VersionAddress,
} from '../../features/documents/version-ref.ts'
import type { Project } from '../../features/projects/project.ts'
import type { StoredConversation } from '../../features/runs/ports.ts'
import { foundOrUndefined, refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { Span, SpanAttributes } from '../../shared/telemetry.ts'
import { conversationUri, type ToolResult } from '../../wire/mcp/results.ts'
import type { HttpDeps } from '../http-deps.ts'

export interface McpCall {
  caller: Caller
  /** The project of the whole connection. Undefined: every request names its own. */
  project: Project | undefined
  /** Aborted when the client closes the response. */
  signal: AbortSignal
  span: Span | undefined
  /** Names the prompt or the tool in traces. Only for names that exist, because clients may send any text. */
  traceAs(name: string, attributes: SpanAttributes): void
  /** Waits for room for one large answer. */
  reserve(): Promise<void>
  /** Set if the client wants to see how far a call is. */
  progress: ((message: string) => void) | undefined
}

export type ToolDeps = HttpDeps

/** A request that names or contains something that does not exist: JSON-RPC error -32602. */
export class InvalidParams extends Error {
  override readonly name = 'InvalidParams'
  readonly data: unknown

  constructor(message: string, data?: unknown) {
    super(message)
    this.data = data
  }
}

export function hasScope({ scopes }: Caller, anyOf: readonly KeyScope[]): boolean {
  return scopes.includes('admin') || anyOf.some((scope) => scopes.includes(scope))
}

/** Names what has all of a conversation. Only keys with the scope `read` have resources. */
export function wholeConversation({ caller }: McpCall, uuid: string): string {
  return hasScope(caller, ['read']) ? `The resource ${conversationUri(uuid)}` : `GET /api/v3/conversations/${uuid}`
}

/**
 * Returns the project that a key is restricted to, or the one that the connection names.
 * @throws AppError NotFoundError for an unknown name.
 */
export async function projectOfConnection(
  deps: HttpDeps,
  caller: Caller,
  named: string | undefined,
): Promise<Project | undefined> {
  if (named !== undefined) return projectNamed(deps, caller, named)
  return caller.projectId === null ? undefined : findProject(deps, caller, caller.projectId)
}

/** Returns the projects that the request may see, by id. */
export async function visibleProjects(deps: HttpDeps, { caller, project }: McpCall): Promise<readonly Project[]> {
  return project ? [project] : listVisible(deps, caller)
}

/** The path of a prompt, after the project's name unless the connection has only one. */
export function qualifiedPath(call: McpCall, projects: readonly Project[], project: Project, path: string): string {
  return call.project ? path : `${segmentOf(project, projects)}/${path}`
}

/** Reads the opposite of `qualifiedPath`. Undefined if there is no such project. */
export async function readQualified(
  deps: HttpDeps,
  call: McpCall,
  name: string,
): Promise<{ project: Project; path: string } | undefined> {
  if (call.project) return { project: call.project, path: name }
  const slash = name.indexOf('/')
  if (slash <= 0) return undefined
  const project = await foundOrUndefined(projectNamed(deps, call.caller, name.slice(0, slash)))
  return project && { project, path: name.slice(slash + 1) }
}

/** @param version `live`, a number, a uuid, or a uuid with a revision. @throws AppError NotFoundError for the number. */
export async function addressOf(
  deps: HttpDeps,
  { caller, signal }: McpCall,
  { id: projectId }: Pick<Project, 'id'>,
  version = 'live',
): Promise<VersionAddress> {
  const { versionRef, ...revision } = readVersionRef(version)
  const found = await numberedVersionRef(deps, { caller, projectId, versionRef })
  return { caller, projectId, versionRef: found, ...revision, signal }
}

interface Annotations {
  readOnlyHint?: boolean
  destructiveHint?: boolean
  idempotentHint?: boolean
  openWorldHint?: boolean
}

interface Definition<Shape extends z.ZodRawShape> {
  name: string
  description: string
  /** A key needs one scope of each list. Default: `read`. */
  scopes?: readonly (readonly KeyScope[])[]
  /** Whether a call stores something, which a full workspace refuses. Default: no. */
  stores?: boolean
  /** Whether the operator allows the tool. Default: always. */
  isAllowed?(settings: ToolDeps['settings']): boolean
  /** Default: the tool only reads. */
  annotations?: Annotations
  arguments: Shape
  run(deps: ToolDeps, call: McpCall, args: z.output<z.ZodObject<Shape>>, project: Project): Promise<ToolResult>
}

export interface FixedTool
  extends Required<Pick<Definition<z.ZodRawShape>, 'name' | 'scopes'>>,
    Pick<Definition<z.ZodRawShape>, 'isAllowed'> {
  /** The entry of `tools/list`. @param namesProject whether each call must name its project. */
  listed(namesProject: boolean): object
  /** @throws InvalidParams for the arguments; AppError; RunError. */
  call(deps: ToolDeps, call: McpCall, args: unknown): Promise<ToolResult>
}

const readOnly: Annotations = { readOnlyHint: true, openWorldHint: false }
export const openWorld: Annotations = { readOnlyHint: false, openWorldHint: true }

const projectArgument = { project: z.string().min(1).describe('The id of the project, or its name if it is unique.') }

export function fixedTool<Shape extends z.ZodRawShape>(definition: Definition<Shape>): FixedTool {
  const { arguments: shape, run, stores = false, annotations = readOnly, scopes = [['read']] } = definition
  const { name, description, isAllowed } = definition
  const alone = z.strictObject(shape)
  const withProject = z.strictObject({ ...projectArgument, ...shape })
  return {
    ...{ name, scopes, ...defined({ isAllowed }) },
    listed: (namesProject) => {
      const { $schema: _, ...inputSchema } = jsonSchema(namesProject ? withProject : alone)
      return { name, description, inputSchema, annotations }
    },
    async call(deps, call, args) {
      const schema = call.project ? alone : withProject
      const read = schema.safeParse(args ?? {})
      if (!read.success) throw new InvalidParams(issuesText(read.error))
      const { project: named, ...own } = read.data as { project?: string }
      const project = call.project ?? (await projectNamed(deps, call.caller, named ?? ''))
      if (stores) spendRoom(deps, call, own)
      // `own` was parsed with the schema of these arguments.
      return run(deps, call, own as z.output<z.ZodObject<Shape>>, project)
    },
  }
}

/**
 * Refuses what a full workspace cannot store. Arguments count as stored until the next measurement, as bodies of API v3 do.
 * @throws AppError RateLimitError
 */
export function spendRoom({ storage }: ToolDeps, { caller }: McpCall, args: object): void {
  if (!storage) return
  storage.use.requireRoom(caller.workspaceId)
  storage.use.add(caller.workspaceId, Buffer.byteLength(JSON.stringify(args)))
}

/** The pattern of a format says nothing to a model, but takes room in its context. */
function jsonSchema(schema: z.ZodType) {
  return z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema: each }) => {
      if (each.format !== undefined) delete each.pattern
    },
  })
}

export function issuesText({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`).join('; ')
}

export const promptPath = z.string().min(1).describe('The path of the prompt, for example `support/reply`.')
export const versionRef = z.string().min(1).optional().describe('`live` (default), a version number or a uuid.')
export const cursor = z.string().min(1).optional().describe('The `nextCursor` of the page before.')
export const uuid = (description: string) => z.uuid().describe(description)
export const draft = uuid('The uuid of a draft, as stet_create_draft returns it. Published versions cannot be changed.')
export const baseHash = z
  .string()
  .regex(/^([0-9a-f]{64})?$/)
  .describe('The `contentHash` that you read with stet_get_prompt.')

/** @throws AppError NotFoundError, also for a conversation of another project. */
export async function conversationOf(
  deps: ToolDeps,
  { caller }: McpCall,
  project: Project,
  conversationUuid: string,
): Promise<StoredConversation> {
  const found = await findConversation(deps, { caller, conversationUuid })
  if (found.projectId !== project.id) throw refuse('unknown-conversation')
  return found
}
