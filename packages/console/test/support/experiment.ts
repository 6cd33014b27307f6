/** A prompt with examples, whose draft breaks one of them and fixes another. */
import { vi } from 'vitest'
import type { FakeRequest } from '../../../server/test/support/fake-provider.ts'
import { newDraft } from './editor-page.ts'
import { frontMatter } from './run-part.ts'
import type { ConsoleServer } from './server.ts'

export const shortText = `${frontMatter()}Be short. {{ ticket }}`
const kindText = `${frontMatter()}Be kind. {{ ticket }}`

/** What the versions answer: live forgets the invoice, and the draft forgets the refund. */
const answers: Record<string, readonly [live: string, draft: string]> = {
  late: ['You get a refund.', 'We are very sorry.'],
  bill: ['No idea.', 'Here is your **invoice**.'],
  thanks: ['You are welcome.', 'You are most welcome.'],
}

const rows = [
  {
    name: 'late',
    parameters: { ticket: 'late order' },
    checks: [{ type: 'contains', all: ['refund'] }],
    tags: ['must'],
  },
  { name: 'bill', parameters: { ticket: 'bill?' }, expected: 'invoice', checks: [{ type: 'contains' }] },
  { name: 'thanks', parameters: { ticket: 'thanks' }, checks: [{ type: 'contains', all: ['welcome'] }] },
]

/** The same rows as a file. */
export const csvRows = {
  name: 'rows.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(
    'name,ticket,expected,tags\nlate,late order,refund,must\nbill,bill?,invoice,\nthanks,thanks,welcome,\n',
  ),
}

export interface Tried {
  draft: string
  documentUuid: string
}

/** Adds the examples and a draft to a project whose prompt `reply` has `shortText`. */
export async function fillExamples(server: ConsoleServer, { hasRows = true, hasChecks = true } = {}): Promise<Tried> {
  const draft = await newDraft(server)
  const versions = `/projects/${server.project.id}/versions`
  const changes = [{ path: 'reply', status: 'modified', content: kindText }]
  await server.api('POST', `${versions}/${draft}/push`, { body: { changes } })
  const { documentUuid } = await server.read<{ documentUuid: string }>(`${versions}/live/documents/reply`)
  const body = {
    documentUuid,
    changes: hasChecks ? rows : rows.map(({ name, parameters }) => ({ name, parameters })),
  }
  if (hasRows) await server.api('POST', `/projects/${server.project.id}/examples/batch`, { body })
  return { draft, documentUuid }
}

/** Lets the fake provider answer so many runs by what they ask. */
export function answerRuns({ fake }: ConsoleServer, runs: number): void {
  const reply = ({ body }: FakeRequest) => {
    const asked = JSON.stringify(body)
    const [, texts] = Object.entries(answers).find(([word]) => asked.includes(word)) ?? []
    return { text: texts?.[asked.includes('kind') ? 1 : 0] ?? 'Nothing to say.' }
  }
  fake.enqueue(...Array.from({ length: runs }, () => reply))
}

/** Starts live against the draft, as a script does, and waits for its end. */
export async function runExperiment(server: ConsoleServer, { draft }: Tried): Promise<string> {
  answerRuns(server, 2 * rows.length)
  const uuid = await startExperiment(server, { arms: [{ versionUuid: 'live' }, { versionUuid: draft }] })
  await experimentEnd(server, uuid)
  return uuid
}

/** @param body all but the path */
export async function startExperiment({ api, project }: ConsoleServer, body: object): Promise<string> {
  const { body: made } = await api('POST', `/projects/${project.id}/experiments`, { body: { path: 'reply', ...body } })
  return String(made['uuid'])
}

/** Adds examples with the tag `many`. */
export async function addRows(
  { api, project }: ConsoleServer,
  { documentUuid }: Pick<Tried, 'documentUuid'>,
  count: number,
): Promise<void> {
  const names = Array.from({ length: count }, (_, at) => `row ${at + 1}`)
  const changes = names.map((name) => ({ name, parameters: { ticket: name }, tags: ['many'] }))
  await api('POST', `/projects/${project.id}/examples/batch`, { body: { documentUuid, changes } })
}

/** Waits until an experiment does not run any more. */
export async function experimentEnd(
  { read }: Pick<ConsoleServer, 'read'>,
  uuid: string,
  timeout = 120_000,
): Promise<void> {
  await vi.waitFor(
    async () => {
      if ((await read<{ state: string }>(`/experiments/${uuid}`)).state === 'running') throw new Error('It still runs')
    },
    { timeout, interval: 200 },
  )
}
