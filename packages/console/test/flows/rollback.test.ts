import { beforeAll, expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer

beforeAll(async () => {
  server = await sharedServer({ hello: 'Hello, first', gone: 'Only in the first' })
  const draft = await server.project.newDraft()
  const changes = [
    { path: 'hello', status: 'modified', content: 'Hello, second' },
    { path: 'gone', status: 'deleted' },
    { path: 'new', status: 'added', content: 'Only in the second' },
  ]
  await server.api('POST', `${draft}/push`, { body: { changes } })
  await server.api('POST', `${draft}/publish`, { body: { title: 'Second' } })
})

test('an earlier version becomes live again as a new version, after showing what changes', async () => {
  const { page } = await browser.open(server, `/p/${server.project.id}/history`)
  // The keys step through the prompts of a version and change the layout, and the version stays open.
  await page.getByRole('link', { name: 'v2', exact: true }).click()
  const shown = (path: string) => page.getByRole('region', { name: path, exact: true }).waitFor()
  await shown('gone')
  await page.keyboard.press('j')
  await shown('hello')
  await page.keyboard.press('k')
  await shown('gone')
  await page.keyboard.press('j')
  await page.keyboard.press('u')
  await page.locator('.cm-mergeView').waitFor()
  await shown('hello')
  await page.getByRole('button', { name: 'Unified' }).click()
  await page.locator('.cm-mergeView').waitFor({ state: 'detached' })
  await page.getByRole('heading', { level: 2, name: /^v2/ }).waitFor()
  // The whole row is the link.
  const row = await page.getByRole('row', { name: /^v1 / }).boundingBox()
  if (!row) throw new Error('The row is not shown')
  await page.mouse.click(row.x + row.width - 20, row.y + row.height / 2)
  await page.getByRole('button', { name: 'Roll back to v1' }).click()
  const dialog = page.getByRole('dialog', { name: 'Roll back to v1' })
  await dialog.getByText('3 prompts: 1 added, 1 changed, 1 deleted.').waitFor()
  await dialog.getByText('hello').click()
  await dialog.locator('.cm-changedText', { hasText: 'first' }).first().waitFor()
  await dialog.getByRole('button', { name: 'Roll back', exact: true }).click()

  await page.getByRole('heading', { name: 'v3 rollback to v1' }).waitFor()
  const documents = await server.read<{ path: string; content: string }[]>(`${server.project.live}/documents`)
  const texts = documents.map(({ path, content }) => [path, content])
  expect(texts).toEqual([
    ['gone', 'Only in the first'],
    ['hello', 'Hello, first'],
  ])
})

test('a publication while the dialog is open stops the roll-back, and the draft stays', async () => {
  const { page } = await browser.open(server, `/p/${server.project.id}/history`, { allow: /status of 409/ })
  await page.getByRole('link', { name: 'v2', exact: true }).click()
  await page.getByRole('button', { name: 'Roll back to v2' }).click()
  const dialog = page.getByRole('dialog', { name: 'Roll back to v2' })
  await dialog.getByText(/^\d prompts?: /).waitFor()

  const draft = await server.project.newDraft()
  const changes = [{ path: 'hello', status: 'modified', content: 'Hello, meanwhile' }]
  await server.api('POST', `${draft}/push`, { body: { changes } })
  await server.api('POST', `${draft}/publish`)

  await dialog.getByRole('button', { name: 'Roll back', exact: true }).click()
  await dialog.getByText('Live has not changed').waitFor()
  const { content } = await server.read<{ content: string }>(`${server.project.live}/documents/hello`)
  expect(content).toBe('Hello, meanwhile')
})
