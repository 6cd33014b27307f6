import { expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { editorOf, newDraft, storedPrompt, writePrompt } from '../support/editor-page.ts'
import { sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
/** Requests other than those for the files of the page. */
const fromServer = /\/(api|console)\//
const allow = /Failed to load resource|ERR_INTERNET_DISCONNECTED|ERR_FAILED/

async function opened({ isOwn = false } = {}) {
  const server = await sharedServer({ hello: 'Hello', other: 'Other' })
  const draft = await newDraft(server)
  const { page, context } = await browser.open(server, server.promptAddress('hello', draft), { allow, isOwn })
  const editor = editorOf(page)
  await editor.ready()
  await editor.toEnd()
  const stored = async () => (await storedPrompt(server, 'hello', draft)).content
  return { server, draft, page, context, editor, stored }
}

test('after an outage, text is sent at once and does not wait for its own next attempt', async () => {
  const { page, editor, stored } = await opened({ isOwn: true })
  await page.clock.install()
  await page.reload()
  await editor.ready()
  await editor.toEnd()
  const stopServing = () => page.route(fromServer, (route) => route.abort())
  const failedSave = () => page.waitForEvent('requestfailed', (request) => request.url().endsWith('/create-or-update'))
  const failed = failedSave()
  await stopServing()
  await editor.type(' late')
  await failed
  const tryNow = page.getByRole('button', { name: 'Try now' })
  await tryNow.waitFor()
  // From here on no timer runs: neither the countdown of the line nor that of the text.
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000)
  // An editor that loses the focus sends its text. That attempt must fail too.
  const failedAgain = failedSave()
  await tryNow.focus()
  await failedAgain
  await editor.becomes('Not saved, kept here: the server is not responding')
  await page.unroute(fromServer)
  await page.keyboard.press('Enter')
  await expect.poll(stored).toBe('Hello late')
  await editor.becomes(/^Saved/)
})

test('a prompt that could not be opened during an outage opens by itself after it', async () => {
  const { page, editor } = await opened()
  await page.route(fromServer, (route) => route.abort())
  await page.getByRole('treeitem', { name: 'other' }).click()
  await page.getByText('The prompt could not be opened').waitFor()
  const line = page.getByText('The server is not responding. Showing the last data loaded.')
  await line.waitFor()
  await page.unroute(fromServer)
  await expect.poll(() => editor.lines()).toEqual(['Other'])
  await line.waitFor({ state: 'detached' })
})

test('a response that is lost is no conflict of the user with themselves', async () => {
  const { page, editor, stored } = await opened()
  await page.route(
    '**/create-or-update',
    async (route) => {
      await route.fetch()
      await route.abort('connectionreset')
    },
    { times: 1 },
  )
  await editor.type(' one')
  await expect.poll(stored).toBe('Hello one')
  await editor.type(' two')
  await expect.poll(stored).toBe('Hello one two')
  await editor.becomes(/^Saved/)
})

test('a 401 in mid-sentence keeps the text, keys and clicks still reach it, and signing in again saves it', async () => {
  const { server, context, page, editor, stored } = await opened()
  await editor.type(' before')
  await editor.becomes(/^Saved/)
  await context.clearCookies()
  await editor.type(' and')
  const sheet = page.getByRole('dialog', { name: 'Your session has ended' })
  await sheet.waitFor()
  await page.getByText('You can finish typing').waitFor()
  await editor.toEnd()
  await editor.type(' after')
  await editor.becomes('Not saved, kept here: you are signed out')
  expect(await stored()).toBe('Hello before')
  await expect.poll(() => page.locator('.cm-line').allTextContents()).toEqual(['Hello before and after'])
  const key = sheet.getByLabel('API key')
  expect(await key.inputValue()).toBe('')
  await page.keyboard.press('Escape')
  await expect.poll(() => key.evaluate((field) => field === document.activeElement)).toBe(true)
  await page.keyboard.insertText(server.key)
  await page.keyboard.press('Enter')
  await sheet.waitFor({ state: 'detached' })
  await expect.poll(stored).toBe('Hello before and after')
})

test('the sign-in sheet leaves the first and the last line in view, also on a phone', async () => {
  const { context, page, editor } = await opened()
  await page.keyboard.insertText('a line\n'.repeat(60))
  await editor.becomes(/^Saved/)
  const cookies = await context.cookies()
  const sheet = page.getByRole('dialog', { name: 'Your session has ended' })
  const isInSight = () =>
    page.locator('.cm-line', { hasText: 'typed' }).evaluate((line) => {
      const { left, top, bottom } = line.getBoundingClientRect()
      const { top: sheetTop } = document.querySelector('dialog')?.getBoundingClientRect() ?? { top: 0 }
      return document.elementsFromPoint(left + 2, (top + bottom) / 2).includes(line) && bottom <= sheetTop
    })
  for (const [key, width, height] of [
    ['Control+Home', 1440, 900],
    ['Control+End', 1440, 900],
    ['Control+Home', 390, 760],
    ['Control+End', 390, 760],
  ] as const) {
    await page.setViewportSize({ width, height })
    await editor.content.focus()
    await page.keyboard.press(key)
    await context.clearCookies()
    await editor.type('typed')
    await sheet.getByText('You can finish typing').waitFor()
    await expect.poll(isInSight).toBe(true)
    await editor.type(' on')
    expect(await isInSight()).toBe(true)
    expect(await sheet.getByRole('button', { name: 'Sign in' }).evaluate((button) => button.checkVisibility())).toBe(
      true,
    )
    await context.addCookies(cookies)
    await page.evaluate(() => dispatchEvent(new Event('focus')))
    await sheet.waitFor({ state: 'detached' })
    for (let typed = 'typed on'.length; typed > 0; typed -= 1) await page.keyboard.press('Backspace')
    await editor.becomes(/^Saved/)
  }
})

test('a crash loses nothing: the text is offered and restored', async () => {
  const { context, page, editor, stored } = await opened()
  await context.setOffline(true)
  await editor.type(' unsaved \u{1F6B2}')
  await editor.becomes(/^Not saved/)
  const address = page.url()
  await page.close()
  await context.setOffline(false)
  const again = await browser.openTab(context, address)
  await again.getByText(/was not saved when the page closed/).waitFor()
  expect(await stored()).toBe('Hello')
  await again.getByRole('button', { name: 'Restore' }).click()
  await expect.poll(stored).toBe('Hello unsaved \u{1F6B2}')
  await expect.poll(() => again.getByText(/was not saved when the page closed/).count()).toBe(0)
  await expect
    .poll(() =>
      again.evaluate(() =>
        Object.keys(localStorage).filter((key) => key.startsWith('stet.unsaved.') && !key.includes('inputs')),
      ),
    )
    .toEqual([])
})

test('text typed just before a reload is saved or offered', async () => {
  const { page, editor, stored } = await opened()
  await editor.type(' last words')
  await page.reload()
  await editor.ready()
  await expect
    .poll(
      async () =>
        (await stored()) === 'Hello last words' || (await page.getByRole('button', { name: 'Restore' }).count()) === 1,
    )
    .toBe(true)
})

test('a busy server is asked again', async () => {
  const { page, editor, stored } = await opened()
  let refused = 0
  await page.route(
    '**/create-or-update',
    async (route) => {
      refused++
      const body = { name: 'RateLimitError', message: 'Too many requests', errorCode: 'RateLimitError', details: {} }
      await route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json: body })
    },
    { times: 2 },
  )
  await editor.type(' again')
  await editor.becomes('Not saved, kept here: the server is busy')
  await expect.poll(stored).toBe('Hello again')
  await editor.becomes(/^Saved/)
  expect(refused).toBe(2)
})

test('text that the browser has no room for is not called kept, and is sent when the network is back', async () => {
  const { context, page, editor, stored } = await opened()
  await page.evaluate(() => {
    localStorage.setItem('stet.unsaved.inputs#/#1', 'inputs')
    for (let size = 4_000_000; size >= 1; size = Math.floor(size / 2)) {
      try {
        localStorage.setItem(`full ${size}`, 'x'.repeat(size))
      } catch {
        // A smaller piece may fit.
      }
    }
  })
  await context.setOffline(true)
  await editor.type(' not kept')
  await editor.becomes('Not saved and not kept: the server is not responding')
  // Kept inputs of runs made room first, but not enough.
  expect(await page.evaluate(() => localStorage.getItem('stet.unsaved.inputs#/#1'))).toBe(null)
  await editor.type(' and on')
  await context.setOffline(false)
  await expect.poll(stored).toBe('Hello not kept and on')
  await editor.becomes(/^Saved/)
})

test('text of a draft that was published meanwhile is offered on live, with its origin', async () => {
  const { server, draft, context, page, editor } = await opened()
  await context.setOffline(true)
  await editor.type(' late')
  await editor.becomes(/^Not saved/)
  await page.close()
  await context.setOffline(false)
  await writePrompt(server, 'hello', { version: draft, prompt: 'Published' })
  await server.api('POST', `/projects/${server.project.id}/versions/${draft}/publish`, { body: { title: 'Autumn' } })
  const live = await browser.openTab(context, server.promptAddress('hello'))
  await live.getByText(/was not saved when the page closed/).waitFor()
  await live.getByText('It was written in Autumn.').waitFor()
})

test('discarding text in one tab does not discard what another tab still has', async () => {
  const { context, page, editor } = await opened()
  await page.route('**/create-or-update', (route) => route.abort())
  await editor.type(' mine')
  await editor.becomes(/^Not saved/)
  const kept = () =>
    page.evaluate(() => Object.values(localStorage).filter((value) => value.includes('Hello mine')).length)
  expect(await kept()).toBe(1)
  const other = await browser.openTab(context, page.url())
  await other.getByRole('button', { name: 'Discard' }).click()
  await other.getByRole('button', { name: 'Discard' }).waitFor({ state: 'detached' })
  await expect.poll(kept).toBe(1)
})
