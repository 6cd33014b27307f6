/** A peer: the Portkey gateway in front of the same provider, if installed by `pnpm bench:peers:install`. */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type Subject, startSubject } from './subject.ts'

export interface Portkey extends Subject {
  headers: Record<string, string>
}

const program = fileURLToPath(
  new URL('../../peers/node_modules/@portkey-ai/gateway/build/start-server.js', import.meta.url),
)

/** @returns undefined after a warning if Portkey is not installed. */
export async function startPortkey(upstreamUrl: string): Promise<Portkey | undefined> {
  if (!existsSync(program)) {
    console.error('\n*** SKIPPED: the Portkey gateway is not installed. Run: pnpm bench:peers:install ***\n')
    return undefined
  }
  const subject = await startSubject('portkey', [program, '--headless', `--port=${await freePort()}`], {
    environment: { NODE_ENV: 'production' },
  })
  const headers = {
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${upstreamUrl}/v1`,
    authorization: 'Bearer bench',
  }
  return { ...subject, headers }
}

/** Portkey does not support port 0. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : 0
}
