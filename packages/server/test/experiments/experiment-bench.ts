/** A server with a fake provider, a prompt that has a live version and a draft, and examples. */
import { EventEmitter, once } from 'node:events'
import type { Experiment, ExperimentRow } from '@stet/contract/vocabulary'
import type { Replaced } from '../../src/compose.ts'
import type { ApiAnswer } from '../http/api-call.ts'
import { type Api, createTestProject, type Opened, openServer } from '../http/scenario.ts'
import { prompt } from '../runs/run-bench.ts'
import { type FakeProvider, fakeProvider } from '../support/fake-provider.ts'
import type { TestServer } from '../support/test-server.ts'

export interface ExperimentBench {
  server: TestServer
  api: Api
  fake: FakeProvider
  projectId: number
  live: string
  /** The path of the draft's routes, and its uuid. */
  draft: string
  draftUuid: string
  documentUuid: string
  close(): Promise<void>
  addRows(names: readonly string[], more?: Record<string, unknown>): Promise<string[]>
  start(body?: Record<string, unknown>): Promise<ApiAnswer<Experiment>>
  created(body?: Record<string, unknown>): Promise<Experiment>
  get(uuid: string): Promise<Experiment>
  /** Resolves when the experiment is in another state. */
  ended(uuid: string): Promise<Experiment>
  rows(uuid: string, query?: string): Promise<ExperimentRow[]>
}

/** The row's name is in the request, so that the fake provider can answer by row. */
export const texts = {
  live: prompt('Live: {{ name }}', 'maxRetries: 0\nparameters:\n  name:\n    type: text\n    required: true\n'),
  draft: prompt('Draft: {{ name }}', 'maxRetries: 0\nparameters:\n  name:\n    type: text\n    required: true\n'),
}

export const bothArms = [{ versionUuid: 'live' }, { versionUuid: 'draft' }]

export async function experimentBench(
  environment: Record<string, string> = {},
  options: Replaced = {},
): Promise<ExperimentBench> {
  const fake = await fakeProvider()
  const opened = await openServer({ OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: fake.url, ...environment }, options)
  const parts = await experimentProject(opened)
  return {
    ...opened,
    ...parts,
    fake,
    async close() {
      fake.closeConnections()
      await opened.server.close()
      await fake.close()
    },
  }
}

type Project = Omit<ExperimentBench, 'server' | 'api' | 'fake' | 'close'>

const experimentEnds = new WeakMap<TestServer, EventEmitter>()

/** Emits an event when an experiment of the server has ended by itself. Before the tests, which replace `finish` for a while. */
function noteEnds(server: TestServer): void {
  const ends = new EventEmitter()
  experimentEnds.set(server, ends)
  const { work } = server.deps.experiments
  const { finish } = work
  work.finish = async (...args) => {
    const isFirst = await finish(...args)
    ends.emit('end')
    return isFirst
  }
}

function nextEnd(server: TestServer): Promise<unknown> {
  const ends = experimentEnds.get(server)
  if (!ends) throw new Error('The server has no project of experimentProject')
  return once(ends, 'end')
}

/** Resolves when the experiment is in another state than `running`. */
export async function endedExperiment({ server, api }: Pick<Opened, 'server' | 'api'>, uuid: string) {
  for (;;) {
    // Before the request, which may return the state before the end.
    const end = nextEnd(server)
    const { body } = await expectOk(api<Experiment>('GET', `/experiments/${uuid}`))
    if (body.state !== 'running') return body
    await end
  }
}

/** A further project on the same server. */
export async function experimentProject({ server, api }: Pick<Opened, 'server' | 'api'>): Promise<Project> {
  if (!experimentEnds.has(server)) noteEnds(server)
  const project = await createTestProject(api, { greet: texts.live })
  const draft = await project.newDraft()
  await expectOk(api('POST', `${draft}/documents/create-or-update`, { body: { path: 'greet', prompt: texts.draft } }))
  const { body } = await expectOk(api('GET', `${project.live}/documents/greet`))
  const documentUuid = String(body['uuid'])
  const experiments = `/projects/${project.id}/experiments`
  const start = (more: Record<string, unknown> = {}) =>
    api<Experiment>('POST', experiments, { body: { path: 'greet', arms: bothArms, ...more } })
  const get = async (uuid: string) => (await expectOk(api<Experiment>('GET', `/experiments/${uuid}`))).body
  return {
    projectId: project.id,
    live: project.live,
    draft,
    draftUuid: draft.split('/').at(-1) ?? '',
    documentUuid,
    start,
    get,
    async addRows(names, more = {}) {
      const changes = names.map((name) => ({ name, parameters: { name }, ...more }))
      await expectOk(api('POST', `/projects/${project.id}/examples/batch`, { body: { documentUuid, changes } }))
      const all = await expectOk(
        api<{ uuid: string; name: string }[]>('GET', `/projects/${project.id}/examples?documentUuid=${documentUuid}`),
      )
      return names.map((name) => all.body.find((row) => row.name === name)?.uuid ?? '')
    },
    created: async (more) => (await expectOk(start(more), 201)).body,
    ended: (uuid) => endedExperiment({ server, api }, uuid),
    async rows(uuid, query = '') {
      return (await expectOk(api<{ items: ExperimentRow[] }>('GET', `/experiments/${uuid}/items${query}`))).body.items
    },
  }
}

export async function expectOk<Body>(answer: Promise<ApiAnswer<Body>>, status = 200): Promise<ApiAnswer<Body>> {
  const got = await answer
  if (got.status !== status) throw new Error(`Expected ${status}, got ${got.status}: ${got.text}`)
  return got
}
