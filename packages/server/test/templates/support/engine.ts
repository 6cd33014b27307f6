import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp, readdir, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createEvaluator } from '../../../src/adapters/evaluation/evaluator.ts'
import type { EvaluationMetrics } from '../../../src/adapters/evaluation/thread-queue.ts'
import type {
  AnswerCheck,
  EvaluationOwner,
  ForeignRule,
  RuleOutcome,
  StructuredAnswer,
  TemplateEngine,
  TemplateScan,
  TemplateSource,
  TemplateStep,
  TemplateStepInput,
} from '../../../src/features/templates/template-engine.ts'
import { AppError, RunError } from '../../../src/shared/app-error.ts'
import type { Logger } from '../../../src/shared/telemetry.ts'

const packageRoot = fileURLToPath(new URL('../../..', import.meta.url))
const threadFile = join(packageRoot, 'dist', 'evaluation-thread.mjs')
const sources = ['src/adapters/evaluation', '../template/src'].map((folder) => join(packageRoot, folder))

async function newestChange(): Promise<number> {
  const listed = await Promise.all(
    sources.map(async (folder) => (await readdir(folder, { recursive: true })).map((name) => join(folder, name))),
  )
  const times = await Promise.all(listed.flat().map(async (file) => (await stat(file)).mtimeMs))
  return Math.max(...times)
}

/**
 * Returns the bundled evaluation thread. If a source is newer, it builds another file, because other tests use the
 * existing one.
 */
export async function builtThread(): Promise<string> {
  const built = await stat(threadFile).then(
    (found) => found.mtimeMs,
    () => 0,
  )
  if (built >= (await newestChange())) return threadFile
  beside ??= buildBeside()
  return beside
}

let beside: Promise<string> | undefined

async function buildBeside(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stet-thread-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const tsdown = join(dirname(createRequire(import.meta.url).resolve('tsdown')), 'run.mjs')
  const args = [tsdown, '--filter', 'evaluation-thread', '--out-dir', folder]
  await promisify(execFile)(process.execPath, args, { cwd: packageRoot })
  return join(folder, 'evaluation-thread.mjs')
}

const silent = (): void => undefined
export const quietLog: Logger = { error: silent, warn: silent, info: silent, debug: silent }

export interface EngineSettings {
  timeoutMs?: number
  maxPerKey?: number
  maxPerWorkspace?: number
  metrics?: EvaluationMetrics
  log?: Logger
}

/** Evaluations are charged to `workspaceOne` unless a test passes an owner. */
export interface TestEngine extends TemplateEngine {
  scan(source: TemplateSource, owner?: EvaluationOwner): Promise<TemplateScan>
  step(input: TemplateStepInput, owner?: EvaluationOwner): Promise<TemplateStep>
  checkAnswer(answer: StructuredAnswer, owner?: EvaluationOwner): Promise<AnswerCheck>
  applyRule(rule: ForeignRule, owner?: EvaluationOwner): Promise<RuleOutcome>
}

export const workspaceOne: EvaluationOwner = { workspaceId: 1, apiKeyId: 1 }

const quietMetrics: EvaluationMetrics = { evaluationEnded() {}, evaluationWaited() {}, workerDied() {} }

/** The limits of a server with default settings. */
export const defaults = {
  ...{ timeoutMs: 2_000, maxPerKey: 1_000, maxPerWorkspace: 2_000 },
  log: quietLog,
  metrics: quietMetrics,
}

export async function startEngine(settings: EngineSettings = {}): Promise<TestEngine> {
  return charged(createEvaluator({ ...defaults, threadFile: await builtThread(), ...settings }))
}

export function charged(engine: TemplateEngine): TestEngine {
  return {
    scan: (source, owner = workspaceOne) => engine.scan(source, owner),
    step: (input, owner = workspaceOne) => engine.step(input, owner),
    checkAnswer: (answer, owner = workspaceOne) => engine.checkAnswer(answer, owner),
    applyRule: (rule, owner = workspaceOne) => engine.applyRule(rule, owner),
    known: engine.known,
    inTurn: (owner, work) => engine.inTurn(owner, work),
    close: () => engine.close(),
  }
}

/** Repeats a call if the machine was too busy to give the thread CPU time. */
export function patient(engine: TestEngine): TestEngine {
  const ask = async <T>(call: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await call()
      } catch (error) {
        if (!hadNoTurn(error)) throw error
      }
    }
  }
  return {
    scan: (source, owner) => ask(() => engine.scan(source, owner)),
    step: (input, owner) => ask(() => engine.step(input, owner)),
    checkAnswer: (answer, owner) => ask(() => engine.checkAnswer(answer, owner)),
    applyRule: (rule, owner) => ask(() => engine.applyRule(rule, owner)),
    known: engine.known,
    inTurn: (owner, work) => engine.inTurn(owner, work),
    close: () => engine.close(),
  }
}

const hadNoTurn = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'ServiceUnavailableError' && error.details['retryAfter'] !== undefined

export const now = '2026-01-02T03:04:05.000Z'

export const endless = '{{ l = [1] }}{{ for x in l }}{{ l.push(x) }}{{ endfor }}'

/** An answer whose check takes endless time, and so ends the thread. */
export const endlessAnswer: StructuredAnswer = {
  schema: { type: 'string', pattern: '^(a+)+$' },
  value: `${'a'.repeat(60)}b`,
}

/** Takes more work than the server's own thread does. */
export const long = '{{ for x in list }}{{ for y in list }}{{ n = x + y }}{{ endfor }}{{ endfor }}'
export const longList = Array.from({ length: 200 }, (_, index) => index)

export function sourceOf(content: string, documents: Record<string, string> = {}): TemplateSource {
  return { path: 'folder/prompt', content, documents }
}

export function firstStep(
  engine: TestEngine,
  content: string,
  parameters: Record<string, unknown> = {},
  owner?: EvaluationOwner,
): Promise<TemplateStep> {
  return engine.step({ source: sourceOf(content), parameters, now }, owner)
}

export async function rendered(
  engine: TestEngine,
  content: string,
  parameters: Record<string, unknown> = {},
  owner?: EvaluationOwner,
): Promise<string> {
  const step = await firstStep(engine, content, parameters, owner)
  if (step.done) throw new Error('The first step is never done')
  return step.input.flatMap((message) => message.content.map((part) => String(part['text']))).join('\n')
}

/** Returns the compile error code, a marker for a call that never started, or the rendered text. */
export async function outcome(
  engine: TestEngine,
  content: string,
  parameters: Record<string, unknown> = {},
  owner?: EvaluationOwner,
): Promise<{ code: string } | { text: string }> {
  try {
    return { text: await rendered(engine, content, parameters, owner) }
  } catch (error) {
    if (error instanceof RunError) return { code: String(error.details['compileCode'] ?? error.code) }
    if (hadNoTurn(error)) return { code: 'overloaded' }
    throw error
  }
}
