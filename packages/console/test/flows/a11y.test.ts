/**
 * Checks screens, menus, dialogs and refusals once with axe, in the light theme: `contrast.test.ts` computes the
 * contrast of both. With STET_TEST_LONG=1 it checks all of them, also in more widths, and draws them in both themes.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { violations } from '../support/axe.ts'
import { consoleBrowser, isLong } from '../support/browser.ts'
import { editorOf } from '../support/editor-page.ts'
import { keysOf } from '../support/keys.ts'
import { consoleServer, type EmptyServer, emptyServer, type OwnServer } from '../support/server.ts'
import {
  fillDraft,
  filledButtons,
  openStates,
  type ScreenState,
  screens,
  settle,
  shownPrompts,
} from '../support/states.ts'

const shots = fileURLToPath(new URL('../shots/', import.meta.url))
const widths = isLong ? [1920, 768, 360] : [360]
const browser = consoleBrowser()
let server: OwnServer
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

/** Opens a page in the state. */
async function inState({ isEmpty, isSignedOut, allow, path, ready }: ScreenState) {
  const opened = await browser.open(isEmpty ? empty : server, path(server, draft), {
    bypassCSP: true,
    ...(isSignedOut && { key: null }),
    ...(allow && { allow }),
  })
  await ready(opened.page, server, draft)
  return opened
}

/** The elements that scroll sideways, apart from texts, tables and tabs with a scroll box of their own. */
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

async function check(page: Page, name: string): Promise<void> {
  await settle(page)
  expect((await filledButtons(page)).length).toBeLessThanOrEqual(1)
  expect(await violations(page)).toEqual([])
  expect(await sidewaysScrollers(page)).toEqual([])
  await draw(page, name, 1440)
}

async function draw(page: Page, name: string, width: number): Promise<void> {
  if (!isLong) return
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    await settle(page)
    await page.screenshot({ path: join(shots, `${name}-${colorScheme}-${width}.png`) })
  }
}

test.for(screens)('$name, also in other widths, and with text at 200 %', async (screen) => {
  const { page, context } = await inState(screen)
  await check(page, screen.name)
  for (const width of widths) {
    await page.setViewportSize({ width, height: width < 400 ? 740 : 900 })
    // React draws another layout a moment after the window has its width.
    await expect.poll(() => sidewaysScrollers(page), { message: `${width} px` }).toEqual([])
    await draw(page, screen.name, width)
  }
  await page.setViewportSize({ width: 320, height: 640 })
  await expect.poll(() => sidewaysScrollers(page)).toEqual([])
  await page.setViewportSize({ width: 1280, height: 900 })
  // As the browser's own setting does, so that queries in rem see it as well.
  const cdp = await context.newCDPSession(page)
  const setFontSizes = (standard: number) =>
    cdp.send('Page.setFontSizes', { fontSizes: { standard, fixed: (standard * 13) / 16 } })
  const rootSize = () => page.evaluate(() => getComputedStyle(document.documentElement).fontSize)
  await setFontSizes(32)
  await expect.poll(rootSize).toBe('32px')
  expect(await sidewaysScrollers(page)).toEqual([])
  await setFontSizes(16)
  await cdp.detach()
})

test.for(openStates.filter(({ isRare }) => isLong || !isRare))('$name, open', async (state) => {
  const { page } = await inState(state)
  await check(page, `open-${state.name}`)
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

test('on a phone, no row of a table and no button is wider than the screen, and digits have one width', async () => {
  await server.newKey(['read', 'run'], { name: 'Ada', email: 'ada.lovelace@analytical-engines.example' })
  const { page } = await browser.open(server, '/settings/keys', { width: 360, height: 740 })
  const settings = ['keys', 'people', 'providers', 'sessions'].map((name) => `/settings/${name}`)
  for (const path of [...settings, `/p/${server.project.id}/history`]) {
    // A change of the address, as a link of the console makes it.
    await page.evaluate((address) => history.pushState({}, '', address), path)
    await page.locator(`a[aria-current="page"][href="${path}"]`).first().waitFor()
    await page.getByRole('row').nth(1).waitFor()
    await settle(page)
    const ends = await page
      .locator('main :is(td, button)')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right))
    expect(Math.max(...ends), path).toBeLessThanOrEqual(360)
  }
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
  expect(await widthOf('11:11')).toBe(await widthOf('00:00'))
  // Punctuation is not spread.
  expect(await widthOf(':'.repeat(20))).toBeLessThan(0.75 * (await widthOf('0'.repeat(20))))
})

test('with forced colors, live text keeps its dots and the open prompt its mark', async () => {
  const { page } = await browser.open(server, server.promptAddress('support/reply'))
  await page.emulateMedia({ forcedColors: 'active' })
  const live = page.getByText('Live', { exact: true }).first()
  await expect.poll(() => live.evaluate((text) => getComputedStyle(text).textDecorationStyle)).toBe('dotted')
  const row = page.getByRole('treeitem', { selected: true })
  await expect.poll(() => row.evaluate((element) => getComputedStyle(element).outlineStyle)).toBe('solid')
})

test('Tab starts with a link to the content and passes the lines between the panes, which have keys of their own', async () => {
  const { page } = await browser.open(server, server.promptAddress('support/reply'))
  const keys = keysOf(page)
  await editorOf(page).ready()
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  const skip = page.getByRole('link', { name: 'Skip to the content' })
  await keys.press('Tab')
  await keys.expectFocus(skip)
  expect(await skip.boundingBox()).toMatchObject({ x: 8, y: 8 })
  await keys.press('Enter')
  await keys.expectFocus(page.getByRole('heading', { level: 1 }))
  const line = page.getByRole('separator', { name: 'Width of the list' })
  expect(
    await page.getByRole('separator').evaluateAll((all) => all.map((one) => (one as HTMLElement).tabIndex)),
  ).toEqual([-1, -1])
  const width = async () => Number(await line.getAttribute('aria-valuenow'))
  const before = await width()
  await keys.press('r', 'l')
  await keys.expectFocus(line)
  await keys.press('ArrowRight', 'Enter')
  await keys.expectFocus(page.getByRole('heading', { level: 1 }))
  expect(await width()).toBe(before + 16)
})

test('the rail folds to icons below 1,000 px, and a wide window is used', async () => {
  const { page } = await browser.open(server, server.promptAddress('support/reply'), { width: 990, height: 900 })
  const places = page.getByRole('navigation', { name: 'Places' })
  const widthOf = async (name: string) =>
    (await page.getByRole(name === 'rail' ? 'banner' : 'main').boundingBox())?.width
  await places.waitFor()
  expect(await widthOf('rail')).toBe(56)
  await page.getByRole('button', { name: /^Project:/ }).waitFor()
  await page.setViewportSize({ width: 1000, height: 900 })
  await expect.poll(() => widthOf('rail')).toBe(208)
  await page.setViewportSize({ width: 1920, height: 1080 })
  await page.getByRole('link', { name: 'History' }).click()
  const table = page.getByRole('table').first()
  await expect.poll(async () => (await table.boundingBox())?.width ?? 0).toBeGreaterThan(1600)
})

test('a touch screen shows no keys', async () => {
  const { page, context } = await browser.open(server, server.promptAddress('support/reply'), { isOwn: true })
  const hints = page.locator('[data-keys]')
  await expect.poll(() => hints.first().isVisible()).toBe(true)
  const cdp = await context.newCDPSession(page)
  await cdp.send('Emulation.setTouchEmulationEnabled', { enabled: true })
  await cdp.send('Emulation.setEmitTouchEventsForMouse', { enabled: true, configuration: 'mobile' })
  await expect.poll(() => page.evaluate(() => matchMedia('(pointer: coarse)').matches)).toBe(true)
  expect(await hints.evaluateAll((all) => all.filter((one) => one.checkVisibility()).length)).toBe(0)
})
