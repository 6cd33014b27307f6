import { beforeAll, expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer

beforeAll(async () => {
  server = await sharedServer({ hello: 'Hello {{ name }}' })
})

test('a tab that is older than the server says so, keeps its screen, and reloads on request', async () => {
  const { page } = await browser.open(server, `/p/${server.project.id}/history`, {
    allow: /status of 404|Failed to fetch dynamically imported module|A part of the console/,
  })
  await page.getByRole('heading', { level: 1, name: 'History' }).waitFor()
  // An updated server has other assets, and answers 404 for those of the older page.
  const gone = await page.context().request.get(server.address('/assets/page-00000000.js'))
  expect(gone.status()).toBe(404)
  await page.route('**/assets/*.js', async (route) => route.fulfill({ response: gone }))
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByText('stet was updated', { exact: true }).waitFor()
  await page.unroute('**/assets/*.js')
  const loaded = page.waitForEvent('load')
  await page.getByRole('status').getByRole('button', { name: 'Reload' }).click()
  await loaded
  await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor()
  expect(await page.getByText('stet was updated').count()).toBe(0)
})

test('the countdown of an outage continues after attempts that fail in other ways', async () => {
  const { page } = await browser.open(server, '/settings/about', { allow: /status of 50[023]/, isOwn: true })
  await page.clock.install()
  await page.goto(server.address(`/p/${server.project.id}/v/live/prompts`))
  await page.getByRole('treeitem', { name: 'hello' }).waitFor()
  const next = page.getByText(/Next attempt in \d+ s/)
  const unavailable = { name: 'ServiceUnavailableError', message: 'No database', details: {} }
  // Once the countdown is shown, only its own attempts get an answer.
  let isShown = false
  await page.route('**/api/v3/**', async (route) => {
    if (!isShown) await route.fulfill({ status: 503, json: unavailable })
  })
  const refusals = [
    { status: 503, json: unavailable },
    { status: 502, body: 'Bad gateway' },
    { status: 500, json: unavailable },
  ]
  await page.route('**/console/session', (route) => {
    const refusal = refusals.shift()
    return refusal ? route.fulfill(refusal) : route.continue()
  })
  const isShownSoon = async () => {
    await page.clock.runFor(1000)
    return next.count()
  }
  await expect.poll(isShownSoon).toBe(1)
  isShown = true
  // From here on the time passes only as the test says. All other requests would wait for minutes.
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000)
  for (const left of [2, 1, 0]) {
    await next.waitFor()
    await page.clock.runFor(6000)
    await expect.poll(() => refusals.length).toBe(left)
  }
  await next.waitFor()
  await page.unroute('**/api/v3/**')
  await page.clock.runFor(6000)
  await next.waitFor({ state: 'detached' })
  await page.getByRole('treeitem', { name: 'hello' }).waitFor()
})

test('without a connection, a screen that was not loaded opens by itself, with its styles, once the server answers', async () => {
  const { page, context } = await browser.open(server, `/p/${server.project.id}/v/live/prompts`, {
    allow: /ERR_INTERNET_DISCONNECTED|ERR_FAILED|Failed to fetch|cannot be reached/,
    isOwn: true,
  })
  await page.getByRole('treeitem', { name: 'hello' }).waitFor()
  await context.setOffline(true)
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByText('The server is not responding. Showing the last data loaded.').waitFor()
  expect(await page.getByRole('treeitem', { name: 'hello' }).count()).toBe(1)
  await context.setOffline(false)
  await page.getByRole('heading', { level: 1, name: 'History' }).waitFor()
  const padding = () =>
    page
      .getByRole('cell')
      .first()
      .evaluate((cell) => getComputedStyle(cell).paddingInlineStart)
  await expect.poll(padding).not.toBe('1px')

  // Its code is there now, and its data is not.
  await page.route('**/api/**', (route) => route.abort())
  await page.reload()
  await page.getByRole('heading', { name: 'This screen opens when the server answers' }).waitFor()
  await page.unroute('**/api/**')
  await page.getByRole('heading', { level: 1, name: 'History' }).waitFor()
})
