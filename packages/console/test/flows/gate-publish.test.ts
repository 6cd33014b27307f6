/** What the gates of a project say before a publication. */
import { beforeAll, expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { newDraft } from '../support/editor-page.ts'
import { fillExamples, runExperiment, shortText } from '../support/experiment.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer

beforeAll(async () => {
  server = await sharedServer({ hello: 'Hello', reply: shortText })
})

test('a draft without a result is refused, an admin publishes it with a reason, and one that passes is published', async () => {
  const project = `/projects/${server.project.id}`
  const gates = [{ path: '*', evaluations: ['Checks'] }]
  expect((await server.api('PUT', `${project}/gates`, { body: { mode: 'block', gates } })).status).toBe(200)
  const draft = await newDraft(server)
  const changes = [{ path: 'hello', status: 'modified', content: 'Hello dear' }]
  await server.api('POST', `${project}/versions/${draft}/push`, { body: { changes } })

  const { page } = await browser.open(server, `/p/${server.project.id}/v/${draft}/changes`)
  await page.getByText('No experiment has compared this text with live.').first().waitFor()
  await page.getByRole('button', { name: 'Publish' }).click()
  const dialog = page.getByRole('dialog', { name: 'Publish' })
  await dialog.getByText('hello: ').waitFor()
  await dialog.getByRole('button', { name: 'Publish (the gates refuse it)' }).waitFor()
  await dialog.getByText('Publish despite the gates').click()
  await dialog.getByRole('button', { name: 'Publish anyway (write a reason first)' }).waitFor()
  await dialog.getByLabel('Reason').fill('The provider is down')
  await dialog.getByRole('button', { name: 'Publish anyway' }).click()
  await page.getByRole('heading', { name: /^v2 / }).waitFor()
  const { items } = await server.read<{ items: { reason: string; overrides: { path: string }[] }[] }>(
    `${project}/environments/live/releases`,
  )
  expect(items[0]).toMatchObject({ reason: 'The provider is down', overrides: [{ path: 'hello' }] })

  // The examples of the next draft pass: one is fixed, and one stays as it was.
  const tried = await fillExamples(server)
  const [late] = await server.read<{ uuid: string; name: string }[]>(
    `${project}/examples?documentUuid=${tried.documentUuid}`,
  )
  expect(late?.name).toBe('late')
  await server.api('DELETE', `${project}/examples/${late?.uuid}`)
  const few = [{ path: 'reply', evaluations: ['Checks'], minRows: 2 }]
  await server.api('PUT', `${project}/gates`, { body: { mode: 'block', gates: few } })
  const experiment = await runExperiment(server, tried)
  await page.goto(server.address(`/p/${server.project.id}/v/${tried.draft}/changes`))
  await page.getByText('pass', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Publish' }).click()
  await dialog.getByText('reply: ').waitFor()
  const result = dialog.getByRole('link', { name: 'Result' })
  expect(await result.getAttribute('href')).toContain(experiment)
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByRole('heading', { name: /^v3 / }).waitFor()
})
