/** Draws every screen in both themes and three widths, and checks it with axe. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { violations } from './support/axe.ts'
import { consoleBrowser, type PageOptions } from './support/browser.ts'
import { type ConsoleServer, consoleServer, type EmptyServer, emptyServer } from './support/server.ts'
import {
  fillDraft,
  filledButtons,
  type ScreenState,
  screens,
  settle,
  shownPrompts,
  themes,
  widths,
} from './support/states.ts'

const shots = fileURLToPath(new URL('./shots/', import.meta.url))
const browser = consoleBrowser()
let server: ConsoleServer
let empty: EmptyServer
let draft: string

beforeAll(async () => {
  mkdirSync(shots, { recursive: true })
  server = await consoleServer(shownPrompts)
  draft = await fillDraft(server)
  empty = await emptyServer()
})
afterAll(async () => {
  await server.close()
  await empty.close()
})

function openScreen(screen: ScreenState, options: PageOptions) {
  const signedOut = { key: null, allow: /status of 401/ }
  return browser.open(screen.isEmpty ? empty : server, screen.path(server, draft), {
    ...options,
    ...(screen.isSignedOut && signedOut),
  })
}

/** What scrolls sideways, apart from texts, tables and tabs with a scroll box of their own. */
function sidewaysScrollers(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const own = 'pre, code, textarea, input, table, [role=tablist], .cm-scroller, [data-scrolls]'
    const isOwn = (element: Element) => element.matches(own) || element.firstElementChild?.matches('table') === true
    const isScroller = (element: Element) => /auto|scroll/.test(getComputedStyle(element).overflowX)
    return [document.documentElement, ...document.querySelectorAll('body *')]
      .filter((element) => element.scrollWidth > element.clientWidth + 1)
      .filter((element) => element === document.documentElement || (isScroller(element) && !isOwn(element)))
      .map((element) => `${element.tagName} ${element.className} ${element.scrollWidth} > ${element.clientWidth}`)
  })
}

for (const screen of screens) {
  for (const theme of themes) {
    test.for(widths)(`${screen.name}, ${theme}, %i px`, async (width) => {
      const options = { theme, width, height: width === 360 ? 740 : 900, bypassCSP: true }
      const opened = await openScreen(screen, options)
      await screen.ready(opened.page)
      await settle(opened)
      await opened.page.screenshot({ path: join(shots, `${screen.name}-${theme}-${width}.png`) })
      expect((await filledButtons(opened.page)).length).toBeLessThanOrEqual(1)
      expect(await violations(opened.page)).toEqual([])
      expect(await sidewaysScrollers(opened.page)).toEqual([])
    })
  }
}

test.for(screens)('$name at 320 px and with text at 200 %, nothing scrolls sideways', async (screen) => {
  const opened = await openScreen(screen, { width: 320, height: 640 })
  await screen.ready(opened.page)
  expect(await sidewaysScrollers(opened.page)).toEqual([])
  await opened.page.setViewportSize({ width: 1280, height: 900 })
  // As the browser's own setting does, so that queries in rem see it as well.
  const cdp = await opened.context.newCDPSession(opened.page)
  await cdp.send('Page.setFontSizes', { fontSizes: { standard: 32, fixed: 26 } })
  await expect.poll(() => opened.page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe('32px')
  expect(await sidewaysScrollers(opened.page)).toEqual([])
})

test('at 400 % zoom, the last row of the list can be scrolled to and seen', async () => {
  // 1440 x 900 pixels at 400 % zoom leave this size.
  const { page } = await browser.open(server, `/p/${server.project.id}/v/live/prompts`, { width: 360, height: 225 })
  const last = page.getByRole('treeitem').last()
  await last.focus()
  const isSeen = () =>
    last.evaluate((row) => {
      const { left, top, width, height } = row.getBoundingClientRect()
      return row.contains(document.elementFromPoint(left + width / 2, top + height / 2))
    })
  await expect.poll(isSeen).toBe(true)
})

test('on a phone, the row of tabs scrolls to the selected one', async () => {
  const path = `/p/${server.project.id}/v/live/prompts/support/reply?tab=use`
  const { page } = await browser.open(server, path, { width: 360, height: 740 })
  const tab = page.getByRole('tab', { name: 'Use' })
  const isInside = async () => {
    const box = await tab.boundingBox()
    return box !== null && box.x >= 0 && box.x + box.width <= 360
  }
  await expect.poll(isInside).toBe(true)
})

test.for(['keys', 'people', 'providers', 'sessions', 'history'])(
  'on a phone, no row of %s is wider than the screen',
  async (name) => {
    const path = name === 'history' ? `/p/${server.project.id}/history` : `/settings/${name}`
    await server.newKey(['read', 'run'], { name: 'Ada', email: 'ada.lovelace@analytical-engines.example' })
    const opened = await browser.open(server, path, { width: 360, height: 740 })
    const { page } = opened
    await page.getByRole('row').nth(1).waitFor()
    await settle(opened)
    await page.screenshot({ path: join(shots, `${name}-rows-360.png`) })
    const ends = await page
      .locator('td, td button')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right))
    expect(Math.max(...ends)).toBeLessThanOrEqual(360)
  },
)

test('with forced colors, live text keeps its dots and the open prompt its mark', async () => {
  const path = `/p/${server.project.id}/v/live/prompts/support/reply`
  const { page } = await browser.open(server, path)
  await page.emulateMedia({ forcedColors: 'active' })
  const live = page.getByText('Live', { exact: true }).first()
  await expect.poll(() => live.evaluate((text) => getComputedStyle(text).textDecorationStyle)).toBe('dotted')
  const row = page.getByRole('treeitem', { selected: true })
  await expect.poll(() => row.evaluate((element) => getComputedStyle(element).outlineStyle)).toBe('solid')
})

test('in tables, digits have one width, and punctuation is not spread', async () => {
  const { page } = await browser.open(server, `/p/${server.project.id}/history`)
  const cell = page.getByRole('cell').filter({ has: page.locator('time') })
  const widthOf = (text: string) =>
    cell.first().evaluate((element, shown) => {
      const probe = element.ownerDocument.createElement('span')
      probe.textContent = shown
      element.append(probe)
      const { width } = probe.getBoundingClientRect()
      probe.remove()
      return width
    }, text)
  await page.evaluate(() => document.fonts.ready)
  expect(await widthOf('11:11')).toBe(await widthOf('00:00'))
  expect(await widthOf(':'.repeat(20))).toBeLessThan(0.75 * (await widthOf('0'.repeat(20))))
})
