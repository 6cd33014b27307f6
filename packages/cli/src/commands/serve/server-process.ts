import { type StdioOptions, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import type { Context } from '../../context.ts'
import { CliError } from '../../exit-code.ts'

/** What the server said about itself until it could be reached. */
export interface Started {
  /** Without the API prefix. */
  address: string
  /** What its first start said: what was made, and the first key; empty at every later start. */
  news: string[]
}

/** How the server is started. */
export interface ServerProgram {
  bin: string
  env: NodeJS.ProcessEnv
}

/** Runs the server as a child until it ends. @returns its exit code */
export function runServer(
  { bin, env }: ServerProgram,
  onStarted: (started: Started) => void,
  { io, flags }: Context,
): Promise<number> {
  return new Promise((done, fail) => {
    // By its end the channel tells the server that this process is gone, also when that was by force.
    const stdio: StdioOptions = ['ignore', 'pipe', flags.json ? 'pipe' : 'inherit', 'ipc']
    const child = spawn(process.execPath, [bin], { cwd: io.cwd, env, stdio })
    const news: string[] = []
    const complaints: string[] = []
    let address: string | undefined
    const onStdoutLine = (line: string): void => {
      const heard = /^stet listening on (\S+)$/.exec(line)?.[1]
      if (address !== undefined) io.err(`${line}\n`)
      else if (heard === undefined) news.push(line)
      else {
        address = heard
        onStarted({ address, news })
      }
    }
    if (child.stdout) onLines(child.stdout, onStdoutLine)
    // Words of a start that failed belong into the one line of JSON; log lines are JSON themselves.
    if (child.stderr) onLines(child.stderr, (line) => (address ? io.err(`${line}\n`) : complaints.push(line)))
    const hasTerminal = io.tty.stdin || io.tty.stdout || io.tty.stderr
    // At a terminal the child gets Ctrl-C by itself, and a second one would cut its work short.
    const release = io.onInterrupt((signal) => {
      if (signal === 'SIGTERM' || !hasTerminal) child.kill(signal)
    })
    child.once('error', fail)
    child.once('close', (code, signal) => {
      release()
      if (address !== undefined || signal) done(code ?? 128 + constants.signals[signal ?? 'SIGTERM'])
      else {
        // A first key is told this one time, also by a server that ends right after it.
        const lines = [...news, ...complaints]
        fail(new CliError('unexpected', `The server did not start (exit code ${code})`, { lines }))
      }
    })
  })
}

function onLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  })
}
