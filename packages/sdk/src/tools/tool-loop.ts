import { ApiError } from '../errors.ts'
import type { Completed, Failed, SdkEventData } from '../events.ts'
import type { OutputKind } from '../registry.ts'
import { inlineTools, type RunStart, roundOptions } from '../run-start.ts'
import type { ToolMap } from '../tool.ts'
import type { Api } from '../transport/api.ts'
import type { Answer } from '../transport/exchange.ts'
import type { ContentPart, Message, RunResult, ToolCall } from '../types.ts'
import { callTool, PAUSE, type ToolAnswer, type ToolScene } from './call-tool.ts'
import { pausedResult } from './paused-result.ts'
import { type Spent, sumOf } from './spent.ts'
import { declaredTools, mismatches } from './tool-names.ts'

const MAX_ROUNDS = 10
// The run waits for the result, so retry this request at least five times.
const RESULT_RETRIES = 5

export interface ToolHost {
  scene: () => ToolScene
  tell: (event: SdkEventData) => void
}

/**
 * Answers each tool call of a run once. With `inline`, the run waits for each result. With `turns`, the run ends with
 * its tool calls, and a chat continues the conversation.
 */
export class ToolLoop<O extends OutputKind> {
  running = 0
  rounds = 0
  #isPaused = false
  #spent: Spent[] = []
  readonly #api: Api
  readonly #start: RunStart<O>
  readonly #isInline: boolean
  readonly #tools: ToolMap
  readonly #maxRounds: number
  readonly #host: ToolHost
  readonly #handled = new Set<string>()
  /** The prompt's tools, from the configurations of all steps. Undefined until a step has shown its own. */
  #declared: Set<string> | undefined

  constructor(api: Api, start: RunStart<O>, host: ToolHost) {
    const { tools = {}, maxToolRounds } = start.options
    this.#api = api
    this.#start = start
    this.#isInline = inlineTools(start) !== undefined
    // Use an object without a prototype, because the model may call a tool named `toString`.
    this.#tools = Object.assign(Object.create(null), tools)
    this.#maxRounds = maxToolRounds ?? api.settings.streaming?.maxToolRounds ?? MAX_ROUNDS
    this.#host = host
  }

  /** Answers an inline call. Ignores calls without a handler, repeated calls, and all calls with `turns`. */
  async answer(call: ToolCall): Promise<void> {
    if (!this.#isInline || !this.#tools[call.name] || this.#handled.has(call.id)) return
    this.#handled.add(call.id)
    try {
      const answer = await this.#run(call)
      if (!this.#isPaused && !this.#host.scene().signal.aborted) await this.#post({ toolCallId: call.id, ...answer })
    } catch (error) {
      if (error !== PAUSE) throw error
      if (this.#isPaused) return
      this.#isPaused = true
      // Stopping ends the run. Its open calls stay in the conversation.
      await this.#api.stopRun(this.#host.scene().conversationUuid, this.#start.options)
    }
  }

  /** True if a chat can follow: the run waits for no tools, every call has a handler, and rounds are left. */
  goesOn(calls: readonly ToolCall[] = []): boolean {
    const isAnswerable = calls.length > 0 && calls.every(({ name }) => this.#tools[name])
    return !this.#isInline && isAnswerable && this.rounds < this.#maxRounds
  }

  /** Returns the message with the results, or undefined if a handler paused. */
  async answerAll(calls: readonly ToolCall[], spent: Spent): Promise<Message | undefined> {
    try {
      const content = await Promise.all(
        calls.map(async (call): Promise<ContentPart> => {
          const { result, isError } = await this.#run(call)
          const part = { type: 'tool-result' as const, toolCallId: call.id, toolName: call.name, result }
          return isError ? { ...part, isError } : part
        }),
      )
      this.rounds += 1
      this.#spent.push(spent)
      return { role: 'tool', content }
    } catch (error) {
      if (error === PAUSE) return undefined
      throw error
    }
  }

  /**
   * Answers the tool calls of a streamed round. Returns the function that opens the next round, or undefined if a
   * handler paused.
   */
  async nextTurn(end: Completed, signal: AbortSignal): Promise<(() => Promise<Answer>) | undefined> {
    const message = await this.answerAll(end.toolRequests, end)
    if (!message) return undefined
    const fields = { conversationUuid: end.uuid, messages: [message], stream: true }
    const options = { ...roundOptions(this.#start.options, this.rounds), signal }
    return () => this.#api.open('conversations.chat', fields, options)
  }

  /** Learns the tools of a step from its configuration, which names a model unless the events come from a mock. */
  declare(config: Record<string, unknown> | undefined): void {
    if (!config?.['model']) return
    this.#declared ??= new Set()
    for (const name of declaredTools(config)) this.#declared.add(name)
  }

  /** Returns the result of the whole call. Warns of handlers and tools that do not match, once per client. */
  total(result: RunResult<O>): RunResult<O> {
    const { logger, prompts } = this.#api.settings
    // A JSON run shows no configuration, only the calls that nothing answered.
    const handlers = Object.keys(this.#tools)
    const found = this.#declared
      ? mismatches(handlers, this.#declared)
      : mismatches([], new Set(result.toolRequests.map(({ name }) => name).filter((name) => !handlers.includes(name))))
    prompts.warned ??= new Set()
    for (const sentence of found) {
      const warning = `${this.#start.path ?? this.#start.operation}: ${sentence}`
      if (!prompts.warned.has(warning)) logger.warn(warning)
      prompts.warned.add(warning)
    }
    return { ...result, ...sumOf([...this.#spent, result]) }
  }

  pausedResult(data: Failed, text: string): RunResult<O> | undefined {
    return this.#isPaused ? pausedResult(data, text) : undefined
  }

  async #run(call: ToolCall): Promise<ToolAnswer> {
    const { now } = this.#api.settings.runtime
    const { scene, tell } = this.#host
    const startedAt = now()
    this.running += 1
    try {
      tell({ type: 'tool-started', call })
      const answer = await callTool(this.#tools[call.name] ?? (() => undefined), call, scene())
      tell({ type: 'tool-finished', call, ...answer, durationMs: now() - startedAt })
      return answer
    } finally {
      this.running -= 1
    }
  }

  // If the server refuses a result, for example because of its size, send an error result so that the run continues.
  async #post(answer: ToolAnswer & { toolCallId: string }): Promise<void> {
    const { headers = {} } = this.#start.options
    const maxRetries = Math.max(this.#api.settings.maxRetries, RESULT_RETRIES)
    const send = (body: typeof answer) => this.#api.call('runs.toolResult', body, { headers, maxRetries })
    try {
      await send(answer)
    } catch (error) {
      if (!(error instanceof ApiError) || ![400, 413, 422].includes(error.status)) throw error
      await send({ ...answer, result: `The result was refused: ${error.message}`, isError: true })
    }
  }
}
