/**
 * `pnpm bench:fairness`: one workspace's response times for saves and runs, compared with an idle server. Meanwhile
 * another workspace keeps the evaluation, the lists or the database busy. Exit code 1 above 5 times the idle p95, or if a request of the
 * measured workspace failed.
 */
import { fork, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Agent, request } from 'undici'
import { drive } from '../measuring/drive.ts'
import { percentile } from '../measuring/rounds.ts'
import { adminKey, encryptionKey, openStet, server, startUpstream } from '../subjects/candidates.ts'
import { describeMachine } from '../subjects/machine.ts'

const rounds = Number(process.env['REQUESTS'] ?? 60)
const limit = 5
const warmUpMs = 2_000
const refusedPauseMs = 50
/** 1,000,000 passes cost more than an evaluation may; 90,000 make a text of 400 KB that is sent and stored. */
const loops = { endless: { callers: 50, items: 1_000 }, ending: { callers: 30, items: 300 } }
const lists = { callers: 40, prompts: 150, references: 50 }
const logs = { connections: 12, characters: 3_800_000 }

/** `BASELINE` names another built checkout to measure instead. */
const baseline = process.env['BASELINE']
const program = baseline === undefined ? server : join(baseline, 'packages/server/dist/main.mjs')

const agent = new Agent({ connections: 200, pipelining: 1, headersTimeout: 120_000, bodyTimeout: 120_000 })

interface Tenant {
  key: string
  project: number
  call(
    method: 'GET' | 'POST',
    path: string,
    body?: object,
    signal?: AbortSignal,
  ): Promise<{ status: number; text: string }>
}

interface Figures {
  p50: number
  p95: number
  failures: Record<string, number>
}

const upstream = await startUpstream({ CHUNKS: '5' })
const dataDir = mkdtempSync(join(tmpdir(), 'stet-bench-'))
const database = process.env['BENCH_DATABASE_URL']
const environment: Record<string, string> =
  database === undefined ? {} : { DATABASE_URL: database, STET_ENCRYPTION_KEY: encryptionKey }
const first = await openStet(upstream.url, dataDir, environment, { program })
await first.close()
const created = spawnSync(process.execPath, [program, 'workspace', 'create', 'victim'], {
  env: { ...process.env, ...environment, STET_DATA_DIR: dataDir },
  encoding: 'utf8',
})
const victimAdmin = created.stdout.trim()
const stet = await openStet(upstream.url, dataDir, environment, { program, core: '0,1' })
const attacker = await openTenant(adminKey)
const hobby = await openTenant(adminKey, { plan: 'hobby' })
const victim = await openTenant(victimAdmin)

const loop = `{{ for a in list }}{{ for b in list }}{{ a + b }}{{ endfor }}{{ endfor }}`
await publish(attacker, { loop: front(loop) })
const referenced = Array.from({ length: lists.references }, (_, index) => [
  `part${index}`,
  `Part ${index} {{ ${index} + 1 }}. `.repeat(10),
])
const referring = Array.from({ length: lists.prompts }, (_, index) => [
  `list${index}`,
  front(`Prompt ${index} ${referenced.map(([name]) => `<prompt path="${name}" />`).join('')}`),
])
await publish(attacker, Object.fromEntries([...referenced, ...referring]))
await publish(victim, { own: front('Hello {{ name.toUpperCase() }} {{ n + 1 }}') })

console.log(JSON.stringify({ bench: 'fairness', ...describeMachine() }))
await measureVictim('warm-up')
const idle = await measureVictim('idle')
report('idle', idle)
const attacks: readonly [name: string, callers: number, attack: () => Promise<void>][] = [
  ['endless loops', loops.endless.callers, () => nestedLoop(loops.endless.items)],
  ['nested loops', loops.ending.callers, () => nestedLoop(loops.ending.items)],
  ['lists', lists.callers, listDocuments],
  ['lists, hung up', lists.callers, hungUpList],
]
const chosen = process.env['ATTACK']
for (const [name, callers, attack] of attacks) {
  if (chosen === undefined || chosen === name) report(`${callers} ${name}`, await whileAttacked(callers, attack, name))
}
if (chosen === undefined || chosen === 'large logs') report(`${logs.connections} large logs`, await whileLogsArrive())
report('idle again', await measureVictim('again'))
await agent.destroy()
await stet.close()
await upstream.close()
rmSync(dataDir, { recursive: true, force: true })

function report(name: string, { p50, p95, failures }: Figures): void {
  const ratio = p95 / idle.p95
  const figures = { p50Ms: round(p50), p95Ms: round(p95), ratio: round(ratio), failures }
  console.log(JSON.stringify({ bench: 'fairness', victim: name, ...figures }))
  if (ratio > limit || Object.keys(failures).length > 0) process.exitCode = 1
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function front(text: string): string {
  return `---\nprovider: openai\nmodel: bench\n---\n${text}\n`
}

async function openTenant(adminKey: string, plan: object = { plan: 'custom', limit: 100_000 }): Promise<Tenant> {
  const plain = tenantOf(adminKey, 0)
  const [project] = JSON.parse((await plain.call('GET', '/projects')).text) as [{ id: number }]
  const { key } = JSON.parse((await plain.call('POST', '/api-keys', { name: 'bench', ...plan })).text) as {
    key: string
  }
  return tenantOf(key, project.id)
}

function tenantOf(key: string, project: number): Tenant {
  return {
    key,
    project,
    async call(method, path, body, signal) {
      const answer = await request(`${stet.url}/api/v3${path}`, {
        method,
        dispatcher: agent,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      })
      return { status: answer.statusCode, text: await answer.body.text() }
    },
  }
}

async function publish(tenant: Tenant, documents: Record<string, string>): Promise<void> {
  const versions = `/projects/${tenant.project}/versions`
  const expectOk = ({ status, text }: { status: number; text: string }): string => {
    if (status !== 200 && status !== 201) throw new Error(`${status} ${text.slice(0, 300)}`)
    return text
  }
  const { uuid } = JSON.parse(expectOk(await tenant.call('POST', versions, { name: 'bench' }))) as { uuid: string }
  const changes = Object.entries(documents).map(([path, content]) => ({ path, status: 'added', content }))
  expectOk(await tenant.call('POST', `${versions}/${uuid}/push`, { changes }))
  expectOk(await tenant.call('POST', `${versions}/${uuid}/publish`, {}))
}

async function measureVictim(label: string): Promise<Figures> {
  const times: number[] = []
  const failures: Record<string, number> = {}
  const versions = `/projects/${victim.project}/versions`
  const { uuid } = JSON.parse((await victim.call('POST', versions, { name: label })).text) as { uuid: string }
  const timed = async (path: string, body: object): Promise<void> => {
    const startedMs = performance.now()
    const { status, text } = await victim.call('POST', path, body).catch(unanswered)
    times.push(performance.now() - startedMs)
    if (status === 200) return
    const failure = `${status} ${text.slice(0, 120)}`
    failures[failure] = (failures[failure] ?? 0) + 1
  }
  for (let index = 0; index < rounds; index += 1) {
    const prompt = front(`{{ name.trim() }} ${label} ${index}`)
    await timed(`${versions}/${uuid}/documents/create-or-update`, { path: `saved${index}`, prompt })
    await timed(`${versions}/live/documents/run`, { path: 'own', parameters: { name: 'Ada', n: index } })
  }
  return { p50: percentile(times, 0.5), p95: percentile(times, 0.95), failures }
}

/** Reports an error, such as a timeout, as status 0, which counts as a failure. */
function unanswered(error: unknown): { status: number; text: string } {
  return { status: 0, text: error instanceof Error ? error.message : String(error) }
}

async function whileAttacked(callers: number, attack: () => Promise<void>, label: string): Promise<Figures> {
  const over = new AbortController()
  // On a busy machine an attacker's request may time out. Such a failure does not count.
  const attacking = drive({ parallel: callers, until: over.signal }, () => attack().catch(() => pause(refusedPauseMs)))
  await pause(warmUpMs)
  const figures = await profiled(() => measureVictim(label))
  over.abort()
  await attacking
  return figures
}

async function nestedLoop(items: number): Promise<void> {
  const list = Array.from({ length: items }, (_, index) => index)
  const path = `/projects/${attacker.project}/versions/live/documents/run`
  const { status } = await attacker.call('POST', path, { path: 'loop', parameters: { list } })
  if (status !== 200) await pause(refusedPauseMs)
}

async function listDocuments(): Promise<void> {
  const { status } = await attacker.call('GET', `/projects/${attacker.project}/versions/live/documents`)
  if (status !== 200) await pause(refusedPauseMs)
}

async function hungUpList(): Promise<void> {
  const path = `/projects/${attacker.project}/versions/live/documents`
  await attacker.call('GET', path, undefined, AbortSignal.timeout(300)).catch(() => undefined)
}

/** With `--profile`, prints where the server's threads spend the time of the work. */
async function profiled(work: () => Promise<Figures>): Promise<Figures> {
  const measured = work()
  if (stet.profile) await stet.profile(() => measured)
  return measured
}

/** Another process sends them, so that its work does not delay the measurement. */
async function whileLogsArrive(): Promise<Figures> {
  const messages = [{ role: 'user', content: 'x'.repeat(logs.characters) }]
  const sender = fork(fileURLToPath(new URL('send-bodies.ts', import.meta.url)))
  // With the same priority, waiting for the core would count as the server's delay.
  if (sender.pid !== undefined) setPriority(sender.pid, 19)
  sender.send({
    url: `${stet.url}/api/v3/projects/${hobby.project}/versions/live/documents/logs`,
    headers: { authorization: `Bearer ${hobby.key}` },
    body: JSON.stringify({ path: 'loop', messages }),
    connections: logs.connections,
  })
  const answers: Record<string, number> = {}
  sender.on('message', (status) => {
    answers[String(status)] = (answers[String(status)] ?? 0) + 1
  })
  await pause(warmUpMs)
  const figures = await profiled(() => measureVictim('large logs'))
  sender.kill()
  console.log(JSON.stringify({ bench: 'fairness', sent: 'large logs', answers }))
  return figures
}
