/** Commits on a disk whose syncs start to fail. Started by durability.test.ts. */
import { writeFileSync, writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openPglite } from '../../src/open-pglite.ts'
import { compiledPglite } from '../../src/thread/compiled-pglite.ts'
import { startDatabaseThread } from '../../src/thread/database-thread.ts'
import { folderOf } from './database.ts'
import { breakageOf, FailingFs } from './failing-fs.ts'

const [directory = '', place] = process.argv.slice(2)
const run = await (place === 'thread' ? inThread() : here())
await run(`INSERT INTO item (name) VALUES ('acknowledged')`)
writeFileSync(breakageOf(directory), '')
await run(`INSERT INTO item (name) VALUES ('lost')`)
writeSync(1, 'acknowledged what was not synced')

async function here(): Promise<(sql: string) => Promise<unknown>> {
  const pglite = await openPglite(folderOf(directory), new FailingFs(folderOf(directory)))
  return (sql) => pglite.exec(sql)
}

async function inThread(): Promise<(sql: string) => Promise<unknown>> {
  const thread = startDatabaseThread(fileURLToPath(new URL('failing-disk-thread.mjs', import.meta.url)), 'test')
  await thread.ask('open', { folder: folderOf(directory), template: '', program: await compiledPglite() })
  return (sql) => thread.ask('script', { sql })
}
