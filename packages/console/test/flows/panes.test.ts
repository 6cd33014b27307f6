/** The panes beside the editor: what the model receives, which prompts use each other, and how the prompt is called. */
import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { editorOf, newDraft, storedPrompt, writePrompt } from '../support/editor-page.ts'
import { frontMatter, runPart } from '../support/run-part.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
const stet = fileURLToPath(new URL('../../../cli/bin/stet.mjs', import.meta.url))
let server: ConsoleServer

beforeAll(async () => {
  server = await sharedServer({
    'support/greeting': `${frontMatter('parameters:\n  name: { type: text, required: true }\n')}<prompt path="tone" /> Greet {{ name }} on {{ day }}.`,
    'support/reply': `${frontMatter()}<prompt path="tone" /> Answer the customer.`,
    'support/tone': 'Write in plain words.',
    called: `---
provider: demo
model: demo
parameters:
  count: { type: integer }
---
It's {{ name }}, {{ count }} times.`,
    classified: `---
provider: demo
model: demo
schema: { type: object, properties: { label: { type: string } }, required: [label] }
---
Classify it.`,
  })
})

async function opened(path: string, tab: string, version = 'live', example?: unknown) {
  const { page } = await browser.open(
    server,
    `${server.promptAddress(path, version)}?tab=${tab}${example ? `&example=${example}` : ''}`,
  )
  await editorOf(page).ready()
  const pane = page.getByRole('tabpanel', { name: tab, exact: false }).first()
  await pane.waitFor()
  return { page, pane }
}

const shownMessages = (page: Page) =>
  page
    .locator('article:visible')
    .evaluateAll((all) => all.map((one) => [...one.children].map((part) => part.textContent)))

test('F8 leads to the first error, also if the text was not shown yet', async () => {
  const draft = await newDraft(server)
  await writePrompt(server, 'called', { version: draft, prompt: 'One\nTwo\n{{ endif }}\nFour' })
  const { page } = await browser.open(server, `${server.promptAddress('called', draft)}?tab=run`, { width: 1000 })
  await page.getByText('The inputs appear when the prompt compiles.').waitFor()
  expect(await editorOf(page).content.count()).toBe(0)
  await page.keyboard.press('F8')
  await editorOf(page).ready()
  await expect.poll(() => page.locator('[class*="cursor"]').last().textContent()).toMatch(/^3:/)
  await expect.poll(() => editorOf(page).content.evaluate((text) => text.contains(document.activeElement))).toBe(true)
})

test('Preview ends with the messages of the example, as a run sends them', async () => {
  const { documentUuid } = await server.read<{ documentUuid: string }>(
    `${server.project.live}/documents/support/greeting`,
  )
  // A prompt without inputs uses no example, as a run of it does.
  const tone = await server.read<{ documentUuid: string }>(`${server.project.live}/documents/support/tone`)
  const messages = [
    { role: 'user', content: [{ type: 'text', text: 'Who is Ana?' }] },
    { role: 'assistant', content: 'A <b>customer</b>.' },
  ]
  const parameters = { name: '<img src=x> Ana', day: 'Friday' }
  const body = { documentUuid, name: 'Chat', parameters, messages }
  const { status, body: example } = await server.api('POST', `/projects/${server.project.id}/examples`, { body })
  expect(status).toBe(201)
  const old = { documentUuid: tone.documentUuid, name: 'Old', parameters: {}, messages }
  const { body: unused } = await server.api('POST', `/projects/${server.project.id}/examples`, { body: old })
  const { page, pane } = await opened('support/tone', 'preview', 'live', unused['uuid'])
  await expect.poll(() => shownMessages(page)).toEqual([['system', 'Write in plain words.']])
  await page.goto(`${server.promptAddress('support/greeting')}?tab=preview`)
  await expect.poll(() => shownMessages(page)).toEqual([['system', 'Write in plain words. Greet name on day.']])
  expect(await page.locator('article:visible [class*="chip"]').allTextContents()).toEqual(['name', 'day'])
  await page.goto(`${page.url()}&example=${String(example['uuid'])}`)
  await pane.getByText('With the example “Chat”.').waitFor()
  const shown = [
    ['system', 'Write in plain words. Greet <img src=x> Ana on Friday.'],
    ['user', 'Who is Ana?'],
    ['assistant', 'A <b>customer</b>.'],
  ]
  await expect.poll(() => shownMessages(page)).toEqual(shown)
  await page.getByRole('tab', { name: 'Run' }).click()
  const run = runPart(page, page.context())
  await run.run()
  await run.waitFor('Completed')
  const sent = server.fake.requests.at(-1)?.body['messages'] as { role: string; content: unknown }[]
  const textOf = (content: unknown) => (Array.isArray(content) ? content.map(({ text }) => text).join('') : content)
  expect(sent.map(({ role, content }) => [role, textOf(content)])).toEqual(shown)
  // The preview shows inputs of Run at once.
  await page.getByRole('textbox', { name: /^day/ }).fill('')
  await page.getByRole('textbox', { name: /^name/ }).fill('Bea')
  await page.getByRole('tab', { name: 'Preview' }).click()
  await expect
    .poll(async () => (await shownMessages(page))[0])
    .toEqual(['system', 'Write in plain words. Greet Bea on day.'])
  expect(await page.locator('article:visible [class*="chip"]').allTextContents()).toEqual(['day'])
  // A prompt that does not compile is an error for all inputs.
  const draft = await newDraft(server)
  await writePrompt(server, 'support/greeting', { version: draft, prompt: '{{ endif }}{{ name }}' })
  await page.goto(`${server.promptAddress('support/greeting', draft)}?tab=preview`)
  await pane.locator('[data-tone="red"]').waitFor()
})

test('References lead both ways, and create what is missing', async () => {
  const draft = await newDraft(server)
  await writePrompt(server, 'support/reply', {
    version: draft,
    prompt: '<prompt path="tone" /><prompt path="thanks" />',
  })
  const { page, pane } = await opened('support/reply', 'references', draft)
  const links = () => pane.getByRole('link').allTextContents()
  await pane.getByText('missing', { exact: true }).waitFor()
  expect(await links()).toEqual(['support/tone'])
  await pane.getByRole('link', { name: 'support/tone' }).click()
  await page.getByRole('heading', { level: 1, name: 'support/tone' }).waitFor()
  await expect.poll(links).toEqual(['support/greeting', 'support/reply'])
  await pane.getByRole('link', { name: 'support/reply' }).click()
  await pane.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('heading', { level: 1, name: 'support/thanks' }).waitFor()
  expect((await storedPrompt(server, 'support/thanks', draft)).content).toBe('')
  await expect.poll(links).toEqual(['support/reply'])
})

test.each([
  ['live', 'called', "It's …, 1 times."],
  ['a draft', 'called', "It's …, 1 times."],
  ['live', 'classified', 'label'],
])('the lines in Use call %s %s as they are shown', async (kind, path, expected) => {
  const version = kind === 'live' ? 'live' : await newDraft(server)
  const { pane } = await opened(path, 'use', version)
  await pane.getByText('Command line').waitFor()
  const [typescript = '', curl = '', command = ''] = await pane.locator('pre').allTextContents()
  // The button beside a line covers none of it.
  const blocks = await pane.locator('section:has(pre)').all()
  expect(blocks).toHaveLength(3)
  for (const block of blocks) {
    const [text, button] = [
      await block.boundingBox(),
      await block.locator('xpath=..').getByRole('button').boundingBox(),
    ]
    expect(Number(text?.x) + Number(text?.width)).toBeLessThanOrEqual(Number(button?.x))
  }
  const environment = { ...process.env, STET_API_KEY: server.key, STET_BASE_URL: server.address('') }
  const run = async (program: string, ...args: string[]) =>
    (await promisify(execFile)(program, args, { env: environment })).stdout
  const { conversation, response } = JSON.parse(await run('bash', '-c', `${curl} -s`)) as Record<string, never>
  expect(JSON.stringify({ conversation, response })).toContain(expected)
  expect(await run('bash', '-c', `stet() { '${process.execPath}' '${stet}' "$@"; }; ${command}`)).toContain(expected)
  // Beside this file, so that it finds the SDK.
  const program = fileURLToPath(new URL(`./.use-${process.pid}.mjs`, import.meta.url))
  await writeFile(program, typescript)
  try {
    expect(await run(process.execPath, program)).toContain(expected)
  } finally {
    await rm(program)
  }
})
