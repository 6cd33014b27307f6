/** A judge is written into a draft, and its page says how far people agree with it. */
import { beforeAll, expect, it } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { editorOf } from '../support/editor-page.ts'
import { fillExamples, shortText, type Tried } from '../support/experiment.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer
let tried: Tried

beforeAll(async () => {
  server = await sharedServer({ reply: shortText })
  tried = await fillExamples(server)
})

it('creates a judge that informs only until people have labeled enough', async () => {
  const { page } = await browser.open(server, `${server.promptAddress('reply', tried.draft)}?tab=examples`)
  await page.getByRole('button', { name: 'Evaluations' }).click()
  await page.getByRole('menuitem', { name: 'Create a judge' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create a judge' })
  await dialog.getByLabel('Name').fill('Polite tone')
  await dialog.getByLabel('Criteria').fill('Is the answer polite? {{ braces }} and <tags> are text.')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('heading', { name: 'Polite tone' }).waitFor()
  await page.getByText('0 of 10 passes labeled; 0 of 10 fails labeled').waitFor()
  const table = page.getByRole('region', { name: 'Agreement' })
  expect(await table.getByRole('row').nth(1).textContent()).toContain('no labels')
  await page.getByRole('link', { name: 'Edit the judge' }).click()
  const editor = editorOf(page)
  await editor.ready()
  expect((await editor.lines()).join('\n')).toContain('Is the answer polite?')
  await page.goBack()
  await page.getByRole('link', { name: 'Label answers' }).click()
  await page.getByRole('heading', { name: 'Label: Polite tone' }).waitFor()
})
