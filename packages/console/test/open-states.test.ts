/** Opens menus, dialogs and refusals, draws each one, and checks it with axe in both themes. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { violations } from './support/axe.ts'
import { consoleBrowser, type PageOptions } from './support/browser.ts'
import { editorOf, writePrompt } from './support/editor-page.ts'
import { type ConsoleServer, consoleServer } from './support/server.ts'
import { fillDraft, filledButtons, settle, shownPrompts, themes } from './support/states.ts'

const shots = fileURLToPath(new URL('./shots/', import.meta.url))
const browser = consoleBrowser()
let server: ConsoleServer
let draft: string

beforeAll(async () => {
  mkdirSync(shots, { recursive: true })
  server = await consoleServer(shownPrompts)
  draft = await fillDraft(server)
})
afterAll(() => server.close())

interface OpenState extends Pick<PageOptions, 'key' | 'allow'> {
  name: string
  path: () => string
  /** Opens what is checked, and resolves when it is shown. */
  open: (page: Page) => Promise<unknown>
}

const prompts = () => `/p/${server.project.id}/v/${draft}/prompts/support/reply`
const changes = () => `/p/${server.project.id}/v/${draft}/changes`
const dialog = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name }).waitFor()
const click = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click()

const states: OpenState[] = [
  {
    name: 'palette',
    path: prompts,
    open: async (page) => {
      await editorOf(page).ready()
      await page.keyboard.press('Control+k')
      await page.getByRole('option').first().waitFor()
    },
  },
  {
    name: 'keys',
    path: () => '/settings/keys',
    open: async (page) => {
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.keyboard.press('?')
      await dialog(page, 'Keyboard shortcuts')
    },
  },
  {
    name: 'user-menu',
    path: () => '/settings/keys',
    open: async (page) => {
      await page.getByTitle(/, default$/).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).waitFor()
    },
  },
  {
    name: 'project-menu',
    path: prompts,
    open: async (page) => {
      await page.locator('button[aria-haspopup="menu"]').first().click()
      await page.getByRole('menu').waitFor()
    },
  },
  {
    name: 'new-prompt',
    path: prompts,
    allow: /status of 400/,
    open: async (page) => {
      await click(page, 'New prompt')
      await dialog(page, 'New prompt')
      await page.getByLabel('Path').fill('support/reply/../..')
      await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
      await page.locator('[aria-invalid="true"]').waitFor()
    },
  },
  {
    name: 'rename',
    path: prompts,
    open: async (page) => {
      await page.locator('[data-key="support/reply"]').focus()
      await page.keyboard.press('F2')
      await dialog(page, /^Rename/)
    },
  },
  {
    name: 'publish',
    path: changes,
    open: async (page) => {
      await click(page, /^Publish/)
      await dialog(page, 'Publish')
    },
  },
  {
    name: 'revert',
    path: changes,
    open: async (page) => {
      await click(page, /^Revert/)
      await page.getByRole('alertdialog').waitFor()
    },
  },
  {
    name: 'new-key',
    path: () => '/settings/keys',
    open: async (page) => {
      await click(page, 'New key')
      await dialog(page, 'New key')
    },
  },
  {
    name: 'invite',
    path: () => '/settings/people',
    allow: /status of 400/,
    open: async (page) => {
      await click(page, 'Invite')
      const form = page.getByRole('dialog', { name: 'Invite a person' })
      await form.getByLabel('Name').fill('Ana')
      await form.getByLabel('Email').fill('not an address')
      await form.getByRole('button', { name: 'Make a link' }).click()
      await page.locator('[aria-invalid="true"]').waitFor()
    },
  },
  {
    name: 'provider',
    path: () => '/settings/providers',
    open: async (page) => {
      await click(page, 'Add a provider')
      await dialog(page, 'Add a provider')
    },
  },
  {
    name: 'failed-run',
    path: () => `/p/${server.project.id}/v/live/prompts/support/triage?tab=run`,
    open: async (page) => {
      server.fake.enqueue({ status: 401, body: { error: { message: 'Incorrect API key provided' } } })
      await page.getByRole('textbox', { name: /^ticket/ }).fill('late order')
      await page.locator('[data-run]').click()
      await page.getByText('Incorrect API key provided', { exact: false }).first().waitFor()
    },
  },
  {
    name: 'compile-errors',
    path: () => `/p/${server.project.id}/v/${draft}/prompts/support/closing`,
    open: async (page) => {
      const editor = editorOf(page)
      await editor.ready()
      await editor.toEnd()
      await page.keyboard.type('{{ if }}')
      await page.locator('.cm-lintRange, .cm-lint-marker').first().waitFor()
    },
  },
  {
    name: 'conflict',
    path: prompts,
    allow: /status of 409/,
    open: async (page) => {
      const editor = editorOf(page)
      await editor.ready()
      await editor.toEnd()
      await page.route(
        '**/create-or-update',
        async (route) => {
          await writePrompt(server, 'support/reply', { version: draft, prompt: `Theirs ${crypto.randomUUID()}` })
          await route.continue()
        },
        { times: 1 },
      )
      await page.keyboard.type('mine')
      await page.getByRole('textbox', { name: 'Their text' }).waitFor()
    },
  },
  {
    name: 'session-ended',
    path: prompts,
    allow: /status of 401/,
    open: async (page) => {
      await editorOf(page).ready()
      await page.context().clearCookies()
      await dialog(page, 'Your session has ended')
    },
  },
  {
    name: 'session-ended-while-typing',
    path: prompts,
    allow: /status of 401/,
    open: async (page) => {
      const editor = editorOf(page)
      await editor.ready()
      await editor.toEnd()
      await page.context().clearCookies()
      await editor.type(' typed')
      await page.getByText('You can finish typing').waitFor()
    },
  },
  {
    name: 'used-link',
    path: () => `/sign-in#${'A'.repeat(43)}`,
    key: null,
    allow: /status of 401/,
    open: (page) => page.getByRole('heading', { name: 'This link no longer works' }).waitFor(),
  },
  {
    name: 'unknown-version',
    path: () => `/p/${server.project.id}/v/${crypto.randomUUID()}/prompts`,
    allow: /status of 404/,
    open: (page) => page.getByRole('heading', { name: 'This project has no version at this address' }).waitFor(),
  },
]

for (const { name, path, open, ...options } of states) {
  test.for(themes)(`${name}, %s`, async (theme) => {
    const opened = await browser.open(server, path(), { ...options, theme, bypassCSP: true })
    await open(opened.page)
    await settle(opened)
    await opened.page.screenshot({ path: join(shots, `open-${name}-${theme}.png`) })
    expect((await filledButtons(opened.page)).length).toBeLessThanOrEqual(1)
    expect(await violations(opened.page)).toEqual([])
  })
}
