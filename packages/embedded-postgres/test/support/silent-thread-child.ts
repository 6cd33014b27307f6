/** Started by database-thread.test.ts. */
import { writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startDatabaseThread } from '../../src/thread/database-thread.ts'
import { folderOf } from './database.ts'

const thread = startDatabaseThread(fileURLToPath(new URL('silent-thread.mjs', import.meta.url)), 'test')
await thread.ask('open', { folder: folderOf(''), template: '', program: {} })
thread.watchSilence({ refuseAfterMs: 500, endAfterMs: 5_000 })
const say = (error: Error) => writeSync(1, `${error.name} ${error.message}\n`)
await thread.ask('script', { sql: 'SELECT 1' }).catch(say)
await thread.ask('script', { sql: 'SELECT 2' }).catch(say)
setInterval(() => undefined, 60_000)
