import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { type ConsoleServer, consoleServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer

beforeAll(async () => {
  server = await consoleServer({ hello: 'Hello' })
})
afterAll(() => server.close())

test('a draft that does not compile is refused with links to its lines', async () => {
  const draft = await server.project.newDraft()
  const changes = [{ path: 'support/broken', status: 'added', content: 'fine\n{{ if x }}\nnever closed' }]
  expect((await server.api('POST', `${draft}/push`, { body: { changes } })).status).toBe(200)
  const { page } = await browser.open(server, `/p/${server.project.id}/v/${draft.split('/').at(-1)}/changes`, {
    allow: /status of 422/,
  })
  await page.getByRole('button', { name: 'Publish' }).click()
  const dialog = page.getByRole('dialog', { name: 'Publish' })
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
  await dialog.getByText('These prompts have errors.').waitFor()
  const link = dialog.getByRole('link', { name: /^Line \d+: / }).first()
  const href = await link.getAttribute('href')
  expect(href).toMatch(/\/prompts\/support\/broken\?line=\d+$/)
  await link.click()
  await page.waitForURL(/prompts\/support\/broken\?line=/)
  const documents = await server.read<{ path: string }[]>(`${server.project.live}/documents`)
  expect(documents.map(({ path }) => path)).toEqual(['hello'])
})
