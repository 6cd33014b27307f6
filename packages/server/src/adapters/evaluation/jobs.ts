/** The jobs of an evaluation, in the server's thread or in the evaluation thread. */
import {
  CallerLimitError,
  type CompiledPrompt,
  type CompileIssue,
  CompileIssueError,
  type CompileLimits,
  compilePrompt,
  type PromptSource,
  renderStep,
  type StepInput,
  scanOf,
} from '@stet/template'
import { schemaIssues, schemaToTry } from '@stet/template/answer-schema'
import { LRUCache } from 'lru-cache'
import type { ForeignRule } from '../../features/templates/template-engine.ts'

interface PromptOf {
  workspaceId: number
  source: PromptSource
}

export type PromptJob = ({ operation: 'scan' } & PromptOf) | ({ operation: 'step'; step: StepInput } & PromptOf)

/** An answer is checked against the schema of its prompt, or scored by a rule. Only the thread can do that. */
export type ThreadJob =
  | { operation: 'answer'; schema: Record<string, unknown>; value: unknown }
  | { operation: 'score'; rule: ForeignRule }
export type Job = PromptJob | ThreadJob

/** `isLimit` is set if the job took too much time or memory. */
export type JobReply<Result = unknown> =
  | { result: Result }
  | { issue: CompileIssue }
  | { failure: string; isLimit?: boolean }

export interface JobLimits extends CompileLimits {
  fuel?: number
  /** False if a job that has to try a schema exceeds the limits: a pattern may take endless time. */
  triesSchemas?: boolean
}

/** A syntax tree uses up to about 150 bytes per character. */
const maxCachedCharacters = 200_000

/** @throws CallerLimitError if the job exceeds `limits` */
export type Perform = (job: PromptJob, limits?: JobLimits) => JobReply

export function createPerform(): Perform {
  const compiled = new LRUCache<string, CompiledPrompt>({
    max: 500,
    maxSize: maxCachedCharacters,
    sizeCalculation: ({ resolvedContent }, key) => key.length + resolvedContent.length,
  })
  return (job, limits = {}) => {
    try {
      const { path, content, documents } = job.source
      // With a shared cache, response times would show a workspace which texts others have.
      const key = JSON.stringify([job.workspaceId, path, content, documents])
      const known = compiled.get(key)
      const prompt = known ?? compilePrompt(job.source, limits)
      if (!known) {
        freezeAll(prompt.config)
        compiled.set(key, prompt)
      }
      if (job.operation === 'scan') return { result: scanned(prompt, job, limits) }
      const result = renderStep(prompt, job.step, limits.fuel)
      if (result.done || schemaToTry(prompt.config, result.config) === undefined) return { result }
      const [issue] = triedSchema(job.source, limits, prompt.config, result.config)
      return issue ? { issue } : { result }
    } catch (error) {
      if (error instanceof CompileIssueError) return { issue: error.issue }
      throw error
    }
  }
}

type Config = CompiledPrompt['config']

/** All runs of a workspace with the same text share its front matter. */
function freezeAll(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const child of Object.values(value)) freezeAll(child)
}

function scanned(prompt: CompiledPrompt, { source }: PromptJob, limits: JobLimits) {
  const scan = scanOf(prompt)
  return { ...scan, errors: [...scan.errors, ...triedSchema(source, limits, scan.config)] }
}

function triedSchema(source: PromptSource, { triesSchemas = true }: JobLimits, front: Config, step?: Config) {
  if (!triesSchemas && schemaToTry(front, step) !== undefined) throw new CallerLimitError()
  return schemaIssues(source, front, step)
}
