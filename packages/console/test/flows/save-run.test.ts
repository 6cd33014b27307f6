/** Runs become examples, with their answers as what is expected. */
import { beforeAll, expect, it } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { frontMatter } from '../support/run-part.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer

beforeAll(async () => {
  server = await sharedServer({ reply: `${frontMatter()}Answer {{ ticket }}` })
  for (const ticket of ['late order', 'broken lamp']) {
    server.fake.enqueue({ text: `About the ${ticket}.` })
    const body = { path: 'reply', parameters: { ticket } }
    await server.api('POST', `${server.project.live}/documents/run`, { body })
  }
})

it('saves selected runs, and says which of them were saved before', async () => {
  const { page } = await browser.open(server, `/p/${server.project.id}/runs`)
  const boxes = page.getByRole('checkbox', { name: 'Select the run of reply' })
  await boxes.nth(1).check()
  await page.keyboard.press('s')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Expected answer').selectOption('The answer of the run')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('1 example saved', { exact: true }).waitFor()
  await boxes.nth(0).check()
  await page.getByRole('button', { name: 'Save as examples' }).click()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('1 example saved, 1 skipped: saved before').waitFor()
  await page.getByRole('button', { name: 'Show' }).last().click()
  await page.getByRole('button', { name: /^Edit the expected of .*: About the late order\.$/ }).waitFor()
  await page.getByRole('button', { name: /^Edit the inputs of .*: ticket: broken lamp$/ }).waitFor()
  await expect.poll(() => new URL(page.url()).searchParams.get('tab')).toBe('examples')
})
