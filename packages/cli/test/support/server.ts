import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tally } from '../../../../scripts/tally.ts'
import { temporaryFolder } from '../../../server/test/support/temporary-folder.ts'

const bin = fileURLToPath(new URL('../../../server/dist/main.mjs', import.meta.url))

export interface RunningServer {
  address: string
  adminKey: string
  stop(): Promise<void>
}

/** Starts the built server on a free port with an empty data folder. */
export async function startServer(env: Record<string, string> = {}): Promise<RunningServer> {
  const folder = await temporaryFolder()
  tally('server process')
  const child = spawn(process.execPath, ['--expose-gc', bin], {
    env: { PATH: process.env['PATH'] ?? '', PORT: '0', STET_DATA_DIR: folder, STET_LOG_LEVEL: 'error', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const address = await addressOf(child)
  return {
    address,
    adminKey: (await readFile(join(folder, 'admin.key'), 'utf8')).trim(),
    async stop() {
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${text}`)))
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      const address = /stet listening on (\S+)\n/.exec(text)?.[1]
      if (address) resolve(address)
    })
  })
}
