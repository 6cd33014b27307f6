import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from './temporary-folder.ts'
import { runInProcess } from './test-io.ts'

const forward = fileURLToPath(new URL('forward.mjs', import.meta.url))

interface Forwarded {
  args: string[]
  cwd: string
  env: Record<string, string>
}

/** A command that other programs can start as stet. It runs in this process, which costs a tenth of the program's start. */
export async function stetCommand() {
  const socket = join(await temporaryFolder(), 'stet.sock')
  const server = createServer({ allowHalfOpen: true }, async (connection) => {
    const { args, cwd, env } = (await json(connection)) as Forwarded
    connection.end(JSON.stringify(await runInProcess(args, { cwd, env, homeDir: env['HOME'] ?? cwd })))
  }).listen(socket)
  await once(server, 'listening')
  return { command: `${process.execPath} ${forward} ${socket}`, stop: () => server.close() }
}
