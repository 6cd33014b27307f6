/** The states of the console that are drawn and checked: eight screens, in both themes and three widths. */
import type { Page } from 'playwright-core'
import type { OpenedPage } from './browser.ts'
import type { ConsoleServer } from './server.ts'

export const themes = ['light', 'dark'] as const
export const widths = [360, 768, 1440] as const

export interface ScreenState {
  name: string
  path: (server: ConsoleServer, draft: string) => string
  /** Opens the page signed out. */
  isSignedOut?: boolean
  /** Opens the page of a server without projects. */
  isEmpty?: boolean
  /** Brings the screen into the state, and resolves when it shows it. */
  ready: (page: Page) => Promise<unknown>
}

const prompts = {
  'support/reply': `---
provider: OpenAI
model: gpt-4o-mini
temperature: 0.3
---

<system>
  You answer customers of {{ company }} in a friendly tone.
</system>

<user>
  {{ if ticket }}
    {{ ticket }}
  {{ endif }}
</user>
`,
  'support/triage': '---\nprovider: OpenAI\nmodel: gpt-4o-mini\n---\n\nSort this ticket: {{ ticket }}\n',
  'support/tone/formal': 'Write formally.\n',
  'marketing/headline': '---\nprovider: demo\nmodel: demo\n---\n\nFive headlines about {{ topic }}.\n',
}

/** The prompts of the installation that is drawn. */
export const shownPrompts: Record<string, string> = prompts

/** Fills a draft, so that every screen has something to show. Returns its uuid. */
export async function fillDraft(server: ConsoleServer): Promise<string> {
  const draft = await server.project.newDraft()
  const reply = prompts['support/reply']
  const changes = [
    {
      path: 'support/reply',
      status: 'modified',
      content: reply.replace('a friendly tone', 'a warm and friendly tone'),
    },
    { path: 'support/closing', status: 'added', content: 'Say goodbye to {{ name }}.\n' },
    { path: 'support/tone/formal', status: 'deleted' },
  ]
  const { status } = await server.api('POST', `${draft}/push`, { body: { changes } })
  if (status !== 200) throw new Error(`The draft was not filled: ${status}`)
  return draft.split('/').at(-1) ?? ''
}

const editorOf = (page: Page) => page.locator('.cm-content').first()

export const screens: readonly ScreenState[] = [
  {
    name: 'sign-in',
    path: () => '/sign-in',
    isSignedOut: true,
    ready: (page) => page.getByRole('heading', { level: 1 }).waitFor(),
  },
  {
    name: 'prompts',
    path: (server) => `/p/${server.project.id}/v/live/prompts`,
    ready: (page) => page.getByRole('treeitem').first().waitFor(),
  },
  {
    name: 'editor',
    path: (server, draft) => `/p/${server.project.id}/v/${draft}/prompts/support/reply`,
    ready: (page) => editorOf(page).waitFor({ state: 'attached' }),
  },
  {
    name: 'run',
    path: (server, draft) => `/p/${server.project.id}/v/${draft}/prompts/marketing/headline?tab=run`,
    ready: async (page) => {
      await page.getByRole('textbox', { name: /^topic/ }).fill('a proofreader’s desk')
      await page.getByRole('button', { name: /^Run/ }).first().click()
      await page.getByText('Completed').first().waitFor()
    },
  },
  {
    name: 'changes',
    path: (server, draft) => `/p/${server.project.id}/v/${draft}/changes?prompt=support%2Freply`,
    ready: (page) => page.locator('.cm-changedText').first().waitFor(),
  },
  {
    name: 'history',
    path: (server) => `/p/${server.project.id}/history`,
    ready: async (page) => {
      await page.getByRole('link', { name: 'v1', exact: true }).click()
      await page.locator('.cm-content').first().waitFor()
    },
  },
  {
    name: 'settings',
    path: () => '/settings/keys',
    ready: (page) => page.getByRole('row').nth(1).waitFor(),
  },
  {
    name: 'first-run',
    path: () => '/',
    isEmpty: true,
    ready: (page) => page.getByRole('button', { name: 'Begin' }).waitFor(),
  },
]

/** The filled buttons of the page, or of the dialog above it. A screen has at most one. */
export function filledButtons(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const top = document.querySelector('[role=dialog], [role=alertdialog]') ?? document.body
    const probe = top.appendChild(document.createElement('div'))
    const blues = ['var(--blue)', 'var(--blue-deep)'].map((color) => {
      probe.style.background = color
      return getComputedStyle(probe).backgroundColor
    })
    probe.remove()
    return [...top.querySelectorAll('button')]
      .filter((button) => button.checkVisibility() && blues.includes(getComputedStyle(button).backgroundColor))
      .map((button) => button.textContent ?? '')
  })
}

/** Waits until fonts are loaded and nothing is being fetched, so that a picture shows the final state. */
export async function settle({ page }: Pick<OpenedPage, 'page'>): Promise<void> {
  await page.evaluate(() => document.fonts.ready.then(() => undefined))
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
}
