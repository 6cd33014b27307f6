/** Executes each received statement, even after earlier ones failed. Started by full-disk.test.ts. */
import { compiledPglite } from '../../src/thread/compiled-pglite.ts'
import { startDatabaseThread } from '../../src/thread/database-thread.ts'
import { folderOf } from './database.ts'

const [threadFile = '', directory = ''] = process.argv.slice(2)
const thread = startDatabaseThread(threadFile, 'test')
await thread.ask('open', { folder: folderOf(directory), template: '', program: await compiledPglite() })
process.on('message', (sql: string) => {
  thread.ask('script', { sql }).then(
    () => process.send?.('done'),
    (error: Error) => process.send?.(`failed: ${error.message}`),
  )
})
process.send?.('open')
