import { ApiError } from '../errors.ts'
import type { SdkEventData } from '../stream/events.ts'
import type { ContentPart, Message, ToolCall } from '../types.ts'
import { callTool, PAUSE, type ToolAnswer, type ToolScene } from './call-tool.ts'
import type { ToolMap } from './tool.ts'

/** How a run's client tools are answered. */
export interface ToolPlan {
  tools: ToolMap
  /** `inline`: the run waits for each result. `turns`: it ends with its calls and goes on by chat. */
  mode: 'inline' | 'turns'
  /** Chats at most. */
  maxRounds: number
  /** Sends the result that a run waits for. */
  post: (answer: ToolAnswer & { toolCallId: string }) => PromiseLike<unknown>
  /** Ends a run that waits for results which do not come. */
  stop: (conversationUuid: string) => PromiseLike<unknown>
  /** Epoch milliseconds. */
  now: () => number
}

/** What the loop sees of its run, and tells about itself. */
interface ToolHost {
  scene: () => ToolScene
  tell: (event: SdkEventData) => void
}

/** Answers the tool calls of one run, each once. */
export class ToolLoop {
  /** Handlers that have not answered yet. */
  running = 0
  isPaused = false
  #rounds = 0
  readonly #plan: ToolPlan
  readonly #host: ToolHost
  readonly #handled = new Set<string>()

  constructor(plan: ToolPlan, host: ToolHost) {
    this.#plan = plan
    this.#host = host
  }

  /** Answers a call that the run may be waiting for; calls without a handler are left alone. */
  async answer(call: ToolCall): Promise<void> {
    const { mode, tools, stop } = this.#plan
    if (mode !== 'inline' || !tools[call.name] || this.#handled.has(call.id)) return
    this.#handled.add(call.id)
    try {
      const answer = await this.#run(call)
      if (!this.isPaused && !this.#host.scene().signal.aborted) await this.#post({ toolCallId: call.id, ...answer })
    } catch (error) {
      if (error !== PAUSE) throw error
      if (this.isPaused) return
      this.isPaused = true
      await stop(this.#host.scene().conversationUuid)
    }
  }

  /** Whether a run that ended with these calls goes on: every one of them has a handler. */
  goesOn(calls: readonly ToolCall[]): boolean {
    const { mode, tools, maxRounds } = this.#plan
    return mode === 'turns' && calls.length > 0 && this.#rounds < maxRounds && calls.every(({ name }) => tools[name])
  }

  /** The message that answers all calls of a turn; undefined when one of them paused. */
  async answerAll(calls: readonly ToolCall[]): Promise<Message | undefined> {
    this.#rounds += 1
    try {
      const content = await Promise.all(
        calls.map(async (call): Promise<ContentPart> => {
          const { result, isError } = await this.#run(call)
          const part = { type: 'tool-result' as const, toolCallId: call.id, toolName: call.name, result }
          return isError ? { ...part, isError } : part
        }),
      )
      return { role: 'tool', content }
    } catch (error) {
      if (error === PAUSE) return undefined
      throw error
    }
  }

  async #run(call: ToolCall): Promise<ToolAnswer> {
    const { tools, now } = this.#plan
    const { scene, tell } = this.#host
    const startedAt = now()
    this.running += 1
    tell({ type: 'tool-started', call })
    try {
      const answer = await callTool(tools[call.name] ?? (() => undefined), call, scene())
      tell({ type: 'tool-finished', call, ...answer, durationMs: now() - startedAt })
      return answer
    } finally {
      this.running -= 1
    }
  }

  // a result that the service refuses, for example for its size, is the tool's failure and not the run's
  async #post(answer: ToolAnswer & { toolCallId: string }): Promise<void> {
    try {
      await this.#plan.post(answer)
    } catch (error) {
      if (!(error instanceof ApiError) || ![400, 413, 422].includes(error.status)) throw error
      await this.#plan.post({ ...answer, result: `The result was refused: ${error.message}`, isError: true })
    }
  }
}
