import { createHash } from 'node:crypto'
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
import { AppError, RunError } from '../../shared/app-error.ts'
import type { Logger } from '../../shared/logger.ts'
import { isolation } from './isolation.ts'
import { createTemplatePool, type PoolCall, type PoolOutcome, type TemplatePool } from './pool.ts'
import { issueResult, scanResult, stepResult } from './reply.ts'
import { createScanCache, type ScanCache, type ScanReading } from './scan-cache.ts'
import { createDeathRecord, type DeathRecord } from './scheduling/death-record.ts'
import { createTurns } from './scheduling/turns.ts'
import { joinSlots, slotPlanOf } from './slot-plan.ts'

export interface TemplateSandboxOptions {
  /** The bundled child, `dist/template-child.mjs`. */
  childFile: string
  poolSize?: number
  timeoutMs?: number
  /** Queued and running evaluations of one API key; more are refused. */
  maxPerKey?: number
  maxPerWorkspace?: number
  log: Logger
}

interface Sandbox {
  pool: TemplatePool
  cache: ScanCache
  deaths: DeathRecord
  /** Texts whose last scan, or step, was answered, by workspace. */
  proven: Set<string>
}

const MAX_PROVEN = 10_000
const OVERLOADED = 'Too many prompts wait for evaluation'
const RETRY_AFTER_SECONDS = 1
const REFUSED = 'This prompt ended its evaluation several times within a minute; try again in a minute'

/** Evaluates prompts in locked-down child processes; the serving process never loads the template engine. */
export function createTemplateSandbox(options: TemplateSandboxOptions): TemplateEngine {
  const { childFile, poolSize = 2, timeoutMs = 1_000, maxPerKey = 1_000, maxPerWorkspace = 2_000, log } = options
  const { network, limits } = isolation()
  const isComplete = network === 'namespace' && limits === 'kernel'
  log[isComplete ? 'debug' : 'info']('template.isolation', { network, limits })
  const sandbox: Sandbox = {
    pool: createTemplatePool({ childFile, size: poolSize, timeoutMs, maxPerKey, maxPerWorkspace, log }),
    cache: createScanCache(),
    deaths: createDeathRecord(),
    proven: new Set(),
  }
  return {
    scan: (source, owner) => scan(sandbox, source, owner),
    step: (input, owner) => step(sandbox, input, owner),
    inTurn: createTurns({ perKey: maxPerKey, perWorkspace: maxPerWorkspace }, tooMany),
    close: () => sandbox.pool.close(),
  }
}

// A source stays the same object while its document is in memory: each is hashed once, not for each run.
const hashes = new WeakMap<TemplateSource, string>()

function hashOf(source: TemplateSource): string {
  const known = hashes.get(source)
  if (known !== undefined) return known
  const hash = computeHash(source)
  hashes.set(source, hash)
  return hash
}

function computeHash(source: TemplateSource): string {
  const documents = Object.entries(source.documents).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([source.path, source.content, documents]))
    .digest('base64')
}

/** The same text in another workspace is another one: neither its fate nor its place in the queue is shared. */
function keyOf(owner: EvaluationOwner, source: TemplateSource): string {
  return `${owner.workspaceId}:${hashOf(source)}`
}

/** Callers of one text at one time share its scan; when the one whose scan it was leaves, another one asks again. */
async function scan(sandbox: Sandbox, source: TemplateSource, owner: EvaluationOwner): Promise<TemplateScan> {
  const text = keyOf(owner, source)
  for (;;) {
    try {
      return await sandbox.cache.get(text, () => readScan(sandbox, text, source, owner))
    } catch (error) {
      if (!(error instanceof EvaluationCanceled) || owner.signal?.aborted) throw error
    }
  }
}

async function readScan(
  sandbox: Sandbox,
  text: string,
  source: TemplateSource,
  owner: EvaluationOwner,
): Promise<ScanReading> {
  const cause = (): string => 'scan'
  if (sandbox.deaths.isRefused(text, cause)) return { scan: failedScan(source, REFUSED), isLasting: false }
  const outcome = await call(sandbox, { text, cause, owner, request: { operation: 'scan', source } })
  if (outcome.kind !== 'reply') return { scan: failedScan(source, failureText(outcome)), isLasting: false }
  const { reply } = outcome
  const read = 'result' in reply ? scanResult.safeParse(reply.result) : undefined
  if (read?.success) {
    const { slots, ...found } = read.data
    return { scan: found as TemplateScan, slots: slots && slotPlanOf(slots, found.config), isLasting: true }
  }
  return { scan: failedScan(source, 'failure' in reply ? reply.failure : INVALID_REPLY), isLasting: false }
}

async function step(sandbox: Sandbox, input: TemplateStepInput, owner: EvaluationOwner): Promise<TemplateStep> {
  const { source, ...rest } = input
  const text = keyOf(owner, source)
  const slots = input.state === undefined ? sandbox.cache.slotsOf(text) : undefined
  const joined = slots && joinSlots(slots, input.parameters)
  if (joined) return joined
  const cause = (): string => stepCause(input)
  if (sandbox.deaths.isRefused(text, cause)) throw compileError(startIssue(source, REFUSED))
  const outcome = await call(sandbox, { text, cause, owner, request: { operation: 'step', source, step: rest } })
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

/** All that a step depends on beside its text, without the time. */
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

/** An evaluation that had its turn: its reply, or what it did to its worker process. */
type Answered = Extract<PoolOutcome, { kind: 'reply' | 'timeout' | 'died' }>

/** @throws AppError ServiceUnavailableError when it never had its turn; EvaluationCanceled when the caller left. */
async function call(sandbox: Sandbox, { text, cause, owner, request }: Evaluation): Promise<Answered> {
  const key = request.operation + text
  const outcome = await sandbox.pool.call({ request, owner, isProven: sandbox.proven.has(key) })
  if (outcome.kind === 'canceled') throw new EvaluationCanceled()
  if (outcome.kind === 'closed') throw new AppError('ServiceUnavailableError', 'The server is stopping')
  if (outcome.kind === 'refused') throw tooMany(outcome.limitOf)
  if (outcome.kind === 'overloaded' || outcome.kind === 'starved') throw overloaded(OVERLOADED)
  sandbox.proven.delete(key)
  if (outcome.kind === 'reply') sandbox.proven.add(key)
  else sandbox.deaths.note(text, cause())
  const oldest = sandbox.proven.size > MAX_PROVEN ? sandbox.proven.keys().next().value : undefined
  if (oldest !== undefined) sandbox.proven.delete(oldest)
  return outcome
}

function tooMany(limitOf: string): AppError {
  return overloaded(`This ${limitOf} has too many prompts in evaluation`)
}

function overloaded(message: string): AppError {
  return new AppError('ServiceUnavailableError', message, { details: { retryAfter: RETRY_AFTER_SECONDS } })
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

/** A failure without a known position stands at the start of the document. */
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
