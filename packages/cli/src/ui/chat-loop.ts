import { resolve } from 'node:path'
import type { Message } from '@stet/sdk'
import type { Context } from '../context.ts'
import { CliError, describeFailure } from '../exit-code.ts'
import type { EndSignal } from '../io.ts'
import { writeNamedFile } from '../settings/write-file.ts'
import { failureText } from '../terminal/output.ts'
import { conversationText } from './conversation-text.ts'

export interface Talk {
  /** Sends one message and prints the response as it arrives. */
  say(text: string, ctx: Context): Promise<unknown>
  messages(): Promise<readonly Message[]>
}

const help =
  '/exit quits, /stop stops the answer, /messages shows the conversation, /save <file> saves it, \\ at the end of a line continues it'

/** Queues typed lines until they are read. */
class Keyboard {
  readonly #lines: string[] = []
  #wake = (): void => {}
  #state: 'open' | 'ended' | 'interrupted' = 'open'

  push(line: string): void {
    this.#lines.push(line)
    this.#wake()
  }

  finish(state: 'ended' | 'interrupted'): void {
    if (this.#state === 'open') this.#state = state
    this.#wake()
  }

  async next(): Promise<string | undefined> {
    while (this.#lines.length === 0 && this.#state === 'open') {
      await new Promise<void>((wake) => {
        this.#wake = wake
      })
    }
    if (this.#state === 'interrupted') throw new CliError('interrupted', 'Left')
    return this.#lines.shift()
  }
}

/** Runs until the user leaves. Ctrl-C stops a running response. Without a running response, Ctrl-C ends the loop. */
export async function chatLoop(talk: Talk, ctx: Context): Promise<void> {
  const keyboard = new Keyboard()
  let stopAnswer: ((signal: EndSignal) => void) | undefined
  const input = ctx.io.openLines({
    onLine(text) {
      if (stopAnswer && text.trim() === '/stop') stopAnswer('SIGINT')
      else keyboard.push(text)
    },
    onInterrupt() {
      if (stopAnswer) stopAnswer('SIGINT')
      else keyboard.finish('interrupted')
    },
    onEnd: () => keyboard.finish('ended'),
  })
  // In raw mode, Ctrl-C sends no signal. The handler is saved here, so that the line listeners can call it.
  const onInterrupt = (handler: (signal: EndSignal) => void): (() => void) => {
    stopAnswer = handler
    return () => {
      if (stopAnswer === handler) stopAnswer = undefined
    }
  }
  const turnCtx: Context = { ...ctx, io: { ...ctx.io, onInterrupt } }
  try {
    ctx.say(ctx.style.dim(help))
    for (;;) {
      input.prompt('> ')
      const text = await readMessage(keyboard, () => input.prompt('… '))
      if (text === undefined || text === '/exit') return
      await obey(text, talk, turnCtx)
    }
  } finally {
    input.close()
  }
}

async function readMessage(keyboard: Keyboard, goOn: () => void): Promise<string | undefined> {
  let text = ''
  for (;;) {
    const line = await keyboard.next()
    if (line === undefined) return undefined
    if (!line.endsWith('\\')) return (text + line).trim()
    text += `${line.slice(0, -1)}\n`
    goOn()
  }
}

// Prints a failure and continues, because the conversation still exists.
async function obey(text: string, talk: Talk, ctx: Context): Promise<void> {
  const [, file] = /^\/save\s+(.+)$/.exec(text) ?? []
  try {
    if (text === '') return
    if (text === '/messages') ctx.io.err(conversationText(await talk.messages()))
    else if (text === '/stop') ctx.say('No answer in progress')
    else if (file) await save(file, talk, ctx)
    else if (text.startsWith('/')) ctx.say(help)
    else await talk.say(text, ctx)
  } catch (error) {
    ctx.io.err(failureText(await describeFailure(error), false, ctx.io, ctx.flags.color))
  }
}

async function save(file: string, talk: Talk, ctx: Context): Promise<void> {
  await writeNamedFile(resolve(ctx.io.cwd, file), `${JSON.stringify(await talk.messages(), null, 2)}\n`)
  ctx.say(`${ctx.style.ok} Wrote ${file}`)
}
