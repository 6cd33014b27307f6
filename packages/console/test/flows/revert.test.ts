import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { type ConsoleServer, consoleServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer

beforeAll(async () => {
  server = await consoleServer({ hello: 'Hello', bye: 'Bye' })
})
afterAll(() => server.close())

test('one prompt of a draft goes back to live after a question that names it', async () => {
  const draft = await server.project.newDraft()
  const changes = [
    { path: 'hello', status: 'modified', content: 'Hello, changed' },
    { path: 'bye', status: 'deleted' },
  ]
  expect((await server.api('POST', `${draft}/push`, { body: { changes } })).status).toBe(200)
  const { page } = await browser.open(
    server,
    `/p/${server.project.id}/v/${draft.split('/').at(-1)}/changes?prompt=hello`,
  )
  await page.getByRole('button', { name: 'Revert' }).click()
  const question = page.getByRole('alertdialog', { name: 'Revert hello?' })
  await question.waitFor()

  // Escape changes nothing and gives the focus back.
  await page.keyboard.press('Escape')
  await question.waitFor({ state: 'hidden' })
  expect(await page.getByRole('button', { name: 'Revert' }).evaluate((it) => it === document.activeElement)).toBe(true)
  await page.getByText('2 prompts: 1 changed, 1 deleted').waitFor()

  await page.getByRole('button', { name: 'Revert' }).click()
  await question.getByRole('button', { name: 'Revert' }).click()
  await page.getByText('1 prompt: 1 deleted').waitFor()
  const { body } = await server.api('GET', `${draft}/documents/hello`)
  expect((body as { content: string }).content).toBe('Hello')
})
