/** Starts a run of a prompt: everything that can be refused is refused here; then the run goes on by itself. */
import { randomUUID } from 'node:crypto'
import { conflict, invalid } from '../../shared/app-error.ts'
import { similarNames } from '../../shared/text/similar-names.ts'
import type { Caller, Claim, Needs } from '../deps.ts'
import { loadRunnable, type Runnable } from '../documents/read-document.ts'
import type { Message } from '../templates/message.ts'
import { parameterNames, parameterValues } from '../templates/parameters.ts'
import {
  assertCompiles,
  type TemplateScan,
  USER_MESSAGE_VARIABLE,
  withUserMessage,
} from '../templates/template-engine.ts'
import { type StartedRun, watchRun } from './events/watch-run.ts'
import { type PromptInput, planOf, renderAhead } from './execute-run.ts'
import type { NewConversation, NewRun, StoredConversation, StoredRun } from './ports.ts'
import { createRunProgress } from './run-step.ts'
import { type DriveDeps, driveRun } from './supervise-run.ts'

export type { StartedRun } from './events/watch-run.ts'

export interface StartRunInput {
  caller: Caller
  projectId: number
  versionRef: string
  path: string
  parameters: Record<string, unknown>
  /** Appended after the compiled prompt. */
  messages: Message[]
  userMessage?: string
  customIdentifier?: string
  /** Names of tools that the caller answers while the run waits. */
  tools?: readonly string[]
  /** The caller declares a published SDK. */
  declaredSdk: boolean
  /** Of the idempotency key that the request came with: it is stored with the run. */
  claim?: Claim
  /** Takes a warning of parameters that the prompt does not know, before the run starts. */
  warn?: (warning: string) => void
  /** Aborted when the caller has left. It cancels what comes before the run, and not the run. */
  signal?: AbortSignal
}

export type StartDeps = DriveDeps & Needs<'templates'>

/** Warnings that the log holds of one compiled text. */
const mostLogged = 20

export interface PreparedRun {
  conversation: NewConversation
  prompt: PromptInput
}

/**
 * @throws as `prepareRun`; ConflictError for a claim that was used before; ServiceUnavailableError, before any work, while
 * nothing can be stored. A failure after that is the run's own error.
 */
export async function startRun(
  deps: StartDeps,
  input: StartRunInput & { mode: 'json' | 'stream' },
): Promise<StartedRun> {
  deps.runs.assertOpen()
  const { conversation, prompt } = await prepareRun(deps, input, 'run')
  const run = newRun(deps, conversation)
  const plan = planOf(deps, prompt, { runUuid: run.uuid, stream: input.mode === 'stream' })
  const ready = await renderAhead(plan, input.signal)
  const mustBeStored = input.claim !== undefined || deps.runs.isStorageInDoubt()
  const created = deps.runs.create(conversation, run, input.claim)
  // Otherwise the row is written beside the provider call, which must not wait for a commit.
  if (mustBeStored) requireFirstUse(await storedOrAbandoned(deps, run, created))
  const driven = driveRun(deps, {
    conversation: firstState(conversation, run, 'running'),
    run,
    stored: created.then(() => undefined),
    progress: createRunProgress([]),
    plan: ready,
  })
  return watchRun(driven, conversation)
}

/**
 * Everything that can be refused is refused here.
 * @throws AppError NotFoundError, BadRequestError (messages beside steps), UnprocessableEntityError (parameters);
 * RunError `chain_compile_error`.
 */
export async function prepareRun(
  deps: StartDeps,
  input: StartRunInput,
  origin: NewConversation['origin'],
): Promise<PreparedRun> {
  const runnable = await loadRunnable(deps, input)
  const { scan, project } = runnable
  assertCompiles(scan)
  const given = input.userMessage === undefined ? {} : { [USER_MESSAGE_VARIABLE]: input.userMessage }
  const parameters = parameterValues(scan.config, { ...input.parameters, ...given })
  if (scan.usesSteps && input.messages.length > 0) throw invalid('messages cannot be combined with <step>')
  warnOfUnknown(deps, input, runnable)

  const conversation = newConversation(deps, input, runnable, origin)
  const { workspaceId, projectId, versionUuid, uuid: conversationUuid, path } = conversation
  return {
    conversation,
    prompt: {
      workspaceId,
      apiKeyId: input.caller.apiKeyId,
      tools: { workspaceId, projectId, versionUuid, conversationUuid, awaited: input.tools ?? [], lineage: [path] },
      projectDefaults: { provider: project.defaultProvider, model: project.defaultModel },
      source: input.userMessage === undefined ? runnable.source : withUserMessage(runnable.source, scan),
      parameters,
      usesSteps: scan.usesSteps,
      config: scan.config,
      messages: input.messages,
      declaredSdk: input.declaredSdk,
    },
  }
}

// Warnings already logged, by compiled text, so that a repeated request is logged once.
const logged = new WeakMap<Runnable['scan'], Set<string>>()

function warnOfUnknown(deps: Needs<'log'>, input: StartRunInput, { scan, text }: Runnable): void {
  const warning = unknownParameters(scan, input.parameters)
  if (warning === undefined) return
  input.warn?.(warning)
  const known = logged.get(scan) ?? new Set()
  logged.set(scan, known)
  if (known.has(warning) || known.size >= mostLogged) return
  known.add(warning)
  deps.log.warn('run.unknown-parameters', { workspaceId: input.caller.workspaceId, path: text.path, warning })
}

/** A request may have come first under the same idempotency key: its run is the only one. */
export function requireFirstUse(isStored: boolean): void {
  if (!isStored)
    throw conflict('A request with this Idempotency-Key came first', { reason: 'in_progress', retryAfter: 1 })
}

/** A row whose acknowledgement was lost may be there, and nobody drives it: it is ended like that of a lost process. */
export async function storedOrAbandoned<T>(deps: Needs<'activeRuns'>, run: NewRun, stored: Promise<T>): Promise<T> {
  try {
    return await stored
  } catch (error) {
    deps.activeRuns.abandon({ ...run, runUuid: run.uuid })
    throw error
  }
}

/** What a conversation is from its first moment on. */
export function newConversation(
  deps: Needs<'clock'>,
  input: Pick<StartRunInput, 'caller' | 'customIdentifier'>,
  runnable: Runnable,
  origin: NewConversation['origin'],
): NewConversation {
  const { project, version, text } = runnable
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
    config: globalConfig(runnable),
    createdAt: deps.clock.now(),
  }
}

/** Project defaults under the front matter: what chats go on with, whatever is edited later. */
function globalConfig({ project, scan }: Runnable): Record<string, unknown> {
  // A key that stands there without a value says nothing, here as in the run itself.
  const written = Object.entries(scan.config).filter(([, value]) => value !== null)
  return {
    ...(project.defaultProvider !== null && { provider: project.defaultProvider }),
    ...(project.defaultModel !== null && { model: project.defaultModel }),
    ...Object.fromEntries(written),
  }
}

function newRun(deps: Needs<'runSettings'>, conversation: NewConversation): NewRun {
  return {
    uuid: randomUUID(),
    conversationUuid: conversation.uuid,
    workspaceId: conversation.workspaceId,
    ownerId: deps.runSettings.instanceId,
    epoch: 1,
    firstEventId: 1,
    createdAt: conversation.createdAt,
  }
}

/** A conversation as its first run is stored. */
export function firstState(
  conversation: NewConversation,
  run: Omit<NewRun, 'ownerId'>,
  status: 'queued' | 'running',
): StoredConversation {
  const { epoch, createdAt } = run
  return {
    ...conversation,
    messages: [],
    status,
    epoch,
    lastEventId: 0,
    updatedAt: createdAt,
    latestRun: { ...runState(run), status },
  }
}

/** A run that is driven, as it is stored. */
export function runState(run: Omit<NewRun, 'ownerId'>): StoredRun {
  const { uuid, epoch, firstEventId, createdAt } = run
  return {
    uuid,
    status: 'running',
    epoch,
    firstEventId,
    lastEventId: null,
    result: null,
    stopRequestedAt: null,
    createdAt,
    endedAt: null,
  }
}

// A caller may send a thousand of them, as long as a body may be: a few beginnings tell what is wrong.
const mostNamed = 5
const longestName = 64

/** One line of ASCII that names them and what was probably meant; undefined when there are none. */
function unknownParameters(
  { config, parameters }: Pick<TemplateScan, 'config' | 'parameters'>,
  given: Readonly<Record<string, unknown>>,
): string | undefined {
  const known = parameterNames(config, parameters)
  const unknown = Object.keys(given).filter((name) => !known.has(name))
  if (unknown.length === 0) return undefined
  const sentences = unknown.slice(0, mostNamed).map((name) => {
    const [meant] = similarNames(name, known, { limit: 1, atLeast: 0.5 })
    return `unknown parameter ${quoted(name)}${meant === undefined ? '' : `, did you mean ${quoted(meant)}?`}`
  })
  return sentences.join('; ')
}

/** JSON's quotes and escapes, in ASCII: a header holds nothing else. */
function quoted(name: string): string {
  return JSON.stringify(name.slice(0, longestName)).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
