import { type StdioOptions, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import type { Context } from '../../context.ts'
import { CliError } from '../../exit-code.ts'

export interface Started {
  /** Excludes the API prefix. */
  address: string
  /** The server's output before it listens. On a first start, this names created objects and the first key. */
  news: string[]
}

export interface ServerProgram {
  bin: string
  env: NodeJS.ProcessEnv
}

/** Runs the server as a child process until it exits. @returns its exit code */
export function runServer(
  { bin, env }: ServerProgram,
  onStarted: (started: Started) => void,
  { io, flags }: Context,
): Promise<number> {
  return new Promise((done, fail) => {
    // The IPC channel closes when this process ends, even by SIGKILL. The server then stops. Standard error is piped,
    // because this process escapes control characters.
    const stdio: StdioOptions = ['ignore', 'pipe', 'pipe', 'ipc']
    // As `stet-server` does: it cannot set the variable itself without losing the channel.
    const child = spawn(process.execPath, ['--expose-gc', bin], {
      cwd: io.cwd,
      env: { MALLOC_MMAP_THRESHOLD_: '32768', ...env },
      stdio,
    })
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
    // With --json, collects standard error until the server listens. If the start fails, these lines become part of the
    // error. Later lines are logger output, which is already JSON.
    const onStderrLine = (line: string): void => {
      if (address === undefined && flags.json) complaints.push(line)
      else io.err(`${line}\n`)
    }
    if (child.stderr) onLines(child.stderr, onStderrLine)
    const hasTerminal = io.tty.stdin || io.tty.stdout || io.tty.stderr
    // At a terminal the child receives Ctrl-C directly. A forwarded second signal would skip the graceful stop.
    const release = io.onInterrupt((signal) => {
      if (signal === 'SIGTERM' || !hasTerminal) child.kill(signal)
    })
    child.once('error', fail)
    child.once('close', (code, signal) => {
      release()
      if (address !== undefined || signal) done(code ?? 128 + constants.signals[signal ?? 'SIGTERM'])
      else {
        // The server prints a first key only once, so it is shown even if the server exits immediately.
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
  stream.once('end', () => {
    if (rest !== '') onLine(rest)
  })
}
