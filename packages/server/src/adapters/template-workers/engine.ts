/**
 * Evaluates prompts in sandboxed worker processes. Most slot plans are joined here instead. The server process never
 * loads the template engine.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { z } from 'zod'
import {
  type AnswerCheck,
  CompileFailure,
  type CompileIssue,
  type EvaluationOwner,
  type StructuredAnswer,
  type TemplateEngine,
  type TemplateScan,
  type TemplateSource,
  type TemplateStep,
  type TemplateStepInput,
} from '../../features/templates/template-engine.ts'
import { createTurns } from './fair-queue.ts'
import { isolation } from './isolation.ts'
import { createKnownTexts } from './known-texts.ts'
import { createTemplatePool, type PoolCall, type PoolOptions, type TemplatePool } from './pool.ts'
import { answerResult, issueResult, scanResult, stepResult } from './replies.ts'
import { createScanCache } from './scan-cache.ts'
import { joinSlots, slotPlanOf } from './slot-plan.ts'

interface Workers {
  pool: TemplatePool
  deaths: ReturnType<typeof createDeathRecord>
  /** Texts whose last evaluation stayed within its limits. A key consists of the operation, workspace and text. */
  proven: LRUCache<string, true>
}

const INVALID_REPLY = 'The evaluation gave no valid answer'

export function createTemplateEngine(options: PoolOptions): TemplateEngine & { waiting(): number } {
  const { maxPerKey: perKey, maxPerWorkspace: perWorkspace, log } = options
  void isolation().then(({ network, limits }) => {
    const isComplete = network === 'namespace' && limits === 'kernel'
    log[isComplete ? 'debug' : 'info']('template.isolation', { network, limits })
  })
  const workers: Workers = {
    pool: createTemplatePool(options),
    deaths: createDeathRecord(),
    proven: new LRUCache({ max: 10_000 }),
  }
  const scans = createScanCache()
  return {
    scan(source, owner) {
      const text = keyOf(owner, source)
      return scans.get(text, () => readScan(workers, text, source, owner))
    },
    async step(input, owner) {
      const joined = input.slots && joinSlots(input.slots, input.parameters)
      return joined ?? renderStep(workers, input, owner)
    },
    checkAnswer: (answer, owner) => checkAnswer(workers, answer, owner),
    known: createKnownTexts(),
    inTurn: createTurns({ perKey, perWorkspace }),
    waiting: workers.pool.waiting,
    close: () => workers.pool.close(),
  }
}

/** Includes the workspace, so that each workspace has its own cached scans, failures and proven texts. */
function keyOf(owner: EvaluationOwner, { path, content, documents }: TemplateSource): string {
  const sorted = Object.entries(documents).sort(([a], [b]) => (a < b ? -1 : 1))
  return `${owner.workspaceId}:${hashOf([path, content, sorted])}`
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64')
}

async function readScan(
  workers: Workers,
  text: string,
  source: TemplateSource,
  owner: EvaluationOwner,
): Promise<TemplateScan> {
  const request = { operation: 'scan', source } as const
  const found = await evaluate(workers, scanResult, { text, cause: () => 'scan', owner, request })
  if ('failure' in found) return failedScan(source, startIssue(source, found.failure))
  if ('issue' in found) return failedScan(source, found.issue)
  const { slots, ...scan } = found.result
  const plan = slots && slotPlanOf(slots, scan.config)
  return { ...(scan as TemplateScan), slots: plan }
}

async function renderStep(workers: Workers, input: TemplateStepInput, owner: EvaluationOwner): Promise<TemplateStep> {
  const { source, slots: _slots, ...step } = input
  const { parameters, state, answer } = step
  // Hashes everything that the step depends on, except the text and the time.
  const cause = (): string => hashOf([parameters, state ?? null, answer ?? null])
  const request = { operation: 'step', source, step } as const
  const found = await evaluate(workers, stepResult, { text: keyOf(owner, source), cause, owner, request })
  if ('failure' in found) throw new CompileFailure(startIssue(source, found.failure))
  if ('issue' in found) throw new CompileFailure(found.issue)
  return found.result as TemplateStep
}

async function checkAnswer(
  workers: Workers,
  { schema, value }: StructuredAnswer,
  owner: EvaluationOwner,
): Promise<AnswerCheck> {
  const request = { operation: 'answer', schema, value } as const
  const text = `${owner.workspaceId}:${hashOf(schema)}`
  const found = await evaluate(workers, answerResult, { text, cause: () => hashOf(value), owner, request })
  if ('result' in found) return { issues: found.result }
  return { failure: 'failure' in found ? found.failure : INVALID_REPLY }
}

/** @throws AppError ServiceUnavailableError if the pool is busy or closed; EvaluationCanceled after a disconnect. */
async function evaluate<T>(
  { pool, deaths, proven }: Workers,
  schema: z.ZodType<T>,
  { text, cause, ...call }: Omit<PoolCall, 'isProven'> & { text: string; cause: () => string },
): Promise<{ result: T } | { issue: CompileIssue } | { failure: string }> {
  const failed = (failure: string) => ({ failure })
  if (deaths.isRefused(text, cause)) {
    return failed('This prompt ended its evaluation several times within a minute; try again in a minute')
  }
  const key = call.request.operation + text
  const outcome = await pool.call({ ...call, isProven: proven.has(key) })
  proven.delete(key)
  if (outcome.kind !== 'reply') {
    deaths.note(text, cause())
    const wasSlow = outcome.kind === 'timeout'
    return failed(`The evaluation ${wasSlow ? 'took too long' : 'used too much memory or was ended'}`)
  }
  proven.set(key, true)
  const { reply } = outcome
  if ('failure' in reply) return failed(reply.failure)
  if ('issue' in reply) {
    const issue = issueResult.safeParse(reply.issue)
    return issue.success ? { issue: issue.data as CompileIssue } : failed(INVALID_REPLY)
  }
  const result = schema.safeParse(reply.result)
  return result.success ? { result: result.data } : failed(INVALID_REPLY)
}

function failedScan(source: TemplateSource, issue: CompileIssue): TemplateScan {
  const nothing = { config: {}, parameters: [], references: [], missing: [], usesSteps: false, warnings: [] }
  return { ...nothing, resolvedContent: source.content, errors: [issue], isTemporary: true }
}

/** Places the failure at the start of the document, because its position is unknown. */
function startIssue({ path, content }: TemplateSource, message: string): CompileIssue {
  const firstLine = content.slice(0, 120).split(/\r\n|\r|\n/, 1)[0] ?? ''
  const frame = `  1 | ${firstLine}\n    | ^`
  return { code: 'limit-exceeded', message, path, line: 1, column: 1, frame }
}

const WINDOW_MS = 60_000

/**
 * Records evaluations that crashed their worker process or reached the time limit. `text` identifies the workspace and
 * the text. `cause` identifies the input.
 */
export function createDeathRecord(now = () => performance.now()) {
  // Holds the times of the last three deaths for each text and cause, and an empty list for each text.
  const deaths = new LRUCache<string, number[]>({ max: 20_000 })
  return {
    note(text: string, cause: string): void {
      const key = `${text} ${cause}`
      deaths.set(text, [])
      deaths.set(key, [...(deaths.get(key) ?? []), now()].slice(-3))
    },
    /** @param cause called only for a recorded text, because hashing the input may be expensive. */
    isRefused(text: string, cause: () => string): boolean {
      if (!deaths.has(text)) return false
      const [first, , third] = deaths.get(`${text} ${cause()}`) ?? []
      if (first === undefined || third === undefined) return false
      return third - first < WINDOW_MS && now() - third < WINDOW_MS
    },
  }
}
