/**
 * `pnpm bench:sdk`: the SDK's CPU per streamed event, compared with a bare `fetch` and parser loop. Also counts the
 * requests for a cached prompt. Exit code 1 above the limit, or if a cached prompt causes requests.
 */
import { Stet } from '@stet/sdk'
import { createParser } from 'eventsource-parser'
import { compare, type Figures, loadMeasures, percentile } from '../measuring/rounds.ts'
import { startControl } from '../subjects/candidates.ts'

const events = Number(process.env['EVENTS'] ?? 10_000)
const runs = Number(process.env['RUNS'] ?? 40)

const server = await startControl('event-stream', { EVENTS: String(events) })
const stet = new Stet({ apiKey: 'bench', baseUrl: server.url, projectId: 1, cache: true })

await compare({
  bench: 'sdk, per event',
  measures: loadMeasures,
  control: { name: 'fetch + eventsource-parser', round: () => measure(readBare) },
  others: [
    { name: 'stet.prompts.run', round: () => measure(() => stet.prompts.run('a')) },
    { name: 'stet.prompts.stream, for await', round: () => measure(iterate) },
  ],
  limit: 1.5,
})
await showKeptPrompt()
await server.close()

async function measure(run: () => Promise<unknown>): Promise<Figures> {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  const times: number[] = []
  for (let at = 0; at < runs; at += 1) {
    const start = performance.now()
    await run()
    times.push(performance.now() - start)
  }
  const { user, system } = process.cpuUsage(before)
  const total = runs * events
  return {
    cpuMicros: (user + system) / total,
    unitsPerSecond: (total / (performance.now() - startedAt)) * 1000,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
  }
}

async function readBare(): Promise<string> {
  const response = await fetch(`${server.url}/run`, { method: 'POST', body: '{}' })
  let text = ''
  const parser = createParser({
    onEvent({ data }) {
      const event = JSON.parse(data) as { type: string; textDelta?: string }
      if (event.type === 'text-delta') text += event.textDelta
    },
  })
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? new ReadableStream<Uint8Array>()) {
    parser.feed(decoder.decode(chunk, { stream: true }))
  }
  return text
}

async function iterate(): Promise<void> {
  let count = 0
  for await (const _ of stet.prompts.stream('a')) count += 1
  if (count < events) throw new Error(`Only ${count} of ${events} events came`)
}

async function showKeptPrompt(): Promise<void> {
  const total = 1000
  const first = (await stet.prompts.get('a')) as unknown as { gets: number }
  const before = process.cpuUsage()
  for (let at = 0; at < total; at += 1) await stet.prompts.get('a')
  const { user, system } = process.cpuUsage(before)
  const last = (await stet.prompts.get('a', { cache: false })) as unknown as { gets: number }
  const requests = last.gets - first.gets - 1
  console.log(`\n${total} kept prompts: ${requests} requests, ${((user + system) / total).toFixed(1)} µs of CPU each`)
  if (requests !== 0) process.exitCode = 1
}
