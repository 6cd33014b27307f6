import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tally } from '../../../../scripts/tally.ts'
import type { EndSignal, Io } from '../../src/io.ts'
import { Terminal } from './terminal.ts'
import { type Ended, runInProcess } from './test-io.ts'

// A hook that runs the tests names its own repository.
for (const name of ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE']) delete process.env[name]

export const bin = fileURLToPath(new URL('../../bin/stet.mjs', import.meta.url))

/** A command that runs in this process. */
export interface Running {
  readonly stdout: string
  readonly stderr: string
  readonly ended: Promise<Ended>
  /** Waits until the command has printed the text. */
  prints(stream: 'stdout' | 'stderr', text: string): Promise<void>
  interrupt(signal: EndSignal): void
}

/** Has a home and a checkout. Commands run in this process; `spawn` and `sitDown` start the built program. */
export class Person {
  readonly folder: string
  readonly #env: Record<string, string>
  printed = ''

  constructor(folder: string, server: { address: string }, env: Record<string, string> = {}) {
    this.folder = folder
    this.#env = {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      XDG_CONFIG_HOME: join(folder, '.config'),
      XDG_STATE_HOME: join(folder, '.state'),
      XDG_CACHE_HOME: join(folder, '.cache'),
      STET_BASE_URL: server.address,
      LANG: 'C.UTF-8',
      // Commands share Node's compile cache.
      NODE_COMPILE_CACHE: join(tmpdir(), 'stet-test-compile-cache'),
      ...env,
    }
  }

  static async create(folder: string, server: { address: string; adminKey: string }): Promise<Person> {
    const person = new Person(folder, server)
    await mkdir(join(folder, '.git'), { recursive: true })
    const { code, stderr } = await person.stet(['login', '--api-key-stdin'], `${server.adminKey}\n`)
    if (code !== 0) throw new Error(stderr)
    return person
  }

  spawn(args: readonly string[], env: Record<string, string> = {}): ChildProcessWithoutNullStreams {
    tally('child process')
    return spawn(process.execPath, [bin, ...args], { cwd: this.folder, env: { ...this.#env, ...env } })
  }

  /** Runs the program on a terminal. `redirection` is a shell redirection of its output. */
  sitDown(args: readonly string[], env: Record<string, string> = {}, redirection = ''): Terminal {
    return new Terminal([process.execPath, bin, ...args], this.folder, { ...this.#env, ...env }, redirection)
  }

  stet(args: readonly string[], stdin = '', env: Record<string, string> = {}, io: Partial<Io> = {}): Promise<Ended> {
    return this.start(args, { stdin, env, io }).ended
  }

  start(args: readonly string[], given: { stdin?: string; env?: Record<string, string>; io?: Partial<Io> } = {}) {
    const printed = { stdout: '', stderr: '' }
    const handlers = new Set<(signal: EndSignal) => void>()
    let wake = (): void => {}
    let hasEnded = false
    const print = (stream: 'stdout' | 'stderr') => (text: string) => {
      printed[stream] += text
      this.printed += text
      wake()
    }
    const ended = runInProcess(args, {
      cwd: this.folder,
      env: { ...this.#env, ...given.env },
      readStdin: async () => new TextEncoder().encode(given.stdin ?? ''),
      onInterrupt(handler) {
        handlers.add(handler)
        return () => void handlers.delete(handler)
      },
      ...given.io,
      out: print('stdout'),
      err: print('stderr'),
    }).then(({ code }) => {
      hasEnded = true
      wake()
      return { code, ...printed }
    })
    const running: Running = {
      get stdout() {
        return printed.stdout
      },
      get stderr() {
        return printed.stderr
      },
      ended,
      async prints(stream, text) {
        while (!printed[stream].includes(text)) {
          if (hasEnded) throw new Error(`"${text}" was not printed: ${JSON.stringify(printed)}`)
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      },
      interrupt: (signal) => [...handlers].map((handler) => handler(signal)),
    }
    return running
  }
}

/** For commands in this process that shall believe that they have a terminal. */
export const onTerminal = { stdin: true, stdout: true, stderr: true }
