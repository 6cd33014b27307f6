import { homedir } from 'node:os'
import { createInterface } from 'node:readline'

/** What asks a program to end. */
export type EndSignal = 'SIGINT' | 'SIGTERM'

/** Everything a command touches outside of files and the network; tests bring their own. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly homeDir: string
  readonly platform: NodeJS.Platform
  readonly tty: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean }
  /** Data: what a pipe or a file receives. */
  out(text: string): void
  /** Everything meant for a human. */
  err(text: string): void
  /** All of it; the same each time. */
  readStdin(): Promise<Uint8Array>
  /** Calls the handler on each Ctrl-C and each SIGTERM until the returned function is called. */
  onInterrupt(handler: (signal: EndSignal) => void): () => void
  /** Reads what a human types, line by line, while other things happen. */
  openLines(listeners: LineListeners): LineInput
}

/** What happens at the keyboard. */
export interface LineListeners {
  onLine(text: string): void
  /** Ctrl-C: the terminal does not turn it into a signal while lines are read. */
  onInterrupt(): void
  /** Ctrl-D, or the end of the input. */
  onEnd(): void
}

/** A keyboard that is being read. */
export interface LineInput {
  /** Shows that a line is expected. */
  prompt(mark: string): void
  close(): void
}

/** The process itself. */
export function systemIo(): Io {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', endOnBrokenOutput)
  let stdin: Promise<Uint8Array> | undefined
  return {
    env: process.env,
    cwd: process.cwd(),
    homeDir: homedir(),
    platform: process.platform,
    // On anything but a terminal the property is not there at all.
    tty: { stdin: isTerminal(process.stdin), stdout: isTerminal(process.stdout), stderr: isTerminal(process.stderr) },
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    readStdin() {
      stdin ??= readAll()
      return stdin
    },
    onInterrupt(handler) {
      process.on('SIGINT', handler).on('SIGTERM', handler)
      return () => void process.off('SIGINT', handler).off('SIGTERM', handler)
    },
    openLines,
  }
}

// A reader that closes its end early (`| head`) ends the program quietly; a full disk does not.
function endOnBrokenOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0)
  process.stderr.write(`Cannot write the output: ${error.message}\n`)
  process.exit(1)
}

function isTerminal({ isTTY }: { isTTY?: boolean }): boolean {
  return isTTY === true
}

function openLines({ onLine, onInterrupt, onEnd }: LineListeners): LineInput {
  // The marks of the keyboard go where everything for humans goes.
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

/** The only gate to questions: without a human at all three ends nothing is ever asked. */
export function isInteractive(io: Io, wanted: { json: boolean; input: boolean }): boolean {
  if (!wanted.input || wanted.json || isOn(io.env['STET_NO_INPUT'])) return false
  if (isOn(io.env['CI']) || io.env['TERM'] === 'dumb') return false
  return io.tty.stdin && io.tty.stdout && io.tty.stderr
}

/** Whether a variable is set to something that does not say no. */
export function isOn(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false'].includes(value.toLowerCase())
}
