/**
 * The end of the servers that workers share among their files. A worker that has run its last file gets SIGTERM, so the main
 * process of Vitest ends them.
 */
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onServer } from '../../../server/test/support/database-server.ts'

interface Left {
  pid: number | undefined
  dataDir: string
  databaseUrl: string | undefined
}

const variable = 'STET_TEST_LEFT_SERVERS'

/** Called by a worker. */
export function leaveToTeardown(server: Left): void {
  appendFileSync(process.env[variable] ?? '', `${JSON.stringify(server)}\n`)
}

/** Called by Vitest for each project, before the workers start. Returns what it calls after they have ended. */
export default function setup(): (() => Promise<void>) | undefined {
  if (process.env[variable]) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'stet-test-servers-'))
  const list = join(folder, 'list')
  process.env[variable] = list
  return async () => {
    const lines = existsSync(list) ? readFileSync(list, 'utf8').trim().split('\n') : []
    for (const line of lines) await end(JSON.parse(line) as Left)
    rmSync(folder, { recursive: true })
  }
}

async function end({ pid, dataDir, databaseUrl }: Left): Promise<void> {
  try {
    if (pid) process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended already, because its worker has.
  }
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  const server = process.env['STET_TEST_DATABASE_URL']
  if (databaseUrl && server) {
    const name = new URL(databaseUrl).pathname.slice(1)
    await onServer(server, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  }
}
