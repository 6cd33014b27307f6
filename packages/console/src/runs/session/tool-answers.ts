import type { ToolContext } from '@stet/sdk'
import { stet } from '../../app/session.ts'

interface Answer {
  resolve: (result: unknown) => void
  reject: (error: Error) => void
}

/** The server itself gives up on a result after 5 minutes. */
const toolMs = 330_000

/** The client tools of a run, whose results a person enters. */
export class ToolAnswers {
  /** By the id of the tool call. Only the stream that has started the run waits for results. */
  readonly #waiting = new Map<string, Answer>()

  clear(): void {
    this.#waiting.clear()
  }

  /** The option of a stream that makes its run wait for these tools until their results are entered. */
  optionFor(names: readonly string[]) {
    if (names.length === 0) return {}
    const execute = (_: unknown, { id, signal }: ToolContext) =>
      new Promise<unknown>((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject })
        signal.addEventListener('abort', () => this.#waiting.delete(id))
      })
    return { tools: Object.fromEntries(names.map((name) => [name, { input: unchecked, execute, timeout: toolMs }])) }
  }

  /** @throws StetError if the result of a run that this page has joined could not be sent */
  async send(id: string, result: unknown, isError: boolean): Promise<void> {
    const answer = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (!answer) await stet.runs.toolResult({ toolCallId: id, result, isError })
    else if (isError) answer.reject(new Error(String(result)))
    else answer.resolve(result)
  }
}

/** A schema that accepts everything: the person who answers reads the arguments. */
const unchecked = { '~standard': { version: 1, vendor: 'stet', validate: (value: unknown) => ({ value }) } } as const
