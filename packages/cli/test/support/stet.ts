import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tally } from '../../../../scripts/tally.ts'
import type { RunningServer } from './server.ts'
import { Terminal } from './terminal.ts'
import type { Ended } from './test-io.ts'

const bin = fileURLToPath(new URL('../../bin/stet.mjs', import.meta.url))

/** Uses the built program with a home and a checkout. */
export class Person {
  readonly folder: string
  readonly #env: Record<string, string>
  printed = ''

  constructor(folder: string, server: Pick<RunningServer, 'address'>, env: Record<string, string> = {}) {
    this.folder = folder
    this.#env = {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      XDG_CONFIG_HOME: join(folder, '.config'),
      XDG_STATE_HOME: join(folder, '.state'),
      STET_BASE_URL: server.address,
      LANG: 'C.UTF-8',
      // Commands share Node's compile cache.
      NODE_COMPILE_CACHE: join(tmpdir(), 'stet-test-compile-cache'),
      ...env,
    }
  }

  static async create(folder: string, server: RunningServer): Promise<Person> {
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

  stet(args: readonly string[], stdin = '', env: Record<string, string> = {}): Promise<Ended> {
    return new Promise((resolve, reject) => {
      const child = this.spawn(args, env)
      let [stdout, stderr] = ['', '']
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text
      })
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text
      })
      child.once('error', reject)
      child.once('close', (code) => {
        this.printed += stdout + stderr
        resolve({ code: code ?? -1, stdout, stderr })
      })
      child.stdin.on('error', () => {})
      child.stdin.end(stdin)
    })
  }
}
