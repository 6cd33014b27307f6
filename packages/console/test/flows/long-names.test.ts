/** Long names and lines stay inside of their pane or dialog, with the buttons beside them. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { consoleBrowser, rarely } from '../support/browser.ts'
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

/** The elements that end to the right of the window. */
function cut(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('button:not([role=tab]), h1, h2, p, dialog, [role=alert]')]
      .filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > innerWidth + 1)
      .map((element) => `<${element.localName}> ${element.textContent?.slice(0, 40)}`),
  )
}

async function expectNothingCut(page: Page): Promise<void> {
  for (const width of [1440, 360]) {
    await page.setViewportSize({ width, height: 900 })
    expect(await cut(page), `${width} px`).toEqual([])
  }
}

it('the name of an example', async () => {
  const part = await openRun(browser, server, 'reply')
  await part.input('ticket').fill('Where is it?')
  await part.pane.getByRole('button', { name: 'Save', exact: true }).click()
  await part.pane.getByLabel('Name of the example').fill(long)
  await part.pane.getByLabel('Name of the example').press('Enter')
  await part.pane.getByRole('button', { name: 'Save as another' }).waitFor()
  await expectNothingCut(part.page)
})

rarely('the lines around an error', async () => {
  const version = await newDraft(server)
  const prompt = `${frontMatter()}${'A long sentence in one line. '.repeat(8)}\n{{ if }}`
  await writePrompt(server, 'reply', { version, prompt })
  const address = `${server.promptAddress('reply', version)}?tab=run`
  const { page, context } = await browser.open(server, address, { allow: /status of 4/ })
  const part = runPart(page, context)
  await part.run()
  await part.pane.getByText('Details', { exact: true }).click()
  await part.pane.getByRole('button', { name: 'Copy request id' }).waitFor()
  await expectNothingCut(part.page)
})

it('the name of a key', async () => {
  const { page } = await browser.open(server, '/settings/keys')
  await page.getByRole('button', { name: 'New key' }).click()
  const form = page.getByRole('dialog', { name: 'New key' })
  await form.getByLabel('Name').fill(long)
  await form.getByRole('button', { name: 'Create' }).click()
  const copied = page.getByRole('button', { name: 'I have copied it' })
  await copied.waitFor()
  await expectNothingCut(page)
  await copied.click()
  await page
    .getByRole('button', { name: `Revoke ${long}` })
    .first()
    .waitFor()
  await expectNothingCut(page)
})
