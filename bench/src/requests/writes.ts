/** `pnpm bench:writes`: the API's writes compared with the same SQL by hand, with the number of statements. */
import { randomUUID } from 'node:crypto'
import { type LoadRequest, requestLoad } from '../measuring/load.ts'
import { type Comparison, compare, type Figures } from '../measuring/rounds.ts'
import { closeAll, startControl, startStet } from '../subjects/candidates.ts'
import type { Subject } from '../subjects/subject.ts'

const load = { total: Number(process.env['REQUESTS'] ?? 400), parallel: 8 }
const metricsToken = randomUUID()

const stet = await startStet('http://127.0.0.1:1', { STET_METRICS_TOKEN: metricsToken })
const databaseUrl = process.env['BENCH_CONTROL_DATABASE_URL']
const byHand = await startControl('sql-by-hand', databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl })

const measures: Comparison['measures'] = [
  { name: 'cpuMicros', title: 'CPU µs/write', digits: 0, isCompared: true },
  { name: 'unitsPerSecond', title: 'writes/s', digits: 0, isCompared: true },
  { name: 'p50Ms', title: 'p50 ms', digits: 2, isCompared: true },
  { name: 'p99Ms', title: 'p99 ms', digits: 2, isCompared: true },
  { name: 'statements', title: 'statements', digits: 1, isCompared: false },
]

async function call(path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${stet.url}/api/v3${path}`, {
    method: 'POST',
    headers: { ...stet.headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Record<string, unknown>
}

const post = (path: string, body: object, headers: Record<string, string> = {}): LoadRequest => ({
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})
const toStet = (path: string, body: object): LoadRequest => post(`/api/v3${path}`, body, stet.headers)

async function statementsOf(subject: Subject): Promise<number> {
  const isStet = subject.name === stet.name
  const headers = { authorization: `Bearer ${metricsToken}` }
  const text = await (await fetch(`${subject.url}${isStet ? '/metrics' : ''}`, isStet ? { headers } : {})).text()
  return Number(isStet ? /^stet_sql_statements_total (\d+)$/m.exec(text)?.[1] : text)
}

async function measured(subject: Subject, request: () => LoadRequest, expected = 200): Promise<Figures> {
  const before = await statementsOf(subject)
  const figures = await requestLoad(subject, request, { ...load, expected })
  return { ...figures, statements: ((await statementsOf(subject)) - before) / load.total }
}

const live = '/projects/1/versions/live/documents'
const draft = `/projects/1/versions/${String((await call('/projects/1/versions', { name: 'writes' }))['uuid'])}/documents`
const log = await call(`${live}/logs`, { path: 'bench', messages: [] })
const evaluation = await call('/evaluations', { projectId: 1, name: 'bench', metric: 'rating' })
const annotations = `/conversations/${String(log['uuid'])}/evaluations/${String(evaluation['uuid'])}/annotate`

let made = 0
const text = (): string => {
  made += 1
  return `---\nprovider: openai\nmodel: bench\n---\nText ${made}`
}
const document = () => ({ path: `folder/${randomUUID()}`, prompt: text() })
const message = { messages: [{ role: 'user', content: 'Hello' }] }

interface Write {
  name: string
  /** Both servers get the body. Only stet uses `path`. */
  request(): { path: string; body: object }
  expected?: number
  prepare?(): Promise<() => { path: string; body: object }>
}

/** Creates a separate draft for each publication, so that publications do not conflict. */
async function drafts(): Promise<() => { path: string; body: object }> {
  const uuids: string[] = []
  for (let index = 0; index < load.total; index += 1) {
    const { uuid } = await call('/projects/1/versions', { name: 'writes' })
    await call(`/projects/1/versions/${String(uuid)}/documents/create-or-update`, document())
    uuids.push(String(uuid))
  }
  return () => ({ path: `/projects/1/versions/${uuids.pop()}/publish`, body: {} })
}

const writes: Write[] = [
  { name: 'get-or-create', request: () => ({ path: `${draft}/get-or-create`, body: document() }) },
  {
    name: 'update',
    request: () => ({ path: `${draft}/create-or-update`, body: { path: 'updated', prompt: text() } }),
  },
  { name: 'publish', request: () => ({ path: '', body: {} }), prepare: drafts },
  { name: 'log', request: () => ({ path: `${live}/logs`, body: { path: 'bench', ...message } }) },
  { name: 'annotate', request: () => ({ path: annotations, body: { score: 3 } }), expected: 201 },
]

for (const { name, request, expected, prepare } of writes) {
  await compare({
    bench: `writes, ${name}, ${load.parallel} at once`,
    measures,
    control: {
      name: 'SQL by hand',
      round: async () => {
        if (prepare) {
          const { parallel, total } = load
          await requestLoad(byHand, () => post('/prepare', document()), { parallel, total })
        }
        return measured(byHand, () => post(`/${name}`, request().body))
      },
    },
    others: [
      {
        name: 'stet',
        round: async () => {
          const next = prepare ? await prepare() : request
          const asked = () => {
            const { path, body } = next()
            return toStet(path, body)
          }
          return measured(stet, asked, expected)
        },
      },
    ],
  })
}
await closeAll(stet, byHand)
