import { homedir } from 'node:os'
import { createInterface } from 'node:readline'

export type EndSignal = 'SIGINT' | 'SIGTERM'

/**
 * Control characters are made harmless in `text` everywhere, in `exact` and `json` only on a terminal. `json` keeps its
 * meaning.
 */
export type OutputForm = 'text' | 'exact' | 'json'

/** The environment and the standard streams of the process. Tests replace them. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly homeDir: string
  readonly platform: NodeJS.Platform
  readonly tty: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean }
  /** Writes data to standard output. Without `form`, the text is JSON if `--json` is given. */
  out(text: string, form?: OutputForm): void
  /** Writes messages for the user to standard error. In GitHub Actions, only the form `command` can command its runner. */
  err(text: string, form?: 'command'): void
  /** Reads standard input to its end. Repeated calls return the same bytes. */
  readStdin(): Promise<Uint8Array>
  /** Standard input in pieces, as they arrive. */
  stdin(): AsyncIterable<Uint8Array>
  /** Calls the handler on each Ctrl-C or SIGTERM until the returned function is called. */
  onInterrupt(handler: (signal: EndSignal) => void): () => void
  openLines(listeners: LineListeners): LineInput
}

export interface LineListeners {
  onLine(text: string): void
  /** Called on Ctrl-C. The terminal sends no signal while readline reads lines. */
  onInterrupt(): void
  /** Called on Ctrl-D, at the end of the input, and after `close`. */
  onEnd(): void
}

export interface LineInput {
  prompt(mark: string): void
  close(): void
}

export function systemIo(): Io {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', endOnBrokenOutput)
  let stdin: Promise<Uint8Array> | undefined
  return {
    env: process.env,
    cwd: process.cwd(),
    homeDir: homedir(),
    platform: process.platform,
    tty: { stdin: isTerminal(process.stdin), stdout: isTerminal(process.stdout), stderr: isTerminal(process.stderr) },
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    readStdin() {
      stdin ??= readAll()
      return stdin
    },
    stdin: () => process.stdin,
    onInterrupt(handler) {
      process.on('SIGINT', handler).on('SIGTERM', handler)
      return () => void process.off('SIGINT', handler).off('SIGTERM', handler)
    },
    openLines,
  }
}

// If a reader closes the pipe early (`| head`), the program ends silently. Other errors, such as a full disk, are
// reported.
function endOnBrokenOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0)
  process.stderr.write(`Cannot write the output: ${error.message}\n`)
  process.exit(1)
}

function isTerminal({ isTTY }: { isTTY?: boolean }): boolean {
  return isTTY === true
}

function openLines({ onLine, onInterrupt, onEnd }: LineListeners): LineInput {
  // The prompt and the echo go to standard error, like all messages.
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  lines.on('line', onLine).on('SIGINT', onInterrupt).on('close', onEnd)
  return {
    prompt(mark) {
      lines.setPrompt(mark)
      lines.prompt()
    },
    close: () => lines.close(),
  }
}

async function readAll(): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/**
 * Returns whether questions are possible: all three streams are terminals, and no flag or variable forbids questions.
 */
export function isInteractive(io: Io, wanted: { json: boolean; input: boolean }): boolean {
  if (!wanted.input || wanted.json || isOn(io.env['STET_NO_INPUT'])) return false
  if (isOn(io.env['CI']) || io.env['TERM'] === 'dumb') return false
  return io.tty.stdin && io.tty.stdout && io.tty.stderr
}

export function isOn(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false'].includes(value.toLowerCase())
}
