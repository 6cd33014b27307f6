/** Started by database-thread.test.ts. */
import { writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startDatabaseThread } from '../../src/thread/database-thread.ts'
import { folderOf } from './database.ts'

const thread = startDatabaseThread(fileURLToPath(new URL('dying-thread.mjs', import.meta.url)), 'test')
await thread.ask('open', { folder: folderOf(''), template: '', program: {} })
await thread.ask('script', { sql: 'SELECT 1' }).catch(() => undefined)
writeSync(1, 'went on without a database')
