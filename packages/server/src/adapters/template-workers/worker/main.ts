import {
  type CompiledPrompt,
  CompileIssueError,
  compilePrompt,
  type PromptSource,
  renderStep,
  type StepInput,
  scanOf,
  slotPlanOf,
} from '@stet/template'
import { answerIssues, schemaIssues } from '@stet/template/answer-schema'
import { LRUCache } from 'lru-cache'
import {
  encodeLine,
  lineReader,
  MAX_REPLY_BYTES,
  type WorkerReply,
  type WorkerRequest,
  wellFormedJson,
} from '../protocol.ts'
import { closeModules, lockDown } from './lockdown.ts'

/** A syntax tree uses up to about 150 bytes per character. A larger cache would take memory from calls. */
const compiled = new LRUCache<string, CompiledPrompt>({
  max: 50,
  maxSize: 200_000,
  sizeCalculation: ({ resolvedContent }, key) => key.length + resolvedContent.length,
})
const WARM_UP = '---\nmodel: none\n---\n{{ if a }}<user>{{ a.b }}</user>{{ else }}<step>{{ b = [1] }}</step>{{ endif }}'

const { stdin, stdout } = process

let current: number | undefined
let startedMs = 0
let calls = 0
let measured = { residentBytes: 0, heapBytes: 0 }

async function perform(request: WorkerRequest): Promise<unknown> {
  if (request.operation === 'answer') return answerIssues(request.schema, request.value)
  const prompt = await compiledPrompt(request.source)
  if (request.operation === 'scan') {
    const scan = scanOf(prompt)
    const errors = [...scan.errors, ...schemaIssues(request.source, scan.config)]
    return { ...scan, errors, slots: slotPlanOf(prompt) }
  }
  const step = await renderStep(prompt, request.step as StepInput)
  const [issue] = step.done ? [] : schemaIssues(request.source, prompt.config, step.config)
  if (issue) throw new CompileIssueError(issue)
  return step
}

async function compiledPrompt(source: PromptSource): Promise<CompiledPrompt> {
  const key = JSON.stringify([source.path, source.content, source.documents])
  const prompt = compiled.get(key) ?? (await compilePrompt(source))
  compiled.set(key, prompt)
  return prompt
}

async function reply(request: WorkerRequest): Promise<WorkerReply> {
  const { id } = request
  try {
    return { id, result: await perform(request) }
  } catch (error) {
    if (error instanceof CompileIssueError) return { id, issue: { ...error.issue } }
    return { id, failure: error instanceof Error ? error.message : 'The call failed' }
  }
}

/** Measures after calls of 5 ms or more and after every 16th call. A measurement costs as much as a small render. */
function memory(): typeof measured {
  if (calls % 16 === 0 || performance.now() - startedMs >= 5) {
    const { rss, heapUsed } = process.memoryUsage()
    measured = { residentBytes: rss, heapBytes: heapUsed }
  }
  calls += 1
  return measured
}

/** Waits one event-loop turn. Otherwise, the remaining expressions of a failed call would use the next call's time. */
function send(message: WorkerReply): void {
  setImmediate(() => {
    if (current !== message.id) return
    current = undefined
    stdout.write(encodedReply(message))
  })
}

function encodedReply(message: WorkerReply): string {
  try {
    const line = wellFormedJson(encodeLine({ ...message, ...memory() }))
    if (line.length <= MAX_REPLY_BYTES) return line
    return failureLine(message.id, 'The output is larger than 4 MB')
  } catch {
    return failureLine(message.id, 'The output is not plain data')
  }
}

function failureLine(id: number, failure: string): string {
  return encodeLine({ id, failure, ...memory() })
}

function failCurrent(error: unknown): void {
  if (current !== undefined) send({ id: current, failure: error instanceof Error ? error.message : 'The call failed' })
}

process.on('unhandledRejection', failCurrent)
process.on('uncaughtException', failCurrent)
stdin.setEncoding('utf8')
stdin.on('end', () => process.exit(0))
stdin.on(
  'data',
  lineReader((line) => {
    const request = JSON.parse(line) as WorkerRequest
    current = request.id
    startedMs = performance.now()
    void reply(request).then(send)
  }),
)
closeModules()
lockDown()
// The engine's first call is slow. The warm-up makes that call before the worker process reports `ready`.
await renderStep(await compilePrompt({ path: 'warm-up', content: WARM_UP, documents: {} }), {
  parameters: {},
  now: new Date().toISOString(),
})
answerIssues({ type: 'object', required: ['a'] }, {})
stdout.write(encodeLine({ id: 0, result: 'ready', ...memory() }))
