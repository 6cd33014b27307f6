/** The overview shows what the stats route answers, and leads to the runs that it counts; so do home, strip and changes. */
import type { Stats } from '@stet/sdk'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { costOf, spendOf } from '../../src/charts/figures.ts'
import { consoleBrowser } from '../support/browser.ts'
import { newDraft, writePrompt } from '../support/editor-page.ts'
import { keysOf } from '../support/keys.ts'
import { frontMatter } from '../support/run-part.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer
let draft: string
let evaluation: string
let stats: Stats

const refusal = { status: 401, body: { error: { message: 'Incorrect API key provided' } } }

/** Ten runs of applications: eight of `priced`, of which one fails, two stream and one is of a draft, and two of `unpriced`. */
beforeAll(async () => {
  const prompts = { priced: `${frontMatter()}One`, unpriced: '---\nprovider: openai\nmodel: house-model\n---\nTwo' }
  server = await sharedServer(prompts)
  const run = async (path: string, { stream = false, version = server.project.live } = {}) =>
    (await server.post(`${version}/documents/run`, { path, stream })).text()
  for (let index = 0; index < 4; index += 1) await run('priced')
  await run('priced', { stream: true })
  await run('priced', { stream: true })
  server.fake.enqueue(refusal)
  await run('priced')
  await run('unpriced')
  await run('unpriced')
  draft = await newDraft(server)
  await writePrompt(server, 'priced', { version: draft, prompt: `${frontMatter()}Changed` })
  await run('priced', { version: `/projects/${server.project.id}/versions/${draft}` })
  // A colleague has a draft with a change too.
  const key = await server.newKey(['read', 'write'], { name: 'Ana', email: 'ana@example.com' })
  const made = await server.api<{ uuid: string }>('POST', `/projects/${server.project.id}/versions`, {
    body: { name: 'Warmer' },
    key,
  })
  await writePrompt(server, 'unpriced', { version: made.body.uuid, prompt: 'Two, warmly', key })
  const body = { projectId: server.project.id, name: 'Polite', metric: 'binary' }
  evaluation = String((await server.api('POST', '/evaluations', { body })).body['uuid'])
  // As the page asks.
  const from = new Date(Date.now() - 3_600_000).toISOString()
  stats = await server.read(`/projects/${server.project.id}/stats?from=${from}&by=prompt`)
})

const chart = (page: Page, name: string) => page.getByRole('slider', { name: `${name}, by time` })
const textOf = (page: Page, selector: string) =>
  page.locator(selector).evaluateAll((all) => all.map((one) => one.textContent))

test('charts, table, strip, evidence and home have the figures of the routes, and lead to the runs that they count', async () => {
  // Home asks about every project of the shared server at once. On a fast machine, that reaches the key's limit, and the
  // SDK asks again.
  const { page } = await browser.open(server, `/p/${server.project.id}/overview?range=1h`, { allow: /status of 429/ })
  await chart(page, 'Runs').waitFor()
  const { figures } = stats.total
  expect(figures).toMatchObject({ runs: 10, errors: 1, unpriced: 2 })
  const legend = await textOf(page, 'section > dl > div')
  const cost = `$${String(Number((figures.cost ?? 0).toPrecision(2)))}`
  expect(legend).toEqual([
    ...['Runs10', 'Errors1', `Cost${cost}`],
    ...[expect.stringMatching(/^p50\d/), expect.stringMatching(/^p95\d/)],
    ...[expect.stringMatching(/^p50\d/), expect.stringMatching(/^p95\d/)],
    ...[`In${figures.inputTokens}`, 'Cached0', `Out${figures.outputTokens}`],
  ])
  await page.getByText('10 runs, 1 error (10%); most on').waitFor()
  await page.getByText(`${cost} in total, without 2 runs that have no known price.`).waitFor()
  expect(await page.getByText(/^as of \d\d:\d\d:\d\d$/).count()).toBe(1)

  const table = page.getByRole('region', { name: 'Figures by prompt' })
  const cellsOf = async (name: string) =>
    (await table.getByRole('row', { name }).getByRole('cell').allTextContents()).slice(0, 4)
  // The hour before had no run.
  await expect.poll(() => cellsOf('All')).toEqual(['All', '10 new', '1 new', `${cost} new`])
  expect(await cellsOf('unpriced')).toEqual(['unpriced', '2 new', '0 ±0%', 'no price '])
  await page.getByRole('link', { name: 'By model' }).click()
  await page.getByRole('region', { name: 'Figures by model' }).getByRole('link', { name: 'house-model' }).waitFor()

  await page.getByRole('region', { name: 'Latest errors' }).getByText('Incorrect API key provided').waitFor()

  // A time of one's own, in the zone of the browser.
  await page.getByRole('button', { name: 'Custom' }).click()
  const dialog = page.getByRole('dialog', { name: 'Choose a time' })
  await dialog.getByLabel('To').fill('2020-01-02T00:00')
  expect(await dialog.getByRole('button', { name: 'Show' }).getAttribute('aria-disabled')).toBe('true')
  await dialog.getByLabel('From').fill('2020-01-01T00:00')
  await page.keyboard.press('Enter')
  await page.getByText('No prompt ran in the chosen time.').waitFor()
  await page.reload()
  await page.getByText('No prompt ran in the chosen time.').waitFor()
  await page.getByRole('link', { name: '1 h', exact: true }).click()
  await chart(page, 'Runs').waitFor()

  // The drawing follows the theme.
  const drawn = () =>
    page
      .locator('canvas')
      .first()
      .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL())
  const light = await drawn()
  await page.emulateMedia({ colorScheme: 'dark' })
  await expect.poll(drawn).not.toBe(light)

  // The last step with runs, by keyboard. All charts point at it.
  const { at, figures: ofStep } = stats.total.points.at(-1) ?? { at: '', figures }
  const steps = chart(page, 'Runs')
  await steps.focus()
  await page.keyboard.press('End')
  const text = () => steps.getAttribute('aria-valuetext')
  const wanted = `Runs ${ofStep.runs}, Errors ${ofStep.errors}`
  // An hour has at most 13 steps.
  for (let left = 13; left > 0 && !(await text())?.endsWith(wanted); left -= 1) await page.keyboard.press('ArrowLeft')
  expect(await text()).toContain(wanted)
  expect(await chart(page, 'Tokens').getAttribute('aria-valuetext')).toContain(`In ${ofStep.inputTokens}`)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/runs\?/)
  const search = new URL(page.url()).searchParams
  expect(search.get('from')).toBe(new Date(at).toISOString())
  expect(Date.parse(search.get('to') ?? '') - Date.parse(at)).toBe(300_000)
  expect(search.get('via')).toBe('api')

  // By pointer, and as a table.
  await page.goBack()
  await steps.waitFor()
  const box = await steps.boundingBox()
  if (!box) throw new Error('The chart is not shown')
  await page.mouse.move(box.x + box.width - 12, box.y + box.height / 2)
  await expect
    .poll(async () => await steps.getAttribute('aria-valuenow'))
    .toBe(await steps.getAttribute('aria-valuemax'))
  await page.getByRole('button', { name: 'Show as table' }).first().click()
  const rows = page.getByRole('region', { name: 'Runs, by time' }).getByRole('row')
  await expect.poll(() => rows.count()).toBe(stats.total.points.length + 1)
  const [runs, errors] = (await rows.nth(stats.total.points.length).getByRole('cell').allTextContents()).slice(1)
  expect([runs, errors]).toEqual([String(ofStep.runs), String(ofStep.errors)])

  await page.goto(server.promptAddress('priced'))
  const strip = page.getByRole('navigation', { name: 'Last runs' }).getByRole('link')
  await expect.poll(() => strip.count()).toBe(8)
  expect(await page.getByRole('link', { name: /^Failed, / }).count()).toBe(1)
  await strip.last().focus()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/runs\/[0-9a-f-]{36}/)
  const opened = page.url().split('/').at(-1) ?? ''
  const failed = await server.read<{ items: { uuid: string }[] }>(`/projects/${server.project.id}/runs?status=error`)
  expect(failed.items.map(({ uuid }) => uuid)).toEqual([opened])

  await page.goto(server.address(`/p/${server.project.id}/v/${draft}/changes`))
  await page.getByRole('link', { name: '1 run', exact: true }).waitFor()
  await page.getByText(/^1 run of this draft by .+, none failed$/).waitFor()

  await page.keyboard.press('g')
  await page.keyboard.press('0')
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  const block = (name: string) => page.getByRole('region', { name })
  expect(await block('Recent').getByRole('link').allTextContents()).toEqual([`Run ${opened.slice(0, 8)}`, 'priced'])
  await block('My drafts')
    .getByText(/^1 change in/)
    .first()
    .waitFor()
  const waiting = block('Waiting for me').getByRole('listitem').filter({ hasText: 'Warmer' })
  expect(await waiting.textContent()).toMatch(/1 change by Ana in/)
  const toLabel = await server.read<{ items: { uuid: string }[] }>(
    `/projects/${server.project.id}/queue?evaluation=${evaluation}`,
  )
  const queue = block('Waiting for me').getByRole('listitem').filter({ hasText: 'Polite' })
  expect(toLabel.items.length).toBeGreaterThan(0)
  expect(await queue.textContent()).toContain(`Polite${toLabel.items.length} answers to label`)
  expect(await queue.getByRole('link').getAttribute('href')).toBe(`/p/${server.project.id}/queue/${evaluation}`)
  for (const { uuid } of toLabel.items)
    await server.api('POST', `/conversations/${uuid}/evaluations/${evaluation}/annotate`, { body: { score: 1 } })
  await page.reload()
  await waiting.waitFor()
  await expect.poll(() => queue.count()).toBe(0)
  await block('Failures').getByText('Incorrect API key provided').waitFor()
  await block('Failures').getByRole('link', { name: '1 failed run' }).waitFor()
  // As the page asks. The runs may be of yesterday.
  const monthAgo = new Date((Math.floor(Date.now() / 86_400_000) - 29) * 86_400_000).toISOString()
  const today = spendOf(await server.read<Stats>(`/projects/${server.project.id}/stats?from=${monthAgo}`), 1)
  expect((await block('Spend').locator('dl > div').allTextContents())[0]).toBe(
    `Today${costOf(today)}${today.runs} runs`,
  )
  const keys = keysOf(page)
  await keys.tabTo(block('Failures').getByRole('link', { name: 'priced' }))
  await keys.press('Enter')
  await page.waitForURL(new RegExp(opened))
  await page.keyboard.press('g')
  await page.keyboard.press('o')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
})
