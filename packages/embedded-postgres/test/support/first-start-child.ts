/** Runs the first start of an embedded database, and kills itself after a delay. Started by first-start.test.ts. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { prepareDirectory } from '../../src/directory/first-start.ts'
import { folderOf } from './database.ts'

const [directory = '', template = '', killAfterMs = ''] = process.argv.slice(2)
// The process kills itself, because a test that waits for a core would kill it too late. A thread does it, because
// unpacking blocks the event loop.
const killer = new Worker(`setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${Number(killAfterMs)})`, {
  eval: true,
})
await once(killer, 'online')
killer.unref()
await prepareDirectory(folderOf(directory), { template })
