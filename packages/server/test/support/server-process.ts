/** The built server, `dist/main.mjs`, as a separate process. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { tally } from '../../../../scripts/tally.ts'
import { generateEncryptionKey } from '../../src/data-files.ts'
import { compileCache, type ProgramEnd, programEnd, shortLived } from './child-program.ts'
import type { TestDatabase } from './test-database.ts'

const program = fileURLToPath(new URL('../../dist/main.mjs', import.meta.url))
const bin = fileURLToPath(new URL('../../bin/stet-server.mjs', import.meta.url))

/** The timeout of a hanging test. Starting several processes takes long on a busy machine. */
export const processTestMs = 300_000

type Environment = Record<string, string>

export function settingsFor(storage: Pick<TestDatabase, 'dataDir' | 'databaseUrl'>): Environment {
  return {
    STET_DATA_DIR: storage.dataDir,
    STET_LOG_LEVEL: 'error',
    STET_DRAIN_DELAY_MS: '0',
    STET_DATABASE_SILENCE_MS: '20000',
    PORT: '0',
    ...(storage.databaseUrl !== undefined && {
      DATABASE_URL: storage.databaseUrl,
      STET_ENCRYPTION_KEY: generateEncryptionKey(),
    }),
  }
}

export function runServer(environment: Environment, ...args: string[]): Promise<ProgramEnd> {
  return programEnd(spawnServer(environment, args))
}

export interface ServerProcess {
  child: ChildProcess
  url: string
  stdout: string
  ended: Promise<ProgramEnd>
}

/**
 * Starts a server and waits until it listens.
 * @param execArgv Node options, placed before the program.
 */
export function startServer(environment: Environment, execArgv?: readonly string[]): Promise<ServerProcess> {
  return untilListening(spawnServer(environment, [], execArgv))
}

/** Starts a server as an operator does: by its bin, with no channel to a parent process, and optimized as V8 likes. */
export function startServerBin(environment: Environment): Promise<ServerProcess> {
  tally('server process')
  const stdio: StdioOptions = ['ignore', 'pipe', 'pipe']
  return untilListening(spawn(process.execPath, [bin], { env: environment, stdio }))
}

function untilListening(child: ChildProcess): Promise<ServerProcess> {
  const ended = programEnd(child)
  let stdout = ''
  return new Promise((resolve, reject) => {
    ended.then(({ code, stderr }) => reject(new Error(`the server ended with ${code}: ${stderr}`)), reject)
    child.stdout?.on('data', (chunk: Buffer) => {
      stdout += chunk.toString()
      const url = /stet listening on (\S+)\n/.exec(stdout)?.[1]
      if (url !== undefined) resolve({ child, url, stdout, ended })
    })
  })
}

export interface WaitingServer extends ServerProcess {
  /** Resolves with the address once the server has taken the lock. */
  serving: Promise<string>
}

/** Starts a second server on the same database. Resolves when it listens and waits for the first one to stop. */
export function startWaitingServer(environment: Environment): Promise<WaitingServer> {
  const child = spawnServer(environment, [])
  const ended = programEnd(child)
  const said = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      let stdout = ''
      child.stdout?.on('data', (chunk: Buffer) => {
        stdout += chunk.toString()
        const url = pattern.exec(stdout)?.[1]
        if (url !== undefined) resolve(url)
      })
      ended.then(({ code, stderr }) => reject(new Error(`the server ended with ${code}: ${stderr}`)), reject)
    })
  const serving = said(/stet listening on (\S+)\n/)
  serving.catch(() => undefined)
  return said(/stet waiting on (\S+) /).then((url) => ({ child, url, stdout: '', ended, serving }))
}

export function spawnServer(environment: Environment, args: readonly string[], execArgv = shortLived): ChildProcess {
  tally('server process')
  return spawn(process.execPath, ['--expose-gc', ...execArgv, program, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...compileCache, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
}
