/** Evaluates prompts in sandboxed worker processes. The server process never loads the template engine. */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import {
  type CompileIssue,
  EvaluationCanceled,
  type EvaluationOwner,
  type TemplateEngine,
  type TemplateScan,
  type TemplateSource,
  type TemplateStep,
  type TemplateStepInput,
} from '../../features/templates/template-engine.ts'
import { type AppError, RunError, refuse } from '../../shared/app-error.ts'
import type { Logger } from '../../shared/logger.ts'
import { createTurns } from './fair-queue.ts'
import { isolation } from './isolation.ts'
import { createTemplatePool, type PoolCall, type PoolOutcome, type TemplatePool } from './pool.ts'
import { issueResult, scanResult, stepResult } from './replies.ts'
import { createScanCache, type ScanCache, type ScanReading } from './scan-cache.ts'
import { joinSlots, slotPlanOf } from './slot-plan.ts'

export interface TemplateEngineOptions {
  workerFile: string
  poolSize?: number
  timeoutMs?: number
  maxPerKey?: number
  maxPerWorkspace?: number
  log: Logger
}

interface Workers {
  pool: TemplatePool
  cache: ScanCache
  deaths: DeathRecord
  /** Keys of texts whose last evaluation succeeded, by workspace and operation. */
  proven: LRUCache<string, true>
}

const MAX_PROVEN = 10_000
const RETRY_AFTER_SECONDS = 1
const REFUSED = 'This prompt ended its evaluation several times within a minute; try again in a minute'

export function createTemplateEngine(options: TemplateEngineOptions): TemplateEngine {
  const { workerFile, poolSize = 2, timeoutMs = 1_000, maxPerKey = 1_000, maxPerWorkspace = 2_000, log } = options
  void isolation().then(({ network, limits }) => {
    const isComplete = network === 'namespace' && limits === 'kernel'
    log[isComplete ? 'debug' : 'info']('template.isolation', { network, limits })
  })
  const workers: Workers = {
    pool: createTemplatePool({ workerFile, size: poolSize, timeoutMs, maxPerKey, maxPerWorkspace, log }),
    cache: createScanCache(),
    deaths: createDeathRecord(),
    proven: new LRUCache({ max: MAX_PROVEN }),
  }
  return {
    scan(source, owner) {
      const text = keyOf(owner, source)
      return workers.cache.get(text, () => readScan(workers, text, source, owner))
    },
    async step(input, owner) {
      const joined = input.slots && joinSlots(input.slots, input.parameters)
      return joined ?? renderStep(workers, input, owner)
    },
    inTurn: createTurns({ perKey: maxPerKey, perWorkspace: maxPerWorkspace }, tooMany),
    close: () => workers.pool.close(),
  }
}

function hashOf(source: TemplateSource): string {
  const documents = Object.entries(source.documents).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([source.path, source.content, documents]))
    .digest('base64')
}

/** Includes the workspace, so that workspaces share neither failures nor queue positions. */
function keyOf(owner: EvaluationOwner, source: TemplateSource): string {
  return `${owner.workspaceId}:${hashOf(source)}`
}

async function readScan(
  workers: Workers,
  text: string,
  source: TemplateSource,
  owner: EvaluationOwner,
): Promise<ScanReading> {
  const cause = (): string => 'scan'
  if (workers.deaths.isRefused(text, cause)) return { scan: failedScan(source, REFUSED), isLasting: false }
  const outcome = await call(workers, { text, cause, owner, request: { operation: 'scan', source } })
  if (outcome.kind !== 'reply') return { scan: failedScan(source, failureText(outcome)), isLasting: false }
  const { reply } = outcome
  const read = 'result' in reply ? scanResult.safeParse(reply.result) : undefined
  if (read?.success) {
    const { slots, ...found } = read.data
    const plan = slots && slotPlanOf(slots, found.config)
    return { scan: { ...(found as TemplateScan), slots: plan }, isLasting: true }
  }
  return { scan: failedScan(source, 'failure' in reply ? reply.failure : INVALID_REPLY), isLasting: false }
}

async function renderStep(workers: Workers, input: TemplateStepInput, owner: EvaluationOwner): Promise<TemplateStep> {
  const { source, slots: _slots, ...rest } = input
  const text = keyOf(owner, source)
  const cause = (): string => stepCause(input)
  if (workers.deaths.isRefused(text, cause)) throw compileError(startIssue(source, REFUSED))
  const outcome = await call(workers, { text, cause, owner, request: { operation: 'step', source, step: rest } })
  if (outcome.kind !== 'reply') throw compileError(startIssue(source, failureText(outcome)))
  const { reply } = outcome
  if ('issue' in reply) {
    const issue = issueResult.safeParse(reply.issue)
    throw compileError(issue.success ? (issue.data as CompileIssue) : startIssue(source, INVALID_REPLY))
  }
  const read = 'result' in reply ? stepResult.safeParse(reply.result) : undefined
  if (!read?.success) throw compileError(startIssue(source, 'failure' in reply ? reply.failure : INVALID_REPLY))
  return read.data as TemplateStep
}

/** Hashes all inputs of a step except its text and the time. */
function stepCause({ parameters, state, answer }: TemplateStepInput): string {
  const values = JSON.stringify([parameters, state ?? null, answer ?? null])
  return createHash('sha256').update(values).digest('base64')
}

interface Evaluation {
  text: string
  cause: () => string
  owner: EvaluationOwner
  request: PoolCall['request']
}

type Answered = Extract<PoolOutcome, { kind: 'reply' | 'timeout' | 'died' }>

/** @throws ServiceUnavailableError if the evaluation never ran; EvaluationCanceled after a disconnect. */
async function call(workers: Workers, { text, cause, owner, request }: Evaluation): Promise<Answered> {
  const key = request.operation + text
  const outcome = await workers.pool.call({ request, owner, isProven: workers.proven.has(key) })
  if (outcome.kind === 'canceled') throw new EvaluationCanceled()
  if (outcome.kind === 'closed') throw refuse('server-stopping')
  if (outcome.kind === 'refused') throw tooMany(outcome.limitOf)
  if (outcome.kind === 'overloaded' || outcome.kind === 'starved') throw tooMany('server')
  workers.proven.delete(key)
  if (outcome.kind === 'reply') workers.proven.set(key, true)
  else workers.deaths.note(text, cause())
  return outcome
}

function tooMany(limitOf: string): AppError {
  return refuse('too-many-evaluations', { limitOf, retryAfter: RETRY_AFTER_SECONDS })
}

const INVALID_REPLY = 'The evaluation gave no valid answer'

function failureText(outcome: { kind: 'timeout' | 'died' }): string {
  return outcome.kind === 'timeout'
    ? 'The evaluation took too long'
    : 'The evaluation used too much memory or was ended'
}

function failedScan(source: TemplateSource, message: string): TemplateScan {
  return {
    config: {},
    parameters: [],
    resolvedContent: source.content,
    references: [],
    missing: [],
    usesSteps: false,
    errors: [startIssue(source, message)],
    warnings: [],
  }
}

/** Reports a failure without a known position at the start of the document. */
function startIssue(source: TemplateSource, message: string): CompileIssue {
  const firstLine = source.content.slice(0, 120).split(/\r\n|\r|\n/, 1)[0] ?? ''
  return {
    code: 'limit-exceeded',
    message,
    path: source.path,
    line: 1,
    column: 1,
    frame: `  1 | ${firstLine}\n    | ^`,
  }
}

function compileError(issue: CompileIssue): RunError {
  const { code, message, ...position } = issue
  const where = `${issue.path}:${issue.line}:${issue.column}`
  return new RunError('chain_compile_error', `${where} ${message}`, { details: { compileCode: code, ...position } })
}

/** Remembers which evaluations recently crashed their worker process. */
export interface DeathRecord {
  /** @param text workspace and text. @param cause the evaluation's input. */
  note(text: string, cause: string): void
  /** @param cause called only for a recorded text, because it may be expensive. */
  isRefused(text: string, cause: () => string): boolean
}

const MAX_DEATHS = 3
const WINDOW_MS = 60_000
const MAX_TEXTS = 10_000
const MAX_CAUSES_PER_TEXT = 20

export function createDeathRecord(now: () => number = () => performance.now()): DeathRecord {
  const texts = new LRUCache<string, LRUCache<string, number[]>>({ max: MAX_TEXTS })
  return {
    note(text, cause) {
      const causes = texts.get(text) ?? new LRUCache<string, number[]>({ max: MAX_CAUSES_PER_TEXT })
      const recent = (causes.get(cause) ?? []).filter((at) => at > now() - WINDOW_MS)
      causes.set(cause, [...recent, now()].slice(-MAX_DEATHS))
      texts.set(text, causes)
    },
    isRefused(text, cause) {
      const noted = texts.get(text)?.get(cause()) ?? []
      const last = noted.at(-1)
      return noted.length >= MAX_DEATHS && last !== undefined && last > now() - WINDOW_MS
    },
  }
}
