import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { type ConsoleServer, consoleServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer

beforeAll(async () => {
  server = await consoleServer({ hello: 'Hello {{ name }}' })
})
afterAll(() => server.close())

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

test('a server that does not answer is named, and the page goes on when it is back', async () => {
  const { page } = await browser.open(server, `/p/${server.project.id}/v/live/prompts`, {
    allow: /Failed to load|ERR_/,
  })
  await page.getByRole('treeitem', { name: 'hello' }).waitFor()
  await page.context().setOffline(true)
  await page.getByText('The server is not responding.', { exact: false }).waitFor({ timeout: 60_000 })
  await page.getByRole('treeitem', { name: 'hello' }).waitFor()
  await page.context().setOffline(false)
  await page.getByText('The server is not responding.').waitFor({ state: 'detached' })
})

test('a screen that could not be loaded is loaded on request, with its styles, once the server answers', async () => {
  const { page } = await browser.open(server, `/p/${server.project.id}/v/live/prompts`, {
    allow: /ERR_FAILED|Failed to fetch dynamically imported module|A part of the console/,
  })
  await page.getByRole('treeitem', { name: 'hello' }).waitFor()
  await page.route('**/assets/*', (route) => route.abort())
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByRole('heading', { name: 'This screen cannot be shown' }).waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'This screen cannot be shown' }).waitFor()
  await page.unroute('**/assets/*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { level: 1, name: 'History' }).waitFor()
  const padding = () =>
    page
      .getByRole('cell')
      .first()
      .evaluate((cell) => getComputedStyle(cell).paddingInlineStart)
  await expect.poll(padding).not.toBe('1px')
})
