/** A separate PostgreSQL server for one test, which may kill it. */
import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { chown, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { closedPort } from './kept-port.ts'
import { temporaryFolder } from './temporary-folder.ts'

const run = promisify(execFile)

/** Debian's packages install each release's programs in a folder here. */
const releases = '/usr/lib/postgresql'
/** PostgreSQL refuses to run as root. */
const unprivilegedUser = 'postgres'

export interface PrivateCluster {
  url: string
  /** Sends SIGKILL to the server's main process. Resolves when that process and its children have ended. */
  kill(): Promise<void>
  /** Resolves when the server has started and recovered. */
  restart(): Promise<void>
  close(): Promise<void>
}

/** Returns undefined and prints a notice if PostgreSQL, or a user to run it, is missing. */
export async function privateCluster(): Promise<PrivateCluster | undefined> {
  const programs = existsSync(releases) ? readdirSync(releases).map((release) => join(releases, release, 'bin')) : []
  const folder = programs.find((each) => existsSync(join(each, 'initdb')))
  const isRoot = process.getuid?.() === 0
  const user = isRoot ? await idOf(unprivilegedUser) : undefined
  if (folder === undefined || (isRoot && user === undefined)) {
    console.warn('SKIPPED, there is no PostgreSQL that a test could start: kill -9 of the database server')
    return undefined
  }
  const as = (program: string, ...args: string[]) => {
    const [command = '', ...rest] = [
      ...(isRoot ? ['runuser', '-u', unprivilegedUser, '--'] : []),
      join(folder, program),
      ...args,
    ]
    return run(command, rest, { cwd: '/' })
  }
  const home = await temporaryFolder()
  if (user !== undefined) await chown(home, user, -1)
  const data = join(home, 'data')
  const port = await closedPort()
  await as('initdb', '-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C', '--no-sync')
  const options = `-p ${port} -k ${home} -c listen_addresses=127.0.0.1`
  const restart = async () => {
    await as('pg_ctl', '-D', data, '-l', join(home, 'log'), '-o', options, '-t', '120', '-w', 'start')
  }
  const kill = async () => {
    const lines = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')
    const pid = Number(lines[0])
    process.kill(pid, 'SIGKILL')
    while (isAlive(pid)) await delay(5)
    // The children of the process end a moment later. Until then, no other server can use their shared memory.
    while (await isAttached(lines[6]?.trim().split(/\s+/)[1])) await delay(5)
  }
  await restart()
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    kill,
    restart,
    async close() {
      await as('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop')
      await rm(home, { recursive: true, force: true })
    },
  }
}

async function idOf(user: string): Promise<number | undefined> {
  const answer = await run('id', ['-u', user]).catch(() => undefined)
  return answer && Number(answer.stdout)
}

async function isAttached(id: string | undefined): Promise<boolean> {
  const segments = (await readFile('/proc/sysvipc/shm', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/))
  const [head = []] = segments
  const segment = segments.find((columns) => id !== undefined && columns[head.indexOf('shmid')] === id)
  return segment !== undefined && Number(segment[head.indexOf('nattch')]) > 0
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
