import { randomUUID } from 'node:crypto'
import type { Message, RunMode, RunOverrides } from '@stet/contract/vocabulary'
import { withDefaults, withOverrides } from '@stet/template/config'
import { defined } from '@stet/template/defined'
import { similarNames } from '@stet/template/similar-names'
import { refuse } from '../../shared/app-error.ts'
import type { Caller } from '../../shared/caller.ts'
import type { Span } from '../../shared/telemetry.ts'
import { requireScope } from '../access/api-key.ts'
import type { Needs } from '../deps.ts'
import type { DocumentText, PromptVersion } from '../documents/document.ts'
import { type PreparedPrompt, preparePrompt } from '../documents/read-document.ts'
import type { Claim } from '../idempotency/ports.ts'
import type { Project } from '../projects/project.ts'
import { parameterNames, parameterValues } from '../templates/parameters.ts'
import {
  assertCompiles,
  type TemplateScan,
  userMessageVariable,
  withUserMessage,
} from '../templates/template-engine.ts'
import { type StartedRun, watchRun } from './events/watch-run.ts'
import type { ExecuteDeps } from './execute-run.ts'
import type { KeptParameters, NewConversation, NewRun, RunStart } from './ports.ts'
import { type CallerSettings, feedbackPrefix, type PromptInput } from './run.ts'
import { planOf, renderAhead } from './steps/run-plan.ts'
import { superviseRun } from './supervise-run.ts'

/** What a caller may ask for one run beside prompt and messages. API v3 has none of it. */
export interface CallerRequest {
  callerSettings?: CallerSettings | undefined
  /** Receives the keys of `callerSettings` that the prompt sets itself. */
  onIgnored?: ((keys: readonly string[]) => void) | undefined
  /** What the caller asked for, as JSON of at most 64 KB, to be shown with the run. */
  request?: string | undefined
  /** Ends the run as soon as it has no reader, because the caller has no id to come back with. */
  endsWithReader?: boolean | undefined
}

export interface StartRunInput extends CallerRequest {
  caller: Caller
  projectId: number
  versionRef: string
  path: string
  parameters: Record<string, unknown>
  messages: Message[]
  userMessage?: string
  /** If the prompt reads the user message, the last of `messages` becomes it, provided that it is a user's text. */
  userMessageFrom?: 'last-message' | undefined
  customIdentifier?: string
  tags?: readonly string[]
  overrides?: RunOverrides
  /** Names of client tools whose results the caller posts during the run. JSON mode ignores this list. */
  tools?: readonly string[]
  omitsToolsRequested?: boolean | undefined
  /** The idempotency record to store together with the run. */
  claim?: Claim | undefined
  warn?: (warning: string) => void
  /** Aborted when the caller disconnects. Cancels the preparation, but not the run. */
  signal?: AbortSignal
  /** The span of the request. */
  span?: Span | undefined
}

const maxLogged = 20

/**
 * @throws the errors of `prepareRun` and `renderAhead`; AppError ConflictError if the Idempotency-Key was used;
 * ServiceUnavailableError while runs cannot be stored. No provider was called before these errors.
 */
export async function startRun(
  deps: ExecuteDeps,
  input: StartRunInput & { mode: 'json' | 'stream' },
): Promise<StartedRun> {
  deps.runs.store.assertOpen()
  const { conversation, prompt, start } = await prepareRun(deps, input, 'run')
  const { uuid: conversationUuid, workspaceId, via, createdAt } = conversation
  const ownerId = deps.runs.settings.instanceId
  const mode: RunMode = input.mode === 'stream' ? 'sse' : 'json'
  const uuid = randomUUID()
  const run = {
    uuid,
    conversationUuid,
    workspaceId,
    ownerId,
    epoch: 1,
    firstEventId: 1,
    via,
    createdAt,
    mode,
    ...start,
  }
  const plan = planOf(deps, prompt, { runUuid: run.uuid, stream: input.mode === 'stream' })
  await renderAhead(deps, plan, input)
  const mustBeStored = input.claim !== undefined || deps.runs.store.isStorageInDoubt()
  const created = deps.runs.store.create(conversation, run, input.claim, input.span)
  // Other runs are stored during the first model call, so that this call does not wait for a commit.
  if (mustBeStored) requireFirstUse(await storedOrAbandoned(deps, run, created))
  const { span, endsWithReader } = input
  const supervised = superviseRun(deps, { conversation, run, plan, mode, stored: created, span, endsWithReader })
  return watchRun(supervised)
}

/**
 * @throws AppError NotFoundError, BadRequestError, UnprocessableEntityError; ForbiddenError for overrides without the
 * scope `write`; RunError `chain_compile_error`.
 */
export async function prepareRun(
  deps: ExecuteDeps,
  input: StartRunInput,
  origin: NewConversation['origin'],
): Promise<{ conversation: NewConversation; prompt: PromptInput; start: Omit<RunStart, 'mode'> }> {
  const tags = input.tags && ownTags(input.tags)
  const overrides = input.overrides && Object.keys(input.overrides).length > 0 ? input.overrides : undefined
  if (overrides) requireScope(input.caller, ['write'])
  const prepared = await preparePrompt(deps, input)
  const { scan, project } = prepared
  assertCompiles(scan)
  const taken = input.userMessageFrom === 'last-message' ? lastUserText(input, scan.parameters) : undefined
  const userMessage = input.userMessage ?? taken
  const messages = taken === undefined ? input.messages : input.messages.slice(0, -1)
  const given = userMessage === undefined ? {} : { [userMessageVariable]: userMessage }
  const values = { ...input.parameters, ...given }
  const parameters = parameterValues(scan.config, values)
  if (scan.usesSteps && messages.length > 0) throw refuse('messages-with-steps')
  warnOfUnknown(deps, input, prepared)

  const config = overrides ? withOverrides(scan.config, overrides) : scan.config
  if (input.callerSettings) reportIgnored(input, config)
  const conversation = newConversation(deps, input, { ...prepared, config }, origin)
  const { workspaceId, projectId, versionUuid, uuid: conversationUuid, path } = conversation
  return {
    conversation,
    prompt: {
      workspaceId,
      apiKeyId: input.caller.apiKeyId,
      tools: { workspaceId, projectId, versionUuid, conversationUuid, awaited: input.tools ?? [], lineage: [path] },
      version: prepared.named,
      projectDefaults: { provider: project.defaultProvider, model: project.defaultModel },
      source: userMessage === undefined ? prepared.source : withUserMessage(prepared.source, scan),
      parameters,
      usesSteps: scan.usesSteps,
      config,
      overrides,
      messages,
      omitsToolsRequested: input.omitsToolsRequested,
      callerSettings: input.callerSettings,
    },
    start: {
      apiKeyId: input.caller.apiKeyId,
      authorId: input.caller.author.id,
      parameters: keptParameters(project.keepParameters ?? deps.runs.settings.keepParameters, values),
      overrides,
      tags,
      request: input.request,
    },
  }
}

/** Returns the text of the last message if it can be the user message. A given parameter of that name counts instead. */
function lastUserText(
  { messages, parameters }: Pick<StartRunInput, 'messages' | 'parameters'>,
  variables: readonly string[],
): string | undefined {
  const last = messages.at(-1)
  const isRead = variables.includes(userMessageVariable) && !Object.hasOwn(parameters, userMessageVariable)
  if (!isRead || last?.role !== 'user' || last.content.length === 0) return undefined
  const texts = last.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.length === last.content.length ? texts.join('\n') : undefined
}

/** Reports the keys of the caller's settings that the configuration sets itself. Attributes of steps are not read. */
export function reportIgnored(
  { callerSettings, onIgnored }: CallerRequest,
  config: Readonly<Record<string, unknown>>,
): void {
  if (!callerSettings || !onIgnored) return
  const { toolChoice } = callerSettings
  const { ignored } = withDefaults(config, { ...callerSettings.config, ...defined({ toolChoice }) })
  if (ignored.length > 0) onIgnored(ignored)
}

/** Returns the tags without duplicates. @throws AppError BadRequestError for the reserved prefix. */
export function ownTags(given: readonly string[]): string[] {
  const reserved = given.find((tag) => tag.startsWith(feedbackPrefix))
  if (reserved !== undefined) throw refuse('invalid-tag', { tag: reserved })
  return [...new Set(given)]
}

const maxKeptBytes = 65_536

export function keptParameters(isOn: boolean, values: Record<string, unknown>): KeptParameters {
  if (!isOn) return { text: null, state: 'off' }
  const text = JSON.stringify(values)
  const isKept = text.length <= maxKeptBytes && Buffer.byteLength(text) <= maxKeptBytes
  return isKept ? { text, state: 'kept' } : { text: null, state: 'too-large' }
}

function warnOfUnknown(
  deps: Needs<'logger'>,
  input: StartRunInput,
  { scan, text, loggedWarnings }: PreparedPrompt,
): void {
  const known = parameterNames(scan.config, scan.parameters)
  const unknown: string[] = []
  for (const name of Object.keys(input.parameters)) if (!known.has(name)) unknown.push(name)
  if (unknown.length === 0) return
  const warning = unknownParameters(unknown, known)
  input.warn?.(warning)
  if (loggedWarnings.has(warning) || loggedWarnings.size >= maxLogged) return
  loggedWarnings.add(warning)
  deps.logger.warn('run.unknown-parameters', {
    workspaceId: input.caller.workspaceId,
    path: text.path,
    warning,
    ...input.span?.ids,
  })
}

/** @throws AppError ConflictError if another request already used the Idempotency-Key. */
export function requireFirstUse(isStored: boolean): void {
  if (!isStored) throw refuse('idempotency-in-progress', { retryAfter: 1 })
}

/** Abandons the run if `stored` fails, because the row may exist nevertheless. The reaper then ends the run. */
export async function storedOrAbandoned<T>(deps: Needs<'runs'>, run: NewRun, stored: Promise<T>): Promise<T> {
  try {
    return await stored
  } catch (error) {
    deps.runs.active.abandon({ ...run, runUuid: run.uuid })
    throw error
  }
}

/** What a new conversation takes from a prompt. */
interface ConversationPrompt {
  project: Pick<Project, 'id' | 'defaultProvider' | 'defaultModel'>
  version: Pick<PromptVersion, 'uuid'>
  text: Pick<DocumentText, 'documentUuid' | 'path' | 'contentHash'>
  scan: Pick<TemplateScan, 'config'>
  config?: Record<string, unknown>
}

export function newConversation(
  deps: Needs<'clock'>,
  input: Pick<StartRunInput, 'customIdentifier'> & { caller: Pick<Caller, 'workspaceId' | 'sessionId'> },
  prepared: ConversationPrompt,
  origin: NewConversation['origin'],
): NewConversation {
  const { project, version, text, scan, config: own = scan.config } = prepared
  // Front matter and the run's overrides rank above project defaults. Later chats use this configuration even if the
  // prompt was edited.
  const config: Record<string, unknown> = {}
  if (project.defaultProvider !== null) config['provider'] = project.defaultProvider
  if (project.defaultModel !== null) config['model'] = project.defaultModel
  for (const [key, value] of Object.entries(own)) {
    // A null value counts as absent, as in the run itself.
    if (value !== null) config[key] = value
  }
  return {
    uuid: randomUUID(),
    workspaceId: input.caller.workspaceId,
    projectId: project.id,
    versionUuid: version.uuid,
    documentUuid: text.documentUuid,
    path: text.path,
    contentHash: text.contentHash,
    customIdentifier: input.customIdentifier ?? null,
    origin,
    via: input.caller.sessionId === null ? 'api' : 'console',
    config,
    createdAt: deps.clock.now(),
  }
}

// Limits the warning, because a caller may send thousands of long names.
const maxNamed = 5
const maxName = 64

/** Returns one ASCII line that names the first unknown parameters and suggests similar known names. */
function unknownParameters(unknown: readonly string[], known: ReadonlySet<string>): string {
  const sentences = unknown.slice(0, maxNamed).map((name) => {
    const [meant] = similarNames(name, known, { limit: 1, atLeast: 0.5 })
    return `unknown parameter ${quoted(name)}${meant === undefined ? '' : `, did you mean ${quoted(meant)}?`}`
  })
  return sentences.join('; ')
}

/** Shortens and quotes the name. Escapes non-ASCII characters, because Node rejects many of them in headers. */
function quoted(name: string): string {
  return JSON.stringify(name.slice(0, maxName)).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
