import type { RunResult, StreamEvent } from '@stet/sdk'
import type { Flags, Input } from '../command.ts'
import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'
import { shortUuid } from '../terminal/output.ts'
import { conversationText } from './conversation-text.ts'

/** Selects a run's standard output: its answer, one line per event, or the final conversation. */
export type Shown = 'text' | 'events' | 'messages'

export const shownFlag = {
  '--show <what>': 'text (the answer), events (one line each) or messages (the conversation at the end)',
} as const satisfies Flags

export function parseShown(raw: Input<typeof shownFlag>): Shown {
  const text = raw.flags.show ?? 'text'
  if (text === 'text' || text === 'events' || text === 'messages') return text
  throw new CliError('usage', `--show must be text, events or messages, not "${text}"`)
}

export interface RunHead {
  path?: string
  versionName?: string
}

/** Prints a run: data on standard output, everything else on standard error. */
export class RunOutput {
  readonly #ctx: Context
  readonly #shown: Shown
  readonly #head: RunHead
  readonly #startedMs = performance.now()
  #firstTextMs: number | undefined
  #isAtLineStart = true

  constructor(ctx: Context, shown: Shown, head: RunHead) {
    this.#ctx = ctx
    this.#shown = shown
    this.#head = head
  }

  event(event: StreamEvent): void {
    const { io, flags } = this.#ctx
    if (flags.json) io.out(`${JSON.stringify({ id: event.id, event: event.event, data: event.data })}\n`)
    else if (this.#shown === 'events') io.out(`${event.id}\t${event.event}\t${event.type}\n`)
    if (event.type === 'provider-started') this.#sayModel(event.data.config)
  }

  text(delta: string): void {
    this.#firstTextMs ??= performance.now() - this.#startedMs
    if (this.#ctx.flags.json || this.#shown !== 'text' || delta === '') return
    this.#ctx.io.out(delta, 'exact')
    this.#isAtLineStart = delta.endsWith('\n')
  }

  /** Reports an attempt to reconnect. Text that is already printed stays. */
  reconnecting(attempt: number, attempts: number): void {
    const { flags, io, say, warn } = this.#ctx
    const text = `reconnecting (${attempt}/${attempts})`
    // On a terminal, both streams share a line, so the message starts on a new one. A redirected answer needs no line
    // feed.
    if (!this.#isAtLineStart && io.tty.stdout) io.err('\n')
    if (flags.json) warn(text)
    else say(`… ${text}`)
  }

  endLine(): void {
    if (!this.#isAtLineStart) this.#ctx.io.out('\n')
    this.#isAtLineStart = true
  }

  whole(result: RunResult): void {
    const { io, flags } = this.#ctx
    if (flags.json) io.out(`${JSON.stringify(result)}\n`)
    else {
      if (this.#shown === 'text') this.#print(result.response.text)
      this.#end(result)
    }
  }

  end(result: RunResult): void {
    if (this.#ctx.flags.json) this.#ctx.io.out(`${JSON.stringify({ event: 'result', data: result })}\n`)
    else this.#end(result)
  }

  #end(result: RunResult): void {
    if (this.#shown === 'messages') this.#ctx.io.out(conversationText(result.conversation))
    this.#sayFoot(result)
  }

  #print(text: string): void {
    this.#ctx.io.out(text.endsWith('\n') ? text : `${text}\n`, 'exact')
  }

  #sayModel({ provider, model }: Record<string, unknown>): void {
    const { path, versionName } = this.#head
    const names = [provider, model].filter((name) => typeof name === 'string').join('/')
    this.#ctx.say(this.#ctx.style.dim(`◌ ${[path, versionName, names].filter(Boolean).join(' · ')}`))
  }

  #sayFoot({ uuid, tokenUsage, response, cost, toolRequests }: RunResult): void {
    const { say, style } = this.#ctx
    const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
    const parts = [response.finishReason, `${tokenUsage.inputTokens} in / ${tokenUsage.outputTokens} out tokens`]
    if (cost > 0) parts.push(`$${cost.toFixed(4)}`)
    parts.push(seconds(performance.now() - this.#startedMs))
    if (this.#firstTextMs !== undefined) parts.push(`first token ${seconds(this.#firstTextMs)}`)
    say(`${style.ok} ${parts.join(' · ')}`)
    for (const { name, arguments: args } of toolRequests) say(`  tool call ${name} ${JSON.stringify(args)}`)
    say(`  conversation ${uuid}  (continue: stet chat ${shortUuid(uuid)})`)
  }
}
