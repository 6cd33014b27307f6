/** The list of runs and the inspector: filter, find, inspect, live, try again, tags, export. By keyboard where it can be. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { beforeAll, expect, it } from 'vitest'
import { violations } from '../support/axe.ts'
import { consoleBrowser, isOnTop } from '../support/browser.ts'
import { editorOf } from '../support/editor-page.ts'
import { keysOf } from '../support/keys.ts'
import { frontMatter } from '../support/run-part.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

interface Listed {
  uuid: string
  conversationUuid: string
  path: string
  status: string
}

const browser = consoleBrowser()
let server: ConsoleServer
const inputs = 'parameters: { ticket: { type: text }, order: { type: object } }\n'
const answer = `# Refund

See [our policy](https://example.com/x) <img src="https://x.example/p.png">

| Item | Price |
|---|--:|
| Book | 12 |
`

beforeAll(async () => {
  server = await sharedServer({
    'support/reply': `${frontMatter(inputs)}<system>You answer.</system><user>{{ ticket }} {{ order }}</user>`,
    tools: `${frontMatter('tools: { find_order: { description: Finds, parameters: { type: object } } }\n')}Find it`,
    broken: `${frontMatter()}Hello\n{{ name.first.letter }}`,
  })
  server.fake.enqueue({ text: answer })
  const parameters = { ticket: 'Where is it?', order: { id: 12, items: ['Book'] } }
  await run('support/reply', { parameters, tags: ['checkout'], customIdentifier: 'customer-\u202e7' })
  server.fake.enqueue({ object: { city: 'Ghent' } })
  await run('support/reply', { parameters: { ticket: 'As JSON' } })
  await run('broken', {})
})

function run(path: string, body: object) {
  return server.api('POST', `${server.project.live}/documents/run`, { body: { path, stream: false, ...body } })
}

async function listed(query = ''): Promise<Listed[]> {
  const { items } = await server.read<{ items: Listed[] }>(`/projects/${server.project.id}/runs?limit=50${query}`)
  return items
}

const listPath = () => `/p/${server.project.id}/runs`
const rowsOf = (page: Page) => page.getByRole('row').filter({ has: page.getByRole('checkbox') })
const states = (page: Page) => rowsOf(page).locator('td:nth-child(2)').allTextContents()

it('filters by address, chip and key, opens runs by key, and returns to the row', async () => {
  const { page } = await browser.open(server, listPath())
  await expect.poll(() => states(page)).toEqual(['Failed', 'Completed', 'Completed'])
  await page.getByRole('button', { name: 'Failed', exact: true }).click()
  await expect.poll(() => states(page)).toEqual(['Failed'])
  expect(new URL(page.url()).searchParams.get('status')).toBe('error')
  await page.getByRole('button', { name: 'Remove the filter Failed' }).click()
  await expect.poll(async () => (await states(page)).length).toBe(3)
  await page.keyboard.press('f')
  const dialog = page.getByRole('dialog', { name: 'Filter the runs' })
  await dialog.getByLabel('Tag').fill('checkout')
  await page.keyboard.press('Enter')
  await expect.poll(() => states(page)).toEqual(['Completed'])
  await page.reload()
  await expect.poll(() => states(page)).toEqual(['Completed'])
  await page.goto(`${server.address(listPath())}?model=nothing`)
  await page.getByText('No run matches all of these filters.').waitFor()
  await page.getByRole('button', { name: 'show all runs' }).click()
  await expect.poll(async () => (await states(page)).length).toBe(3)
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  const [, second, first] = await listed()
  await page.waitForURL(`**/runs/${second?.uuid}`)
  await page.getByText('Inputs', { exact: true }).waitFor()
  await page.keyboard.press(']')
  await page.getByText(first?.uuid ?? '', { exact: true }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('r')
  await expect.poll(() => page.locator(':focus').getAttribute('href')).toContain(first?.uuid)
})

it('puts new runs above the others when they are asked for, tags a selection and exports it', async () => {
  const { page } = await browser.open(server, listPath())
  await expect.poll(async () => (await states(page)).length).toBe(3)
  server.fake.enqueue({ text: 'new' })
  await run('support/reply', { parameters: { ticket: 'new' } })
  const fresh = page.getByRole('button', { name: /^1 new/ })
  await fresh.waitFor()
  expect(await rowsOf(page).count()).toBe(3)
  await fresh.click()
  await expect.poll(() => rowsOf(page).count()).toBe(4)
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.getByText('1 selected').waitFor()
  await page.keyboard.press('t')
  await page.getByLabel('Tag', { exact: true }).fill('<b>odd</b>')
  await page.keyboard.press('Enter')
  await page.getByText('Tagged 1 conversation', { exact: false }).waitFor()
  await expect.poll(() => rowsOf(page).first().textContent()).toContain('<b>odd</b>')
  // The keys continue at the row.
  const inRow = rowsOf(page).first().locator(':focus')
  await expect.poll(() => inRow.count()).toBe(1)
  const download = page.waitForEvent('download')
  const keys = keysOf(page)
  await keys.backTo(page.getByRole('button', { name: 'Export as JSONL' }))
  await keys.press('Enter')
  const lines = readFileSync(await (await download).path(), 'utf8')
    .trim()
    .split('\n')
  const [newest] = await listed('&tag=%3Cb%3Eodd%3C%2Fb%3E')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      uuid: newest?.uuid,
      parameters: { ticket: 'new' },
      messages: expect.arrayContaining([expect.objectContaining({ role: 'assistant' })]),
    },
  ])

  // Stopped before its second page, an export leaves no file.
  const files: string[] = []
  page.on('download', (file) => files.push(file.suggestedFilename()))
  await page.getByRole('button', { name: 'Clear the selection' }).click()
  let pages = 0
  await page.route('**/runs?*include=content*', async (route) => {
    pages += 1
    if (pages > 1) return
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), nextCursor: 'next' } })
  })
  await page.getByRole('button', { name: 'Export all as JSONL' }).click()
  await page.getByRole('button', { name: 'Stop the export (4)' }).click()
  await page.getByRole('button', { name: 'Export all as JSONL' }).waitFor()
  expect([pages, files]).toEqual([2, []])
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

it('is found by the start of its uuid, and shows inputs, Markdown, timeline and events; labels and inputs are reused', async () => {
  const target = (await listed('&tag=checkout'))[0]
  const { page } = await browser.open(server, `/p/${server.project.id}/history`)
  await page.getByRole('heading', { level: 1, name: 'History' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Find' }).fill(target?.uuid.slice(0, 10) ?? '')
  await page.getByRole('option', { name: /support\/reply/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/runs/${target?.uuid}`)
  await page.getByRole('tree', { name: 'order' }).getByText('items:').waitFor()
  const said = page.locator('article[data-role=assistant]')
  await said.getByRole('cell', { name: 'Book' }).waitFor()
  expect(await said.textContent()).toContain('<img src="https://x.example/p.png">')
  expect(await said.getByRole('link', { name: 'our policy' }).getAttribute('rel')).toBe('noreferrer noopener')
  await page.keyboard.press('m')
  await expect.poll(() => said.textContent()).toContain('[our policy](https://example.com/x)')
  await page.keyboard.press('m')
  const keys = keysOf(page)
  await keys.tabTo(page.getByRole('tab', { name: 'Messages' }))
  await keys.press('ArrowRight')
  const bar = page.getByRole('button', { name: /^Model gpt-4o-mini/ })
  await page.setViewportSize({ width: 1440, height: 300 })
  await keys.tabTo(bar)
  await bar.evaluate((row) => row.scrollIntoView({ block: 'end' }))
  await keys.press('Enter')
  await page.getByText(/12 tokens in/).waitFor()
  // Its details do not cover it.
  expect(await isOnTop(bar)).toBe(true)
  await page.setViewportSize({ width: 1440, height: 900 })
  expect(new URL(page.url()).search).toBe('?tab=timeline&at=1')
  // An earlier run of its conversation has its events too.
  const body = { messages: [{ role: 'user', content: 'More' }] }
  await server.api('POST', `/conversations/${target?.conversationUuid}/chat`, { body })
  await page.reload()
  await page.getByRole('link', { name: 'Chat 1' }).waitFor()
  await keys.tabTo(page.getByRole('tab', { name: 'Timeline' }))
  await keys.press('ArrowRight')
  await keys.tabTo(page.getByRole('button', { name: /provider-started/ }))
  await keys.press('Enter')
  await page.getByRole('tree', { name: /^Event \d/ }).waitFor()

  await page.locator('h1').focus()
  await page.keyboard.press('t')
  await keys.tabTo(page.getByRole('textbox', { name: /^Tags/ }))
  await keys.type('checkout, wrong-tone')
  await keys.tabTo(page.getByRole('textbox', { name: 'Note' }))
  await keys.type('Ignores <i>the</i> order')
  await keys.tabTo(page.getByRole('button', { name: 'Save', exact: true }))
  await keys.press('Enter')
  await page.getByText('Ignores <i>the</i> order').waitFor()
  await page.getByText('wrong-tone', { exact: true }).waitFor()

  await keys.tabTo(page.getByRole('button', { name: 'Try again' }))
  await keys.press('Enter')
  const ticket = page.getByRole('region', { name: 'Run', exact: true }).getByLabel('ticket', { exact: false }).first()
  await expect.poll(() => ticket.inputValue()).toBe('Where is it?')
})

it('shows why a run failed, and leads to the line', async () => {
  const failed = (await listed('&status=error'))[0]
  const { page } = await browser.open(server, `/runs/${failed?.uuid}`)
  const keys = keysOf(page)
  await keys.tabTo(page.getByRole('button', { name: /^broken, line 6/ }))
  await keys.press('Enter')
  const editor = editorOf(page)
  await editor.ready()
  await expect.poll(() => page.locator('.cm-activeLine').first().textContent()).toBe('{{ name.first.letter }}')
})

it('follows a run of another client, also after it was hidden, and stops it', async () => {
  const gate = Promise.withResolvers<void>()
  server.fake.enqueue({ text: 'one two three four', gate: gate.promise, gateAfter: 2 })
  const body = { path: 'support/reply', stream: true, parameters: { ticket: 'live' } }
  const response = await server.post(`${server.project.live}/documents/run`, body)
  const [live] = await listed('&status=running')
  const { page } = await browser.open(server, listPath(), { allow: /status of 404/ })
  // The events are lost at first.
  await page.route('**/attach', (route) =>
    route.fulfill({ status: 404, json: { name: 'NotFoundError', message: '-' } }),
  )
  await page.goto(server.address(`/runs/${live?.uuid}`))
  await page.getByText('The events could not be read').waitFor()
  await page.unroute('**/attach')
  await page.getByRole('button', { name: 'Reconnect' }).click()
  const said = page.locator('article[data-role=assistant]')
  await expect.poll(() => said.textContent()).toContain('one two')
  expect(await page.getByText('The events could not be read').count()).toBe(0)
  const setHidden = (state: 'hidden' | 'visible') =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'visibilityState', { value, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }, state)
  await setHidden('hidden')
  await setHidden('visible')
  await expect.poll(() => said.textContent()).toMatch(/Assistantone two ?$/)
  const keys = keysOf(page)
  await keys.tabTo(page.getByRole('button', { name: /^Stop/ }))
  await keys.press('Enter')
  await page.getByText('Stopped', { exact: true }).waitFor()
  gate.resolve()
  await response.text()
  await page.getByText(/^≈ /).first().waitFor()
})

it('has no violations of accessibility in its states', async () => {
  const all = await listed()
  // The first run: one of its inputs is an object, which is shown as JSON too.
  const done = all.findLast(({ status }) => status === 'completed')
  const failed = all.find(({ status }) => status === 'error')
  const { page } = await browser.open(server, listPath(), { bypassCSP: true, allow: /status of 404/ })
  const check = async (state: string) => expect(await violations(page), state).toEqual([])
  await rowsOf(page).first().waitFor()
  await check('list')
  await page.keyboard.press('f')
  await page.getByRole('dialog', { name: 'Filter the runs' }).waitFor()
  await check('filter')
  await page.keyboard.press('Escape')
  await rowsOf(page).first().getByRole('checkbox').check()
  await page.getByText('1 selected').waitFor()
  await check('selection')
  await page.keyboard.press('t')
  await page.getByLabel('Tag', { exact: true }).waitFor()
  await check('tags of a selection')
  await page.goto(`${server.address(listPath())}?model=nothing`)
  await page.getByText('No run matches all of these filters.').waitFor()
  await check('no hits')
  for (const [path, text] of [
    [`/runs/${done?.uuid}`, 'Inputs'],
    [`/runs/${done?.uuid}?tab=timeline&at=1`, 'Model'],
    [`/runs/${done?.uuid}?tab=events`, 'chain-started'],
    [`/runs/${failed?.uuid}`, 'Details'],
  ] as const) {
    await page.goto(server.address(path))
    await page.getByText(text, { exact: true }).filter({ visible: true }).first().waitFor()
    await check(path)
  }
  await page.goto(server.address(`/runs/${crypto.randomUUID()}`))
  await page.getByText('The run could not be loaded').waitFor()
  await check('unknown run')
  await page.goto(server.address(`/runs/${done?.uuid}`))
  await page.getByRole('button', { name: 'JSON', exact: true }).click()
  await page.getByRole('tree', { name: 'Inputs' }).waitFor()
  await check('inputs as JSON')
  await page.keyboard.press('t')
  await page.getByRole('dialog', { name: 'Tags and note' }).waitFor()
  await check('tags and note')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Find' }).fill(done?.uuid.slice(0, 10) ?? '')
  await page.getByRole('option', { name: /support\/reply/ }).waitFor()
  await check('found by uuid')
})
