import { rmSync } from 'node:fs'
import { afterAll } from 'vitest'
import { type Opened, openServer } from './scenario.ts'

let shared: Promise<Opened> | undefined
const left: string[] = []

/**
 * Opens a server with default settings that the files of one test process share. A file may change only what belongs to
 * its own projects, keys and tenants. On PostgreSQL each file has a server of its own, whose database it drops.
 */
export async function sharedServer(): Promise<Opened> {
  if (process.env['STET_TEST_DATABASE_URL']) {
    const opened = await openServer()
    afterAll(() => opened.server.close())
    return opened
  }
  shared ??= openServer().then(leaveToEnd)
  return shared
}

/** Deletes the files of a server that no test closes when the process ends. */
export function leaveToEnd(opened: Opened): Opened {
  left.push(opened.server.dataDir)
  if (left.length > 1) return opened
  // Vitest ends the process with this signal and kills it half a second later.
  process.once('SIGTERM', () => {
    for (const folder of left) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    process.kill(process.pid, 'SIGKILL')
  })
  return opened
}
