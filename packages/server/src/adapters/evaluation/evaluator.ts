/**
 * Evaluates prompts: the first units of work in the server's thread, and anything longer again from the beginning in the
 * evaluation thread. An evaluation changes nothing, so it can be repeated.
 */
import { createHash } from 'node:crypto'
import { CallerLimitError } from '@stet/template'
import { LRUCache } from 'lru-cache'
import {
  type AnswerCheck,
  CompileFailure,
  type CompileIssue,
  type EvaluationOwner,
  type ForeignRule,
  type RuleOutcome,
  type StructuredAnswer,
  type TemplateEngine,
  type TemplateScan,
  type TemplateSource,
  type TemplateStep,
  type TemplateStepInput,
} from '../../features/templates/template-engine.ts'
import type { Logger } from '../../shared/telemetry.ts'
import { createPerform, type Job, type JobReply, type Perform, type PromptJob } from './jobs.ts'
import { createKnownTexts, createScanCache } from './scan-cache.ts'
import { createDeathRecord } from './thread.ts'
import { createThreadQueue, createTurns, type ThreadQueue, type ThreadQueueOptions } from './thread-queue.ts'

export interface EvaluatorOptions extends ThreadQueueOptions {
  log: Logger
}

interface Evaluator {
  options: EvaluatorOptions
  perform: Perform
  share: ReturnType<typeof createInlineShare>
  queue: ThreadQueue
  deaths: ReturnType<typeof createDeathRecord>
}

/** The work that may be done in the server's thread: 1 to 2 ms. */
const inlineLimits = { fuel: 10_000, maxTextChars: 16_384, maxFrontMatterChars: 4_096, triesSchemas: false }
/** More CPU time for an evaluation in the server's thread is a fault of the evaluator, and logged. */
const stallMs = 50
/** Measures the thread from Node.js 23.9 and 22.19 on, before that the process. */
const { threadCpuUsage: cpuUsage = process.cpuUsage } = process as { threadCpuUsage?: typeof process.cpuUsage }

export function createEvaluator(options: EvaluatorOptions): TemplateEngine & { waiting(): number } {
  const evaluator: Evaluator = {
    options,
    perform: createPerform(),
    share: createInlineShare(),
    queue: createThreadQueue(options),
    deaths: createDeathRecord(),
  }
  const scans = createScanCache()
  const lists = createTurns({ perKey: options.maxPerKey, perWorkspace: options.maxPerWorkspace })
  return {
    scan(source, owner) {
      const text = keyOf(owner, source)
      return scans.get(text, () => readScan(evaluator, text, source, owner))
    },
    step: renderStep.bind(undefined, evaluator),
    checkAnswer: (answer, owner) => checkAnswer(evaluator, answer, owner),
    applyRule: (rule, owner) => applyRule(evaluator, rule, owner),
    known: createKnownTexts(),
    inTurn: (owner, work) => lists.take({ ...owner, isRun: false }, work),
    waiting: evaluator.queue.waiting,
    close: evaluator.queue.close,
  }
}

/** Includes the workspace, so that each workspace has its own cached scans and failures. */
function keyOf(owner: EvaluationOwner, { path, content, documents }: TemplateSource): string {
  const sorted = Object.entries(documents).sort(([a], [b]) => (a < b ? -1 : 1))
  return `${owner.workspaceId}:${hashOf([path, content, sorted])}`
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64')
}

interface Evaluation<J = PromptJob> {
  job: J
  owner: EvaluationOwner
  /** Identifies the workspace and the text. Called only if the evaluation goes to the thread. */
  text: () => string
  /** Identifies the rest of the input. */
  cause: () => string
}

async function readScan(
  evaluator: Evaluator,
  text: string,
  source: TemplateSource,
  owner: EvaluationOwner,
): Promise<TemplateScan> {
  const job = { operation: 'scan', workspaceId: owner.workspaceId, source } as const
  const found = await evaluate<TemplateScan>(evaluator, { job, owner, text: () => text, cause: () => 'scan' })
  if ('failure' in found) return failedScan(source, startIssue(source, found.failure))
  return 'issue' in found ? failedScan(source, found.issue) : found.result
}

async function renderStep(
  evaluator: Evaluator,
  input: TemplateStepInput,
  owner: EvaluationOwner,
): Promise<TemplateStep> {
  const { source, ...step } = input
  const { parameters, state, answer } = step
  const found = await evaluate<TemplateStep>(evaluator, {
    job: { operation: 'step', workspaceId: owner.workspaceId, source, step } as PromptJob,
    owner,
    text: () => keyOf(owner, source),
    cause: () => hashOf([parameters, state ?? null, answer ?? null]),
  })
  if ('failure' in found) throw new CompileFailure(startIssue(source, found.failure))
  if ('issue' in found) throw new CompileFailure(found.issue)
  return found.result
}

/** Always in the thread: a pattern of a schema may take endless time. */
async function checkAnswer(
  evaluator: Evaluator,
  { schema, value }: StructuredAnswer,
  owner: EvaluationOwner,
): Promise<AnswerCheck> {
  const found = await evaluateInThread<{ path: string; message: string }[]>(evaluator, {
    job: { operation: 'answer', schema, value },
    owner,
    text: () => `${owner.workspaceId}:${hashOf(schema)}`,
    cause: () => hashOf(value),
  })
  if ('issue' in found) return { failure: found.issue.message }
  return 'failure' in found ? { failure: found.failure } : { issues: found.result }
}

/** A rule that ends the thread twice is refused for a minute, whatever the value: many values meet the same rule. */
async function applyRule(evaluator: Evaluator, rule: ForeignRule, owner: EvaluationOwner): Promise<RuleOutcome> {
  const { text: _text, value: _value, ...itself } = { text: undefined, value: undefined, ...rule }
  const found = await evaluateInThread<string | null>(evaluator, {
    job: { operation: 'score', rule },
    owner,
    text: () => `${owner.workspaceId}:rule:${hashOf(itself)}`,
    cause: () => 'score',
  })
  if ('issue' in found) return { failure: found.issue.message, isLimit: false }
  return 'failure' in found ? { failure: found.failure, isLimit: found.isLimit === true } : { broken: found.result }
}

/** @throws AppError ServiceUnavailableError if too much waits or the server stops; EvaluationCanceled. */
async function evaluate<T>(evaluator: Evaluator, evaluation: Evaluation): Promise<JobReply<T>> {
  const { options, perform, share } = evaluator
  const { job, owner, text } = evaluation
  const { operation } = job
  const begunAt = performance.now()
  if (!share.has(owner.workspaceId, begunAt)) return evaluateInThread(evaluator, evaluation)
  const cpuBefore = cpuUsage()
  try {
    const reply = perform(job, inlineLimits)
    options.metrics.evaluationEnded({ operation, place: 'inline', seconds: (performance.now() - begunAt) / 1000 })
    return reply as JobReply<T>
  } catch (error) {
    if (!(error instanceof CallerLimitError)) {
      return { failure: error instanceof Error ? error.message : 'The evaluation failed' }
    }
  } finally {
    const ms = performance.now() - begunAt
    share.spend(owner.workspaceId, begunAt, ms)
    const { user, system } = cpuUsage(cpuBefore)
    const cpuMs = (user + system) / 1000
    if (cpuMs > stallMs) options.log.warn('template.stall', { ms: Math.round(cpuMs), prompt: text() })
  }
  return evaluateInThread(evaluator, evaluation)
}

async function evaluateInThread<T>(
  { options, queue, deaths }: Evaluator,
  { job, owner, text, cause }: Evaluation<Job>,
): Promise<JobReply<T>> {
  const failed = (failure: string) => ({ failure, isLimit: true })
  const key = text()
  if (deaths.isRefused(key, cause)) {
    return failed('This prompt ended its evaluation several times within a minute; try again in a minute')
  }
  const outcome = await queue.run(job, owner)
  if (outcome.kind !== 'reply') {
    deaths.note(key, cause())
    options.log.warn('template.thread-ended', { reason: outcome.kind })
    options.metrics.workerDied(outcome.kind)
    return failed(
      `The evaluation ${outcome.kind === 'timeout' ? 'took too long' : 'used too much memory or was ended'}`,
    )
  }
  return outcome.reply as JobReply<T>
}

function failedScan(source: TemplateSource, issue: CompileIssue): TemplateScan {
  const nothing = {
    config: {},
    parameters: [],
    references: [],
    missing: [],
    usesSteps: false,
    stepAgents: { paths: [], isComputed: false },
    warnings: [],
    issues: [],
  }
  return { ...nothing, resolvedContent: source.content, errors: [issue], isTemporary: true }
}

/** Places the failure at the start of the document, because its position is unknown. */
function startIssue({ path, content }: TemplateSource, message: string): CompileIssue {
  const firstLine = content.slice(0, 120).split(/\r\n|\r|\n/, 1)[0] ?? ''
  const frame = `  1 | ${firstLine}\n    | ^`
  return { code: 'limit-exceeded', message, path, line: 1, column: 1, frame }
}

/** The time that one workspace may use in the server's thread within a second. */
const shareMs = 50
const shareWindowMs = 1_000
const maxSharingWorkspaces = 10_000

/** All times are those of a monotonic clock in ms. */
export function createInlineShare() {
  const windows = new LRUCache<number, { since: number; ms: number }>({ max: maxSharingWorkspaces })
  return {
    has(workspaceId: number, now: number): boolean {
      const window = windows.get(workspaceId)
      return !window || now - window.since >= shareWindowMs || window.ms < shareMs
    },
    spend(workspaceId: number, now: number, ms: number): void {
      const window = windows.get(workspaceId)
      if (window && now - window.since < shareWindowMs) window.ms += ms
      else windows.set(workspaceId, { since: now, ms })
    },
  }
}
