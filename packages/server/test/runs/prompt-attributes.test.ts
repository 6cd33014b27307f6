import { expect, it, onTestFinished } from 'vitest'
import { createTestProject } from '../http/scenario.ts'
import { otlpCollector } from '../support/otlp-collector.ts'
import { prompt, runBench } from './run-bench.ts'

const text = { lead: prompt('<user>Lead</user>', 'agents: [helper]\n'), helper: prompt('<user>Help</user>') }
const answers = [
  { toolCalls: [{ id: 'x', name: 'lat_agent_helper', arguments: {} }] },
  { text: 'Helped.' },
  { text: 'Led.' },
]

it('names the text of a run, an agent, a chat, a draft and a forced edit on every span that renders or sends it', async () => {
  const collector = await otlpCollector()
  onTestFinished(() => collector.close())
  const bench = await runBench({}, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  onTestFinished(() => bench.close())
  const project = await createTestProject(bench.api, text)
  const { api } = bench
  const { body: live } = await api('GET', project.live)

  const spansOf = async (send: () => Promise<{ status: number }>) => {
    const traceId = crypto.randomUUID().replaceAll('-', '')
    traceparent = `00-${traceId}-b7ad6b7169203331-01`
    expect((await send()).status).toBe(200)
    const spans = () => collector.spans.filter((span) => span.traceId === traceId)
    await expect.poll(() => spans().filter(({ name }) => name === 'run')).toHaveLength(1)
    return spans().filter(({ name }) => /^(run|render template|chat .*)$/.test(name))
  }
  let traceparent = ''
  const run = (place: string, path: string) => () =>
    api('POST', `${place}/documents/run`, { body: { path }, headers: { traceparent } })
  const namesIn = (spans: Awaited<ReturnType<typeof spansOf>>) =>
    spans.map(({ name, attributes: a }) => `${name} ${a['gen_ai.prompt.name']} ${a['gen_ai.prompt.version']}`).sort()
  const hashOf = async (place: string, path: string) =>
    String((await api('GET', `${place}/documents/${path}`)).body['contentHash'])

  bench.fake.enqueue(...answers)
  const led = await spansOf(run(project.live, 'lead'))
  expect(namesIn(led)).toEqual([
    ...['chat gpt-4o helper 1', 'chat gpt-4o lead 1', 'chat gpt-4o lead 1'],
    ...['render template helper 1', 'render template lead 1', 'run lead 1'],
  ])
  const hashes = { lead: await hashOf(project.live, 'lead'), helper: await hashOf(project.live, 'helper') }
  for (const { attributes } of led) {
    const path = attributes['gen_ai.prompt.name'] as keyof typeof hashes
    expect(attributes).toMatchObject({
      'stet.prompt.path': path,
      'stet.prompt.content_hash': hashes[path],
      'stet.version.uuid': live['uuid'],
    })
  }

  const uuid = led.find(({ name }) => name === 'run')?.attributes['gen_ai.conversation.id']
  const messages = [{ role: 'user', content: 'More' }]
  const chat = () => api('POST', `/conversations/${uuid}/chat`, { body: { messages }, headers: { traceparent } })
  expect(namesIn(await spansOf(chat))).toEqual(['chat gpt-4o lead 1', 'run lead 1'])

  const draft = await project.newDraft()
  const draftUuid = draft.split('/').at(-1)
  expect(namesIn(await spansOf(run(draft, 'helper')))).toContain(`run helper ${draftUuid}`)

  const forced = { path: 'helper', prompt: prompt('<user>Help more</user>'), force: true }
  expect((await api('POST', `${project.live}/documents/create-or-update`, { body: forced })).status).toBe(200)
  const edited = await spansOf(run(project.live, 'helper'))
  expect(namesIn(edited)).toContain('run helper 1')
  const hash = await hashOf(project.live, 'helper')
  expect(hash).not.toBe(hashes.helper)
  for (const { attributes } of edited) expect(attributes['stet.prompt.content_hash']).toBe(hash)
})
