import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { ConsoleServer } from './server.ts'

/** The editor of a page, as a user reaches it. */
export function editorOf(page: Page) {
  const content = page.getByRole('textbox', { name: /^Text of/ })
  const status = page.locator('[data-kind]')
  return {
    content,
    status,
    /** Waits until the editor shows its text. */
    ready: () => content.waitFor(),
    /** Puts the cursor at the end of the text. */
    async toEnd() {
      await content.click()
      await page.keyboard.press('Control+End')
    },
    type: (text: string) => page.keyboard.type(text),
    /** The shown lines. */
    lines: () => content.locator('.cm-line').allTextContents(),
    becomes: (text: RegExp | string) => expect.poll(() => status.textContent()).toMatch(text),
  }
}

/** The page reads what a colleague has changed, as when its tab is shown again, instead of some seconds later. */
export async function lookAgain(page: Page): Promise<void> {
  await page.evaluate(() => dispatchEvent(new Event('visibilitychange')))
}

export interface StoredPrompt {
  content: string
  contentHash: string
  versionUuid: string
}

/** The prompt as the server has it. */
export function storedPrompt(server: ConsoleServer, path: string, version: string): Promise<StoredPrompt> {
  return server.read(`/projects/${server.project.id}/versions/${version}/documents/${path}`)
}

/** Writes a prompt past the page, like a colleague with the SDK. */
export async function writePrompt(
  server: ConsoleServer,
  path: string,
  { version, prompt, key }: { version: string; prompt: string; key?: string },
): Promise<void> {
  const at = `/projects/${server.project.id}/versions/${version}/documents/create-or-update`
  const { status, text } = await server.api('POST', at, { body: { path, prompt }, ...(key && { key }) })
  if (status !== 200) throw new Error(`${status} ${text}`)
}

/** A new draft based on live: its uuid. */
export async function newDraft(server: ConsoleServer): Promise<string> {
  return (await server.project.newDraft()).split('/').at(-1) ?? ''
}
