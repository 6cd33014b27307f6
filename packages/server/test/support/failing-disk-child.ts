/** Commits on a disk whose syncs begin to fail, in this thread or in one of its own. Started by durability.test.ts. */
import { writeFileSync, writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openPglite } from '../../src/adapters/database/embedded/open-pglite.ts'
import { compiledPglite } from '../../src/adapters/database/embedded/thread/compiled-pglite.ts'
import { startDatabaseThread } from '../../src/adapters/database/embedded/thread/database-thread.ts'
import { breakageOf, FailingFs } from './failing-fs.ts'

const [directory = '', place] = process.argv.slice(2)
const run = await (place === 'thread' ? inThread() : here())
await run(`INSERT INTO workspace (name) VALUES ('acknowledged')`)
writeFileSync(breakageOf(directory), '')
await run(`INSERT INTO workspace (name) VALUES ('lost')`)
writeSync(1, 'acknowledged what was not synced')

async function here(): Promise<(sql: string) => Promise<unknown>> {
  const pglite = await openPglite(directory, new FailingFs(directory))
  return (sql) => pglite.exec(sql)
}

async function inThread(): Promise<(sql: string) => Promise<unknown>> {
  const thread = startDatabaseThread(fileURLToPath(new URL('failing-disk-thread.mjs', import.meta.url)))
  await thread.ask('open', { directory, template: '', program: await compiledPglite() })
  return (sql) => thread.ask('script', { sql })
}
