/**
 * `pnpm bench:keys`: the delay of a second connection while one API key sends bodies with many values. A separate
 * process sends the bodies, so that this process measures only the server. Exit code 1 above 5 times the idle p95.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'
import { percentile } from '../measuring/rounds.ts'
import { closeAll, startStet, startUpstream } from '../subjects/candidates.ts'
import { describeMachine } from '../subjects/machine.ts'

const seconds = Number(process.env['SECONDS'] ?? 8)
const attackers = Number(process.env['ATTACKERS'] ?? 4)
const limit = 5

const list = (length: number, item: (place: number) => string) => Array.from({ length }, (_, place) => item(place))
const bodyWith = (parameters: string) => `{"path":"bench","parameters":${parameters}}`
const bodies: Readonly<Record<string, string>> = {
  '300,000 keys': bodyWith(`{"topic":"x",${list(300_000, (place) => `"k${place}":1`).join(',')}}`),
  '1,700,000 numbers': bodyWith(`{"topic":[${list(1_700_000, () => '1').join(',')}]}`),
  '500,000 objects': bodyWith(`{"topic":[${list(500_000, () => '{"a":1}').join(',')}]}`),
  '4,990 keys': bodyWith(`{"topic":{${list(4_990, (place) => `"k${place}":1`).join(',')}}}`),
  '4,990 keys of 10 objects each': bodyWith(
    `{"topic":[${list(10, (copy) => `{${list(4_990, (place) => `"k${(place * 7 + copy) % 4_990}":1`).join(',')}}`).join(',')}]}`,
  ),
  '49,000 numbers': bodyWith(`{"topic":[${list(49_000, () => '1').join(',')}]}`),
  '24,000 objects': bodyWith(`{"topic":[${list(24_000, () => '{"a":1}').join(',')}]}`),
  '300,000 keys beside the parameters': `{"path":"bench",${list(300_000, (place) => `"k${place}":1`).join(',')}}`,
  '100,000 messages': `{"path":"bench","messages":[${list(100_000, () => '{"role":"user"}').join(',')}]}`,
  '8,000 messages': `{"path":"bench","messages":[${list(8_000, () => '{"role":"user","content":"x"}').join(',')}]}`,
  'one text of 3.5 MB': bodyWith(`{"topic":"${'x'.repeat(3_500_000)}"}`),
}

const upstream = await startUpstream()
const stet = await startStet(upstream.url)
const victim = new Pool(stet.url, { connections: 1 })
const idle = await victimTimes()
report('idle', idle, {})
let worst = 0
const only = process.env['ONLY']
for (const [name, body] of Object.entries(bodies)) {
  if (only !== undefined && !name.includes(only)) continue
  const attack = await startAttack(body)
  await pause(500)
  const [cpuBefore, sentBefore] = [stet.cpuMs(), attack.statuses.length]
  const times = await victimTimes()
  const cpuMsEach = (stet.cpuMs() - cpuBefore) / Math.max(1, attack.statuses.length - sentBefore)
  await attack.end()
  report(name, times, { cpuMsEach, answers: counted(attack.statuses) })
  worst = Math.max(worst, percentile(times, 0.95) / percentile(idle, 0.95))
}
console.log(JSON.stringify({ bench: 'keys', ...describeMachine(), worstRatio: Number(worst.toFixed(1)) }))
await victim.close()
await closeAll(stet, upstream)
if (worst > limit) process.exitCode = 1

async function startAttack(body: string): Promise<{ statuses: number[]; end(): Promise<void> }> {
  const program = fileURLToPath(new URL('send-bodies.ts', import.meta.url))
  const sender = fork(program, { execArgv: ['--import', 'tsx'] })
  // The sender shares a core with this process. Without a lower priority, waiting for the core would count as server
  // delay.
  if (sender.pid !== undefined) setPriority(sender.pid, 19)
  const statuses: number[] = []
  sender.on('message', (status: number) => statuses.push(status))
  const path = '/api/v3/projects/1/versions/live/documents/run'
  sender.send({ url: stet.url + path, headers: stet.headers, body, connections: attackers })
  await once(sender, 'message')
  return {
    statuses,
    async end() {
      sender.kill()
      await once(sender, 'exit')
    },
  }
}

/** Returns the response times in ms of sequential GETs of a prompt, with pauses of 10 ms. */
async function victimTimes(): Promise<number[]> {
  const times: number[] = []
  const endAt = performance.now() + seconds * 1000
  while (performance.now() < endAt) {
    const startedMs = performance.now()
    const { statusCode, body } = await victim.request({
      method: 'GET',
      path: '/api/v3/projects/1/versions/live/documents/bench',
      headers: stet.headers,
    })
    await body.text()
    if (statusCode !== 200) throw new Error(`the victim got ${statusCode}`)
    times.push(performance.now() - startedMs)
    await pause(10)
  }
  return times
}

function report(attack: string, times: readonly number[], more: object): void {
  const figures = { p50Ms: percentile(times, 0.5), p95Ms: percentile(times, 0.95), p99Ms: percentile(times, 0.99) }
  console.log(JSON.stringify({ bench: 'keys', attack, requests: times.length, ...figures, ...more }))
}

function counted(statuses: readonly number[]): Record<string, number> {
  return Object.fromEntries(
    [...new Set(statuses)].map((one) => [one, statuses.filter((other) => other === one).length]),
  )
}
