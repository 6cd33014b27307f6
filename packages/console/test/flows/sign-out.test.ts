/** Signing out in one tab while another tab of the same browser has unsaved text. */
import type { BrowserContext, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { editorOf, newDraft, storedPrompt } from '../support/editor-page.ts'
import { sharedServer, signInLink } from '../support/server.ts'

const browser = consoleBrowser()

async function openedTwice() {
  const server = await sharedServer({ hello: 'Hello' })
  const draft = await newDraft(server)
  const address = server.promptAddress('hello', draft)
  const { page, context } = await browser.open(server, address, { allow: /status of 401|ERR_FAILED/ })
  const editor = editorOf(page)
  await editor.ready()
  await editor.toEnd()
  // The text cannot be saved before the other tab signs out.
  await page.route('**/create-or-update', (route) => route.abort())
  await editor.type(' unsaved')
  await editor.becomes(/^Not saved, kept here/)
  const other = await browser.openTab(context, server.address('/settings/keys'))
  await other.getByRole('heading', { level: 1 }).waitFor()
  const stored = async () => (await storedPrompt(server, 'hello', draft)).content
  return { server, page, context, editor, other, stored }
}

async function signOut(page: Page): Promise<void> {
  await page.getByTitle(/, default$/).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
}

const keptTexts = (page: Page) =>
  page.evaluate(() => Object.entries(localStorage).filter(([name, text]) => `${name} ${text}`.includes('Hello')).length)

/** Replaces the browser's cookie without notifying its tabs. */
async function signInWith(apiKey: string, context: BrowserContext, server: { address(path: string): string }) {
  const response = await context.request.post(server.address('/console/session'), {
    data: { apiKey },
    headers: { 'X-Stet-Console': '1' },
  })
  expect(response.status()).toBe(201)
}

test('signing out in one tab wipes the copy of another, whose text stays on its screen until one signs in again', async () => {
  const { server, page, context, editor, other, stored } = await openedTwice()
  expect(await keptTexts(page)).toBe(1)
  await signOut(other)
  await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
  await editor.becomes(/^Not saved and not kept/)
  expect(await keptTexts(page)).toBe(0)
  // The sign-in sheet hides the editor from roles.
  expect(await page.locator('.cm-line').allTextContents()).toEqual(['Hello unsaved'])
  // Hiding the tab keeps a copy of unsaved text at other times.
  await page.evaluate(() => dispatchEvent(new Event('pagehide')))
  expect(await keptTexts(page)).toBe(0)

  await signInWith(server.key, context, server)
  await page.evaluate(() => dispatchEvent(new Event('focus')))
  await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor({ state: 'detached' })
  await expect.poll(() => keptTexts(page)).toBe(1)
  expect(await stored()).toBe('Hello')
  await page.unroute('**/create-or-update')
  // The button "Try again" disappears if the editor's own retry comes first.
  await page.evaluate(() => dispatchEvent(new Event('online')))
  await expect.poll(stored).toBe('Hello unsaved')
  await editor.becomes(/^Saved/)
  expect(await keptTexts(page)).toBe(0)
})

test('another person who signs in after the session has ended saves nothing of the first one, and is offered the text', async () => {
  const server = await sharedServer({ hello: 'Hello' })
  const draft = await newDraft(server)
  const anaKey = await server.newKey(['read', 'write'], { name: 'Ana', email: 'ana@example.com' })
  const leoKey = await server.newKey(['read', 'write'], { name: 'Leo', email: 'leo@example.com' })
  const { page, context } = await browser.open(server, server.promptAddress('hello', draft), {
    key: anaKey,
    allow: /status of 401/,
  })
  const writes: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/create-or-update')) writes.push(request.url())
  })
  const editor = editorOf(page)
  await editor.ready()
  await context.clearCookies()
  await editor.toEnd()
  await editor.type(' from Ana')
  await editor.becomes('Not saved, kept here: you are signed out')
  const refused = writes.length
  const sheet = page.getByRole('dialog', { name: 'Your session has ended' })
  await page.keyboard.press('Escape')
  await sheet.getByLabel('API key').fill(leoKey)
  await page.keyboard.press('Enter')
  await page.getByText(/Text by Ana from .* was not saved/).waitFor()
  await editor.becomes(/^Saved/)
  expect(await editor.lines()).toEqual(['Hello'])
  expect(writes).toHaveLength(refused)
  expect((await storedPrompt(server, 'hello', draft)).content).toBe('Hello')
  await page.getByRole('button', { name: 'Restore' }).click()
  await expect.poll(async () => (await storedPrompt(server, 'hello', draft)).content).toBe('Hello from Ana')
})

test('a tab notices that another person has signed in with another tab of the same browser', async () => {
  const { server, page, context, editor, other, stored } = await openedTwice()
  const leoKey = await server.newKey(['read', 'write'], { name: 'Leo', email: 'leo@example.com' })
  await other.goto(await signInLink(server, leoKey))
  await other.getByRole('button', { name: 'Sign in as Leo' }).click()
  await page.getByText(/Text by .* was not saved/).waitFor()
  await editor.ready()
  expect(await page.locator('.cm-line').allTextContents()).toEqual(['Hello'])
  expect(await stored()).toBe('Hello')
  expect(context.pages()).toHaveLength(2)
})

test('a save before the tab has noticed is refused, and the text is offered', async () => {
  const { server, page, context, editor, stored } = await openedTwice()
  const session = await context.request.get(server.address('/console/session'), { headers: { 'X-Stet-Console': '1' } })
  const { name } = (await session.json()).apiKey.author
  const namesake = await server.newKey(['read', 'write'], { name, email: 'namesake@example.com' })
  await signInWith(namesake, context, server)
  await page.unroute('**/create-or-update')
  await editor.type(' more')
  await page.getByText(`Text by ${name} from`).waitFor()
  await editor.ready()
  expect(await page.locator('.cm-line').allTextContents()).toEqual(['Hello'])
  expect(await stored()).toBe('Hello')
})

test('a page whose text is kept nowhere asks once before it makes room for another person', async () => {
  const { server, page, context, editor, other } = await openedTwice()
  const questions: string[] = []
  page.on('dialog', async (dialog) => {
    questions.push(dialog.type())
    await dialog.dismiss()
  })
  await signOut(other)
  await editor.becomes(/^Not saved and not kept/)
  const leoKey = await server.newKey(['read', 'write'], { name: 'Leo', email: 'leo@example.com' })
  await signInWith(leoKey, context, server)
  const focus = () => page.evaluate(() => dispatchEvent(new Event('focus')))
  await focus()
  await expect.poll(() => questions).toEqual(['beforeunload'])
  const sheet = page.getByRole('dialog', { name: 'Your session has ended' })
  await sheet.waitFor()
  // Later refusals do not ask again.
  const asked = page.waitForResponse('**/console/session')
  await focus()
  await asked
  await sheet.getByText('Sign in again to continue').waitFor()
  expect(questions).toHaveLength(1)
  expect(await page.locator('.cm-line').allTextContents()).toEqual(['Hello unsaved'])
})

test('a page of the person before does not end the session of the next', async () => {
  const { server, page, context } = await openedTwice()
  const leoKey = await server.newKey(['read', 'write'], { name: 'Leo', email: 'leo@example.com' })
  // Any request of the page, also the next poll of a list, shows it the next person. It sends none before it signs out.
  let isLeaving = false
  page.on('request', (request) => {
    isLeaving ||= request.method() === 'DELETE'
  })
  await page.route('**/api/v3/**', (route) =>
    isLeaving || route.request().method() !== 'GET' ? route.fallback() : undefined,
  )
  await signInWith(leoKey, context, server)
  await page.getByTitle(/, default$/).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Sign out' }).click()
  await page.getByText(/Text by .* was not saved/).waitFor()
  const session = await context.request.get(server.address('/console/session'), { headers: { 'X-Stet-Console': '1' } })
  expect((await session.json()).apiKey.author.name).toBe('Leo')
})
