import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp, readdir, readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createTemplateEngine } from '../../../src/adapters/template-workers/engine.ts'
import type { PoolMetrics } from '../../../src/adapters/template-workers/pool.ts'
import type {
  AnswerCheck,
  EvaluationOwner,
  StructuredAnswer,
  TemplateEngine,
  TemplateScan,
  TemplateSource,
  TemplateStep,
  TemplateStepInput,
} from '../../../src/features/templates/template-engine.ts'
import { AppError, RunError } from '../../../src/shared/app-error.ts'
import type { Logger } from '../../../src/shared/logger.ts'

const packageRoot = fileURLToPath(new URL('../../..', import.meta.url))
const workerFile = join(packageRoot, 'dist', 'template-worker.mjs')
const sources = ['src/adapters/template-workers', '../template/src'].map((folder) => join(packageRoot, folder))

async function newestChange(): Promise<number> {
  const listed = await Promise.all(
    sources.map(async (folder) => (await readdir(folder, { recursive: true })).map((name) => join(folder, name))),
  )
  const times = await Promise.all(listed.flat().map(async (file) => (await stat(file)).mtimeMs))
  return Math.max(...times)
}

/**
 * Returns the bundled worker process. If a source is newer, it builds another file, because other tests use the
 * existing one.
 */
export async function builtWorker(): Promise<string> {
  const built = await stat(workerFile).then(
    (found) => found.mtimeMs,
    () => 0,
  )
  if (built >= (await newestChange())) return workerFile
  beside ??= buildBeside()
  return beside
}

let beside: Promise<string> | undefined

async function buildBeside(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stet-child-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const tsdown = join(dirname(createRequire(import.meta.url).resolve('tsdown')), 'run.mjs')
  const args = [tsdown, '--filter', 'template-worker', '--out-dir', folder]
  await promisify(execFile)(process.execPath, args, { cwd: packageRoot })
  return join(folder, 'template-worker.mjs')
}

const silent = (): void => undefined
export const quietLog: Logger = { error: silent, warn: silent, info: silent, debug: silent }

export interface EngineSettings {
  poolSize?: number
  timeoutMs?: number
  maxPerKey?: number
  maxPerWorkspace?: number
}

/** Evaluations are charged to `workspaceOne` unless a test passes an owner. */
export interface TestEngine extends TemplateEngine {
  scan(source: TemplateSource, owner?: EvaluationOwner): Promise<TemplateScan>
  step(input: TemplateStepInput, owner?: EvaluationOwner): Promise<TemplateStep>
  checkAnswer(answer: StructuredAnswer, owner?: EvaluationOwner): Promise<AnswerCheck>
}

export const workspaceOne: EvaluationOwner = { workspaceId: 1, apiKeyId: 1 }

const quietMetrics: PoolMetrics = { evaluationEnded() {}, workerDied() {} }

/** The limits of a server with default settings. */
export const defaults = {
  ...{ poolSize: 2, timeoutMs: 1_000, maxPerKey: 1_000, maxPerWorkspace: 2_000 },
  log: quietLog,
  metrics: quietMetrics,
}

export async function startEngine(settings: EngineSettings = {}): Promise<TestEngine> {
  return charged(createTemplateEngine({ ...defaults, workerFile: await builtWorker(), ...settings }))
}

export function charged(engine: TemplateEngine): TestEngine {
  return {
    scan: (source, owner = workspaceOne) => engine.scan(source, owner),
    step: (input, owner = workspaceOne) => engine.step(input, owner),
    checkAnswer: (answer, owner = workspaceOne) => engine.checkAnswer(answer, owner),
    known: engine.known,
    inTurn: (owner, work) => engine.inTurn(owner, work),
    close: () => engine.close(),
  }
}

/** Repeats a call if the machine was too busy to give a worker process CPU time. */
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
    known: engine.known,
    inTurn: (owner, work) => engine.inTurn(owner, work),
    close: () => engine.close(),
  }
}

const hadNoTurn = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'ServiceUnavailableError' && error.details['retryAfter'] !== undefined

export const now = '2026-01-02T03:04:05.000Z'

export const endless = '{{ l = [1] }}{{ for x in l }}{{ l.push(x) }}{{ endfor }}'

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

/** Returns the pids of this process's template worker processes. Linux only. */
export async function workerPids(): Promise<number[]> {
  const found = await readdir('/proc')
  const pids = found.filter((name) => /^\d+$/.test(name))
  const ours = await Promise.all(
    pids.map(async (pid) => {
      const [status, command] = await Promise.all([read(`/proc/${pid}/stat`), read(`/proc/${pid}/cmdline`)])
      const parent = status.slice(status.lastIndexOf(')') + 2).split(' ')[1]
      return Number(parent) === process.pid && command.includes('template-worker') ? [Number(pid)] : []
    }),
  )
  return ours.flat()
}

function read(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '')
}
