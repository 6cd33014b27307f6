/** Text that wants to be more than text, in every place that shows what others have written. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { editorOf, newDraft, writePrompt } from '../support/editor-page.ts'
import { frontMatter, openRun } from '../support/run-part.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'
import { tasksDuring } from '../support/tasks.ts'

const browser = consoleBrowser()
const hostile = [
  '<script>document.title = "taken"</script>',
  '<img src="https://elsewhere.example/a.png" onerror="document.title = \'taken\'">',
  '![picture](https://elsewhere.example/b.png) [link](javascript:alert(1))',
  '\u202Eright to left\u202C שלום',
  '\u001b[31mred\u001b[0m\u0007',
].join('\n')
const tools = 'tools:\n  look_up:\n    description: d\n    parameters: { type: object, properties: {} }\n'
let server: ConsoleServer

beforeAll(async () => {
  server = await sharedServer({
    plain: `${frontMatter()}Say something about {{ topic }}`,
    tool: `${frontMatter(tools)}Look it up`,
    text: `/* ${hostile} */\nPlain`,
  })
})

/** Nothing became an element, and the page has kept its title. The browser's watch sees every request. */
async function expectText(page: Page): Promise<void> {
  expect(await page.locator('img[src], iframe, a[href^="javascript"], script:not([src])').count()).toBe(0)
  expect(await page.title()).not.toContain('taken')
}

test('as an output of 5 MB, and as anything that the inspector shows', async () => {
  const part = await openRun(browser, server, 'plain')
  const length = 5 * 1024 * 1024
  const delta = `${hostile}\n`.repeat(Math.ceil(length / 100 / (hostile.length + 1)))
  server.fake.enqueue({ deltas: Array.from({ length: 100 }, () => delta) })
  await part.input('topic').fill('anything')
  await part.run()
  await part.waitFor('Completed')
  const answer = await part.answer()
  expect(answer).toContain('\u241b[31mred')
  expect(answer).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
  await expectText(part.page)
  // The page keeps working.
  await part.input('topic').fill('another')
  expect(await part.input('topic').inputValue()).toBe('another')
  await inspect(part.page)
})

/** Twice the longest task on a busy machine, which other programs keep from its caches. */
const mostMs = 400
const deep = 10_000
const answers: Record<string, string> = {
  markup: hostile,
  'JSON with markup': JSON.stringify({ [hostile]: hostile }),
  '10 MB': `${hostile}\n`.repeat(Math.ceil((10 * 1024 * 1024) / (hostile.length + 1))),
  'a line of 10 MB': 'x'.repeat(10 * 1024 * 1024),
  'quotes in quotes': `${'>'.repeat(deep)} deep`,
  'lists in lists': Array.from({ length: 200 }, (_, at) => `${' '.repeat(2 * at)}- ${at}`).join('\n'),
  'open brackets': '['.repeat(deep),
  'emphasis in emphasis': `${'*a '.repeat(deep)}${'*'.repeat(deep)}`,
  'JSON in JSON': `${'['.repeat(deep)}${']'.repeat(deep)}`,
  'from right to left': `${'שלום עולם '.repeat(2_000)}\u202E${hostile}`,
}

/** Opens the newest run with facts and answers that no server would accept, one after the other. */
async function inspect(page: Page): Promise<void> {
  const { items } = await server.read<{ items: Run[] }>(`/projects/${server.project.id}/runs?limit=1`)
  const [{ uuid, conversationUuid }] = items as [Run]
  const run = await server.read<object>(`/runs/${uuid}`)
  const author = { id: 1, name: hostile, email: 'a@example.com' }
  const span = (at: number) => ({
    ...{ kind: at % 2 ? 'model' : 'step', name: `${at} ${hostile}`, parent: at % 2 ? at - 1 : null, status: 'ok' },
    ...{ startMs: at, endMs: at + 1 },
  })
  const facts = {
    ...{ model: hostile, provider: hostile, finishReason: hostile, customIdentifier: hostile, tags: [hostile], author },
    ...{ parameters: { [hostile]: hostile, list: [hostile] }, messageRange: [0, 1], givenFrom: null, givenCount: 0 },
    ...{
      note: { text: hostile, author, at: '2026-01-01T00:00:00Z' },
      spans: Array.from({ length: 300 }, (_, at) => span(at)),
    },
  }
  let text = ''
  await page.route(`**/runs/${uuid}`, (route) =>
    route.request().resourceType() === 'document' ? route.fallback() : route.fulfill({ json: { ...run, ...facts } }),
  )
  await page.route(`**/conversations/${conversationUuid}`, (route) =>
    route.fulfill({
      json: { uuid: conversationUuid, conversation: [{ role: 'assistant', content: [{ type: 'text', text }] }] },
    }),
  )
  const slow: string[] = []
  const measured = async (what: string, work: () => Promise<unknown>, most = mostMs) => {
    const longest = Math.max(...(await tasksDuring(page, work)))
    console.log(`the inspector, ${what}: longest task ${longest.toFixed()} ms of processor time`)
    if (longest > most) slow.push(`${what}: ${longest} ms`)
  }
  const answer = page.locator('article[data-role=assistant]')
  for (const [name, given] of Object.entries(answers)) {
    text = given
    await measured(name, async () => {
      await page.goto(server.address(`/runs/${uuid}`))
      await answer.waitFor()
      await page.keyboard.press('m')
      await page.getByRole('button', { name: 'As written', pressed: true }).waitFor()
      await page.keyboard.press('m')
      await page.getByRole('button', { name: 'As written', pressed: false }).waitFor()
    })
    expect(await answer.textContent()).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u001b]/)
    await expectText(page)
  }
  await measured(
    '300 spans',
    async () => {
      await page.getByRole('tab', { name: 'Timeline' }).click()
      await page.getByRole('button', { name: /^Model 1 / }).waitFor()
      await page.locator('[data-screen]').evaluate((screen) => screen.scrollTo(0, screen.scrollHeight))
      await page.getByRole('button', { name: /^Model 299/ }).press('Enter')
      await page.getByText('from 299 ms').waitFor()
    },
    100,
  )
  expect(await page.locator('main').textContent()).toContain('<script>document.title')
  await expectText(page)

  const rows = Array.from({ length: 2_000 }, () => ({ ...run, ...facts, spans: [], uuid: crypto.randomUUID() }))
  let isRead = false
  await page.route(`**/projects/${server.project.id}/runs?*`, async (route) => {
    await route.fulfill({ json: { items: isRead ? [] : rows, nextCursor: null, scannedTo: null } })
    isRead = true
  })
  await page.goto(server.address(`/p/${server.project.id}/runs`))
  const list = page.locator('[data-line]')
  await list.first().waitFor()
  await measured(
    '2,000 runs scrolled',
    async () => {
      for (let step = 1; step <= 40; step += 1) {
        await page.locator('[data-screen]').evaluate((screen, part) => {
          screen.scrollTo(0, screen.scrollHeight * part)
          return new Promise((drawn) => requestAnimationFrame(drawn))
        }, step / 40)
      }
      await page.locator(`[data-line="${rows.at(-1)?.uuid}"]`).waitFor()
    },
    100,
  )
  expect(await list.count()).toBeLessThan(120)
  await expectText(page)
  expect(slow).toEqual([])
}

type Run = Record<'uuid' | 'conversationUuid', string>

test('as the arguments and the result of a tool', async () => {
  const part = await openRun(browser, server, 'tool')
  server.fake.enqueue(
    { toolCalls: [{ id: 'call_1', name: 'look_up', arguments: { query: hostile } }] },
    { text: 'Found.' },
  )
  await part.run()
  await part.pane.getByLabel('Result of look_up').fill(hostile)
  await expectText(part.page)
  await part.pane.getByRole('button', { name: 'Send the result' }).click()
  await part.waitFor('Completed')
  await expectText(part.page)
})

test('as the text and the title of a draft, and the name of an example and a project', async () => {
  const name = hostile.replaceAll('\n', ' ').slice(0, 200)
  const document = await server.read<{ documentUuid: string }>(`${server.project.live}/documents/plain`)
  const { documentUuid } = document
  const body = { documentUuid, name: name.replace(/[\u0000-\u001f]/g, ''), parameters: { topic: hostile } }
  await server.api('POST', `/projects/${server.project.id}/examples`, { body })
  await server.api('POST', '/projects', { body: { name } })
  const draft = await newDraft(server)
  const version = `/projects/${server.project.id}/versions/${draft}`
  await server.api('PATCH', version, { body: { title: hostile.slice(0, 200) } })
  const { page } = await browser.open(server, `${server.promptAddress('plain', draft)}?tab=run`)
  await page.getByRole('region', { name: 'Run', exact: true }).waitFor()
  await page.locator('button[aria-haspopup="menu"]').first().click()
  await page.getByRole('menu').waitFor()
  await expectText(page)
  await page.goto(server.promptAddress('text', draft))
  const editor = editorOf(page)
  await editor.ready()
  expect((await editor.lines()).join('\n')).toContain('<script>document.title')
  await expectText(page)
})

test('hidden characters are marked where changes are read', async () => {
  const version = await newDraft(server)
  await writePrompt(server, 'plain', { version, prompt: 'Open \u202Egnp.exe\u200B\r\nnow' })
  const { page } = await browser.open(server, `/p/${server.project.id}/v/${version}/changes?prompt=plain`)
  const marks = page.locator('.cm-specialChar')
  await expect.poll(() => marks.evaluateAll((all) => all.map((mark) => mark.getAttribute('title')))).toHaveLength(2)
  await page.keyboard.press('u')
  await page.locator('.cm-mergeView').waitFor()
  await expect.poll(() => marks.count()).toBe(2)
})
