import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { compiledPglite } from '../src/thread/compiled-pglite.ts'
import type { Answer, DatabaseTasks, Input, TaskName } from '../src/thread/messages.ts'
import { serveDatabase } from '../src/thread/serve-database.ts'
import { copyDatabase } from './support/copy-database.ts'
import { folderOf, itemTemplate } from './support/database.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

let folder: string
let port: MessagePort

beforeAll(async () => {
  folder = await temporaryFolder()
  await copyDatabase(await itemTemplate(), join(folder, 'db'))
  const { port1, port2 } = new MessageChannel()
  port = port1
  serveDatabase(port2)
  await request('open', { folder: folderOf(join(folder, 'db')), template: '', program: await compiledPglite() })
})
afterAll(async () => {
  await request('close', undefined)
  port.close()
  await rm(folder, { recursive: true })
})

let requests = 0

/** Runs the thread's program in this thread, so that its memory can be measured. */
async function request<Name extends TaskName>(
  task: Name,
  input: Input<Name>,
): Promise<ReturnType<DatabaseTasks[Name]>> {
  requests += 1
  port.postMessage({ id: requests, task, input })
  const [{ output, error }] = (await once(port, 'message')) as [Answer]
  if (error) throw new Error(JSON.stringify(error))
  return output as ReturnType<DatabaseTasks[Name]>
}

it('frees copies of large results immediately', async () => {
  const read = () => request('query', { sql: "SELECT repeat('x', 4000000) AS text", params: [] })
  // The first reads grow the database's own memory.
  for (let reads = 0; reads < 3; reads += 1) await read()
  const before = process.memoryUsage().arrayBuffers
  let most = before
  for (let reads = 0; reads < 12; reads += 1) {
    await read()
    most = Math.max(most, process.memoryUsage().arrayBuffers)
  }
  // Without explicit freeing, V8 accumulates more than 45 MB.
  expect((most - before) / 1_048_576).toBeLessThan(32)
})
