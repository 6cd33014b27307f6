import { createHash } from 'node:crypto'
import type {
  CompileIssue,
  TemplateEngine,
  TemplateScan,
  TemplateSource,
  TemplateStep,
  TemplateStepInput,
} from '../../features/templates/template-engine.ts'
import { AppError, RunError } from '../../shared/app-error.ts'
import type { Logger } from '../../shared/logger.ts'
import { createDeathRecord, type DeathRecord } from './death-record.ts'
import { createTemplatePool, type PoolOutcome, type TemplatePool } from './pool.ts'
import { issueResult, scanResult, stepResult } from './reply.ts'
import { createScanCache, type ScanCache } from './scan-cache.ts'
import { joinSlots, slotPlanOf } from './slot-plan.ts'

export interface TemplateSandboxOptions {
  /** The bundled child, `dist/template-child.mjs`. */
  childFile: string
  poolSize?: number
  timeoutMs?: number
  log: Logger
}

interface Sandbox {
  pool: TemplatePool
  cache: ScanCache
  deaths: DeathRecord
  /** Texts whose last scan, or step, was answered. */
  proven: Set<string>
}

const MAX_PROVEN = 10_000
const OVERLOADED = 'Too many prompts wait for evaluation'
const REFUSED = 'This prompt ended its evaluation several times within a minute; try again in a minute'

/** Evaluates prompts in locked-down child processes; the serving process never loads the template engine. */
export function createTemplateSandbox(options: TemplateSandboxOptions): TemplateEngine {
  const { childFile, poolSize = 2, timeoutMs = 1_000, log } = options
  const sandbox: Sandbox = {
    pool: createTemplatePool({ childFile, size: poolSize, timeoutMs, log }),
    cache: createScanCache(),
    deaths: createDeathRecord(),
    proven: new Set(),
  }
  return {
    scan: (source) => scan(sandbox, source),
    step: (input) => step(sandbox, input),
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

function scan(sandbox: Sandbox, source: TemplateSource): Promise<TemplateScan> {
  const hash = hashOf(source)
  return sandbox.cache.get(hash, async () => {
    if (sandbox.deaths.isRefused(hash)) return { scan: failedScan(source, REFUSED), isLasting: false }
    const outcome = await call(sandbox, hash, { operation: 'scan', source })
    if (outcome.kind !== 'reply') return { scan: failedScan(source, failureText(outcome)), isLasting: false }
    const { reply } = outcome
    const read = 'result' in reply ? scanResult.safeParse(reply.result) : undefined
    if (read?.success) {
      const { slots, ...found } = read.data
      return { scan: found as TemplateScan, slots: slots && slotPlanOf(slots, found.config), isLasting: true }
    }
    return { scan: failedScan(source, 'failure' in reply ? reply.failure : INVALID_REPLY), isLasting: false }
  })
}

async function step(sandbox: Sandbox, input: TemplateStepInput): Promise<TemplateStep> {
  const { source, ...rest } = input
  const hash = hashOf(source)
  const slots = input.state === undefined ? sandbox.cache.slotsOf(hash) : undefined
  const joined = slots && joinSlots(slots, input.parameters)
  if (joined) return joined
  if (sandbox.deaths.isRefused(hash)) throw compileError(startIssue(source, REFUSED))
  const outcome = await call(sandbox, hash, { operation: 'step', source, step: rest })
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

/** Of a text whose turn came: what it evaluates to, or what it did to its child. */
type Answered = Extract<PoolOutcome, { kind: 'reply' | 'timeout' | 'died' }>

/** @throws for a text that never had its turn: AppError ServiceUnavailableError before a run, RunError within one. */
async function call(sandbox: Sandbox, hash: string, request: Parameters<TemplatePool['call']>[0]): Promise<Answered> {
  const key = request.operation + hash
  const outcome = await sandbox.pool.call(request, sandbox.proven.has(key))
  if (outcome.kind === 'closed') throw new AppError('ServiceUnavailableError', 'The server is stopping')
  if (outcome.kind === 'overloaded' || outcome.kind === 'starved') {
    throw request.operation === 'scan'
      ? new AppError('ServiceUnavailableError', OVERLOADED)
      : new RunError('unknown_error', OVERLOADED)
  }
  sandbox.proven.delete(key)
  if (outcome.kind === 'reply') sandbox.proven.add(key)
  else sandbox.deaths.note(hash)
  const oldest = sandbox.proven.size > MAX_PROVEN ? sandbox.proven.keys().next().value : undefined
  if (oldest !== undefined) sandbox.proven.delete(oldest)
  return outcome
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
