/** Unsaved text of a page that has crashed, offered also where its prompt is no longer found. */
import type { BrowserContext, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { editorOf, newDraft, storedPrompt, writePrompt } from '../support/editor-page.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
const allow = /status of (404|409)|ERR_FAILED|Failed to load resource/

async function crashed(
  prompts: Record<string, string> = { 'support/reply': 'Hello', other: 'Other' },
  prepare?: (server: ConsoleServer, draft: string) => Promise<void>,
) {
  const server = await sharedServer(prompts)
  const draft = await newDraft(server)
  await prepare?.(server, draft)
  const { page, context } = await browser.open(server, server.promptAddress('support/reply', draft), { allow })
  const editor = editorOf(page)
  await editor.ready()
  await editor.toEnd()
  await page.route('**/create-or-update', (route) => route.abort())
  await editor.type(' unsaved')
  await editor.becomes(/^Not saved, kept here/)
  await crash(page)
  return { server, draft, context }
}

/** Ends the page's process. No handler of the page runs. */
async function crash(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const ended = page.waitForEvent('crash')
  session.send('Page.crash').catch(() => undefined)
  await ended
  await page.close()
}

const prompts = (server: ConsoleServer, version: string) =>
  server.address(`/p/${server.project.id}/v/${version}/prompts`)
const offer = (page: Page) => page.getByRole('region', { name: 'Unsaved texts' })
const versionPath = (server: ConsoleServer, draft: string) => `/projects/${server.project.id}/versions/${draft}`
const keptCopies = (context: BrowserContext) =>
  context.pages()[0]?.evaluate(() => Object.entries(localStorage).filter(([, text]) => text.includes('unsaved')).length)

test('text of a prompt that was deleted meanwhile can be restored as a new prompt', async () => {
  const { server, draft, context } = await crashed()
  await server.api('DELETE', `${versionPath(server, draft)}/documents/support/reply`)
  const page = await browser.openTab(context, server.promptAddress('support/reply', draft))
  await offer(page).getByText('The prompt no longer exists here').waitFor()
  await offer(page).getByRole('button', { name: 'Restore as a new prompt' }).click()
  const editor = editorOf(page)
  await editor.ready()
  expect(await editor.lines()).toEqual(['Hello unsaved'])
  expect((await storedPrompt(server, 'support/reply', draft)).content).toBe('Hello unsaved')
  await offer(page).waitFor({ state: 'detached' })
  expect(await keptCopies(context)).toBe(0)
})

test('text of a prompt that another browser has renamed is offered, and discarding it touches nothing else', async () => {
  const { server, draft, context } = await crashed()
  const { contentHash } = await storedPrompt(server, 'support/reply', draft)
  await server.api('POST', `${versionPath(server, draft)}/push`, {
    body: {
      changes: [
        { path: 'support/reply', status: 'deleted', baseHash: contentHash },
        { path: 'support/answer', status: 'added', content: 'Hello', baseHash: '' },
      ],
    },
  })
  const page = await browser.openTab(context, server.promptAddress('support/answer', draft))
  await offer(page).getByText('support/reply').waitFor()
  await offer(page).getByRole('button', { name: 'Copy it' }).click()
  await offer(page).getByText('Copied').waitFor()
  await offer(page).getByRole('button', { name: 'Discard' }).click()
  await offer(page).waitFor({ state: 'detached' })
  expect(await keptCopies(context)).toBe(0)
  expect((await storedPrompt(server, 'support/answer', draft)).content).toBe('Hello')
})

test('text of a prompt that a publication removed is offered on live, and restoring it goes into a draft', async () => {
  const { server, draft, context } = await crashed()
  const { contentHash } = await storedPrompt(server, 'support/reply', draft)
  await server.api('POST', `${versionPath(server, draft)}/push`, {
    body: { changes: [{ path: 'support/reply', status: 'deleted', baseHash: contentHash }] },
  })
  await server.api('POST', `${versionPath(server, draft)}/publish`, { body: { title: 'Without replies' } })
  const page = await browser.openTab(context, prompts(server, 'live'))
  await offer(page).getByRole('button', { name: 'Restore as a new prompt' }).click()
  const editor = editorOf(page)
  await editor.ready()
  const restored = /\/v\/([0-9a-f-]{36})\/prompts\/support\/reply/.exec(page.url())?.[1] ?? ''
  expect(restored).not.toBe(draft)
  expect((await storedPrompt(server, 'support/reply', restored)).content).toBe('Hello unsaved')
})

test('text of another draft leads there, where its editor offers it', async () => {
  const { server, draft, context } = await crashed()
  const { contentHash } = await storedPrompt(server, 'support/reply', 'live')
  const other = await newDraft(server)
  await server.api('POST', `${versionPath(server, other)}/push`, {
    body: { changes: [{ path: 'support/reply', status: 'deleted', baseHash: contentHash }] },
  })
  const page = await browser.openTab(context, prompts(server, other))
  await offer(page).getByRole('link', { name: 'Open' }).click()
  await page.waitForURL(server.promptAddress('support/reply', draft))
  await page.getByRole('button', { name: 'Restore', exact: true }).click()
  await expect.poll(async () => (await storedPrompt(server, 'support/reply', draft)).content).toBe('Hello unsaved')
  await offer(page).waitFor({ state: 'detached' })
})

test('a prompt of this draft only, deleted by a colleague, opens at its address once it is restored', async () => {
  const { server, draft, context } = await crashed({ other: 'Other' }, (server, draft) =>
    writePrompt(server, 'support/reply', { version: draft, prompt: 'Hello' }),
  )
  await server.api('DELETE', `${versionPath(server, draft)}/documents/support/reply`)
  const page = await browser.openTab(context, server.promptAddress('support/reply', draft))
  await page.getByText('There is no prompt at this address.').waitFor()
  await offer(page).getByRole('button', { name: 'Restore as a new prompt' }).click()
  const editor = editorOf(page)
  await editor.ready()
  expect(await editor.lines()).toEqual(['Hello unsaved'])
})

test('a copy follows its moved prompt, and entries in the storage that are no copies hide none', async () => {
  const { server, draft, context } = await crashed()
  const page = await browser.openTab(context, server.address('/settings/about'))
  await page.evaluate(
    ([project = '', version = '']) => {
      const entries = ['null', '5', '{', '{}', '{"text":"x"}', '{"text":1,"baseHash":"","sent":[],"at":1e99}']
      for (const [at, entry] of entries.entries())
        localStorage.setItem(`stet.unsaved./#${project}#${version}#support/reply#odd-${at}`, entry)
    },
    [String(server.project.id), draft],
  )
  const move = { from: 'support/reply', to: 'support/answer' }
  await server.api('POST', `${versionPath(server, draft)}/documents/move`, { body: move })
  await page.goto(prompts(server, draft))
  await offer(page).getByRole('link', { name: 'Open' }).click()
  await page.waitForURL(server.promptAddress(move.to, draft))
  await page.getByRole('button', { name: 'Restore', exact: true }).click()
  await expect.poll(async () => (await storedPrompt(server, move.to, draft)).content).toBe('Hello unsaved')
})
