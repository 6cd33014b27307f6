/** Long names and lines stay inside of their pane or dialog, with the buttons beside them. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { newDraft, writePrompt } from '../support/editor-page.ts'
import { frontMatter, openRun, runPart } from '../support/run-part.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
const long = 'n'.repeat(120)
let server: ConsoleServer

beforeAll(async () => {
  server = await sharedServer({
    reply: `${frontMatter('parameters: { ticket: { type: text } }\n')}{{ ticket }}`,
  })
})

/** What ends to the right of the window. */
function cut(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('button:not([role=tab]), h1, h2, p, [role=dialog], [role=alert]')]
      .filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > innerWidth + 1)
      .map((element) => `<${element.localName}> ${element.textContent?.slice(0, 40)}`),
  )
}

it.each([1440, 360])('the name of an example, %i px', async (width) => {
  const part = await openRun(browser, server, 'reply', { width })
  await part.input('ticket').fill('Where is it?')
  await part.pane.getByRole('button', { name: 'Save', exact: true }).click()
  await part.pane.getByLabel('Name of the example').fill(`${long} ${width}`)
  await part.pane.getByLabel('Name of the example').press('Enter')
  await part.pane.getByRole('button', { name: /^More for the example/ }).waitFor()
  expect(await cut(part.page)).toEqual([])
})

it.each([1440, 360])('the lines around an error, %i px', async (width) => {
  const version = await newDraft(server)
  const prompt = `${frontMatter()}${'A long sentence in one line. '.repeat(8)}\n{{ if }}`
  await writePrompt(server, 'reply', { version, prompt })
  const address = `${server.promptAddress('reply', version)}?tab=run`
  const { page, context } = await browser.open(server, address, { width, allow: /status of 4/ })
  const part = runPart(page, context)
  await part.run()
  await part.pane.getByRole('button', { name: 'Copy request id' }).waitFor()
  expect(await cut(part.page)).toEqual([])
})

it.each([1440, 360])('the name of a key, %i px', async (width) => {
  const { page } = await browser.open(server, '/settings/keys', { width })
  await page.getByRole('button', { name: 'New key' }).click()
  const form = page.getByRole('dialog', { name: 'New key' })
  await form.getByLabel('Name').fill(long)
  await form.getByRole('button', { name: 'Create' }).click()
  const copied = page.getByRole('button', { name: 'I have copied it' })
  await copied.waitFor()
  expect(await cut(page)).toEqual([])
  await copied.click()
  await page
    .getByRole('button', { name: `Revoke ${long}` })
    .first()
    .waitFor()
  expect(await cut(page)).toEqual([])
})
