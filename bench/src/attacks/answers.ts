/** `pnpm bench:answers`: the memory during and after a few very large responses, and many large ones. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'
import { drive } from '../measuring/drive.ts'
import { settledBytes } from '../measuring/settled-bytes.ts'
import { closeAll, runRequest, type Stet, startStet } from '../subjects/candidates.ts'
import { describeMachine } from '../subjects/machine.ts'

let text = ''
const provider = await listening(
  createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(completion()))
  }),
)
const { port } = provider.address() as AddressInfo
const only = process.env['ONLY']

if (only !== 'many') await measure('8 answers of 20 MB', { answers: 8, bytes: 20_000_000, parallel: 8 })
if (only !== 'large') await measure('300 answers of 3 MB', { answers: 300, bytes: 3_000_000, parallel: 4 })
console.log(JSON.stringify({ bench: 'answers', ...describeMachine() }))
provider.close()
provider.closeAllConnections()

async function measure(name: string, load: { answers: number; bytes: number; parallel: number }): Promise<void> {
  const stet = await startStet(`http://127.0.0.1:${port}`, { NODE_OPTIONS: '--max-old-space-size=1024' })
  text = 'a short answer'
  await runAll(stet, 20, 4)
  const before = await settledBytes(stet)
  text = '"quoted" words '.repeat(Math.ceil(load.bytes / 15))
  const { failures, peak } = await whileWatched(stet, () => runAll(stet, load.answers, load.parallel))
  const after = await settledBytes(stet)
  text = 'a short answer'
  await runAll(stet, 200, 4)
  const later = await settledBytes(stet)
  const megabytes = (bytes: number) => Math.round(bytes / 1_048_576)
  const figures = { before: megabytes(before), peak: megabytes(peak), after: megabytes(after), later: megabytes(later) }
  console.log(JSON.stringify({ bench: 'answers', load: name, ...figures, failures }))
  await closeAll(stet)
}

async function whileWatched(stet: Stet, work: () => Promise<number>): Promise<{ failures: number; peak: number }> {
  let peak = 0
  const watch = setInterval(() => {
    peak = Math.max(peak, stet.residentBytes())
  }, 20)
  const failures = await work()
  clearInterval(watch)
  return { failures, peak }
}

/** @returns the number of failed requests, including those without a response. */
async function runAll(stet: Stet, answers: number, parallel: number): Promise<number> {
  const pool = new Pool(stet.url, { connections: parallel, headersTimeout: 0, bodyTimeout: 0 })
  let failures = 0
  await drive({ total: answers, parallel }, async () => {
    try {
      const { statusCode, body } = await pool.request(runRequest(false, stet.headers))
      await body.dump({ limit: Number.MAX_SAFE_INTEGER })
      if (statusCode !== 200) failures += 1
    } catch {
      failures += 1
    }
  })
  await pool.close()
  return failures
}

function completion(): string {
  const choice = { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }
  const usage = { prompt_tokens: 20, completion_tokens: 20, total_tokens: 40 }
  return JSON.stringify({ id: 'b', object: 'chat.completion', created: 1, model: 'bench', choices: [choice], usage })
}

function listening(server: Server): Promise<Server> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}
