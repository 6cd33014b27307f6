/** Asks a database thread that fails. Started by database-thread.test.ts. */
import { writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startDatabaseThread } from '../../src/adapters/database/embedded/thread/database-thread.ts'

const thread = startDatabaseThread(fileURLToPath(new URL('dying-thread.mjs', import.meta.url)))
await thread.ask('open', { directory: '', template: '', program: {} })
await thread.ask('script', { sql: 'SELECT 1' }).catch(() => undefined)
writeSync(1, 'went on without a database')
