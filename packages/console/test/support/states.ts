/** The states of the console that are drawn and checked: eight screens, and what opens above them. */
import type { Page } from 'playwright-core'
import type { PageOptions } from './browser.ts'
import { editorOf, writePrompt } from './editor-page.ts'
import { experimentEnd } from './experiment.ts'
import type { ConsoleServer } from './server.ts'

export interface ScreenState extends Pick<PageOptions, 'allow'> {
  name: string
  path: (server: ConsoleServer, draft: string) => string
  /** Opens the page signed out. */
  isSignedOut?: boolean
  /** Opens the page of a server without projects. */
  isEmpty?: boolean
  /** Its parts are those of another state, and a flow finds them by their names: only `pnpm test:long` checks it. */
  isRare?: boolean
  /** Brings the screen into the state, and resolves when it shows it. */
  ready: (page: Page, server: ConsoleServer, draft: string) => Promise<unknown>
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

/** Fills a draft and the history, so that every screen has something to show. Returns the uuid of the draft. */
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
  await editAndRollBack(server)
  // One run ends, one fails.
  const run = { path: 'support/triage', parameters: { ticket: 'late order' } }
  await server.api('POST', `${server.project.live}/documents/run`, { body: run })
  server.fake.enqueue({ status: 401, body: { error: { message: 'Incorrect API key provided' } } })
  await server.api('POST', `${server.project.live}/documents/run`, { body: run })
  await fillExperiment(server)
  return draft.split('/').at(-1) ?? ''
}

/** Examples of a prompt, a judge of its answers that has no labels, and an experiment of two models. */
async function fillExperiment({ api, read, project }: ConsoleServer): Promise<void> {
  const { documentUuid } = await read<{ documentUuid: string }>(`${project.live}/documents/support/triage`)
  const changes = [
    {
      name: 'late',
      parameters: { ticket: 'late order' },
      checks: [{ type: 'contains', all: ['Hello'] }],
      tags: ['must'],
    },
    { name: 'lamp', parameters: { ticket: 'broken lamp' }, expected: { label: 'complaint' } },
  ]
  await api('POST', `/projects/${project.id}/examples/batch`, { body: { documentUuid, changes } })
  const polite = { projectId: project.id, documentUuid, name: 'Polite', metric: 'binary' }
  await api('POST', '/evaluations', { body: polite })
  const arms = ['gpt-4o-mini', 'gpt-4.1-mini'].map((model) => ({ versionUuid: 'live', overrides: { model } }))
  const { status, body } = await api('POST', `/projects/${project.id}/experiments`, {
    body: { path: 'support/triage', arms },
  })
  if (status !== 201) throw new Error(`The experiment was not started: ${status}`)
  await experimentEnd({ read }, String(body['uuid']))
}

/** Live is edited with force and then has its published texts again, so the history has a revision and a rollback. */
async function editAndRollBack({ api, project }: ConsoleServer): Promise<void> {
  const prompt = prompts['marketing/headline'].replace('Five', 'Seven')
  const edited = await api('POST', `${project.live}/documents/create-or-update`, {
    body: { path: 'marketing/headline', prompt, force: true },
  })
  const body = { reason: 'Five are enough' }
  const { status } = await api('POST', `/projects/${project.id}/environments/live/rollback`, { body })
  if (edited.status !== 200 || status !== 200)
    throw new Error(`The history was not filled: ${edited.status}, ${status}`)
}

const examplesOf = (server: ConsoleServer) => `/p/${server.project.id}/v/live/prompts/support/triage?tab=examples`
const click = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click()

export const screens: readonly ScreenState[] = [
  {
    name: 'sign-in',
    path: () => '/sign-in',
    isSignedOut: true,
    allow: /status of 401/,
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
    ready: (page) => editorOf(page).ready(),
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
    name: 'overview',
    path: (server) => `/p/${server.project.id}/overview`,
    ready: async (page) => {
      await page.getByRole('region', { name: 'Figures by prompt' }).waitFor()
      await page.getByRole('button', { name: 'Show as table' }).last().click()
      await page.locator('canvas').first().waitFor()
    },
  },
  {
    name: 'home',
    path: () => '/',
    ready: async (page) => {
      await page
        .getByRole('region', { name: /^Spend/ })
        .locator('dl')
        .waitFor()
      await page
        .getByRole('region', { name: /^Failures/ })
        .getByRole('listitem')
        .waitFor()
    },
  },
  {
    name: 'examples',
    path: examplesOf,
    ready: (page) => page.getByRole('button', { name: 'Edit the name of late' }).waitFor(),
  },
  {
    name: 'grid',
    path: examplesOf,
    ready: async (page) => {
      await click(page, 'Last results')
      await page.getByRole('gridcell').first().focus()
    },
  },
  {
    name: 'queue',
    path: examplesOf,
    ready: async (page) => {
      await click(page, 'Evaluations')
      await page.getByRole('menuitem', { name: 'Polite' }).click()
      await page.getByRole('region', { name: 'Answer' }).waitFor()
    },
  },
  {
    name: 'judge',
    path: examplesOf,
    ready: async (page) => {
      await click(page, 'Evaluations')
      await page.getByRole('menuitem', { name: 'Create a judge' }).click()
      const form = page.getByRole('dialog', { name: 'Create a judge' })
      await form.getByLabel('Name').fill('Kind')
      await form.getByLabel('Criteria').fill('Is it kind?')
      await form.getByRole('button', { name: 'Create' }).click()
      await page.getByText('Not validated').waitFor()
    },
  },
  {
    name: 'first-run',
    path: () => '/',
    isEmpty: true,
    ready: (page) => page.getByRole('button', { name: 'Begin' }).waitFor(),
  },
]

const replyOf = (server: ConsoleServer, draft: string) => `/p/${server.project.id}/v/${draft}/prompts/support/reply`
const changesOf = (server: ConsoleServer, draft: string) => `/p/${server.project.id}/v/${draft}/changes`
const dialog = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name }).waitFor()

/** Menus, dialogs and refusals. `ready` opens what is checked. */
export const openStates: readonly ScreenState[] = [
  {
    name: 'palette',
    path: replyOf,
    ready: async (page) => {
      await editorOf(page).ready()
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('option').first().waitFor()
    },
  },
  {
    name: 'keys',
    path: () => '/settings/keys',
    ready: async (page) => {
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.keyboard.press('?')
      await dialog(page, 'Keyboard shortcuts')
    },
  },
  {
    name: 'user-menu',
    isRare: true,
    path: () => '/settings/keys',
    ready: async (page) => {
      await page.getByTitle(/, default$/).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).waitFor()
    },
  },
  {
    name: 'project-menu',
    path: replyOf,
    ready: async (page) => {
      await page.locator('button[aria-haspopup="menu"]').first().click()
      await page.getByRole('menu').waitFor()
    },
  },
  {
    name: 'new-prompt',
    path: replyOf,
    allow: /status of 409/,
    ready: async (page) => {
      await click(page, 'New prompt')
      await dialog(page, 'New prompt')
      await page.getByLabel('Path').fill('support/reply')
      await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
      await page.locator('[aria-invalid="true"]').waitFor()
    },
  },
  {
    name: 'rename',
    isRare: true,
    path: replyOf,
    ready: async (page) => {
      await page.locator('[data-key="support/reply"]').focus()
      await page.keyboard.press('F2')
      await dialog(page, /^Rename/)
    },
  },
  {
    name: 'publish',
    path: changesOf,
    ready: async (page) => {
      await click(page, /^Publish/)
      await dialog(page, 'Publish')
    },
  },
  {
    name: 'revert',
    isRare: true,
    path: changesOf,
    ready: async (page) => {
      await click(page, /^Revert/)
      await page.getByRole('alertdialog').waitFor()
    },
  },
  {
    name: 'new-key',
    path: () => '/settings/keys',
    ready: async (page) => {
      await click(page, 'New key')
      await dialog(page, 'New key')
    },
  },
  {
    name: 'invite',
    path: () => '/settings/people',
    allow: /status of 400/,
    ready: async (page) => {
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
    isRare: true,
    path: () => '/settings/providers',
    ready: async (page) => {
      await click(page, 'Add a provider')
      await dialog(page, 'Add a provider')
    },
  },
  {
    name: 'failed-run',
    path: (server) => `/p/${server.project.id}/v/live/prompts/support/triage?tab=run`,
    ready: async (page, server) => {
      server.fake.enqueue({ status: 401, body: { error: { message: 'Incorrect API key provided' } } })
      await page.getByRole('textbox', { name: /^ticket/ }).fill('late order')
      await page.locator('[data-run]').click()
      await page.getByText('Incorrect API key provided', { exact: false }).first().waitFor()
    },
  },
  {
    name: 'comparison',
    path: (server) => `/p/${server.project.id}/v/live/prompts/support/triage?tab=run`,
    ready: async (page, server) => {
      server.fake.enqueue({ text: 'Late, in a polite tone.' }, { text: 'Late, in an angry tone.' })
      await page.getByRole('textbox', { name: /^ticket/ }).fill('late order')
      await click(page, 'Compare')
      await page.getByRole('article', { name: 'Arm 2' }).getByLabel('Model').fill('gpt-4.1-mini')
      await click(page, 'Run all')
      await page.getByText('Completed', { exact: true }).nth(1).waitFor()
      await page.getByLabel('Difference to the first').check()
      await page.locator('ins').first().waitFor()
    },
  },
  {
    name: 'paste-rows',
    path: examplesOf,
    ready: async (page) => {
      await click(page, 'Import CSV')
      await page.getByLabel('Cells').fill('ticket\nlate')
      await page.getByRole('region', { name: 'Preview' }).waitFor()
    },
  },
  {
    name: 'start-experiment',
    path: examplesOf,
    ready: async (page) => {
      await click(page, 'Choose arms')
      await dialog(page, 'Run 2 rows')
    },
  },
  {
    name: 'edit-row',
    path: examplesOf,
    ready: async (page) => {
      await click(page, /^Edit the checks of late/)
      await dialog(page, 'Checks of late')
    },
  },
  {
    name: 'create-rule',
    path: examplesOf,
    ready: async (page) => {
      await click(page, 'Evaluations')
      await page.getByRole('menuitem', { name: 'Create a rule' }).click()
      await dialog(page, 'Create a rule')
    },
  },
  {
    name: 'edit-expected',
    isRare: true,
    path: examplesOf,
    ready: async (page) => {
      await click(page, 'Last results')
      await page.getByRole('gridcell').first().focus()
      await page.keyboard.press('e')
      await dialog(page, 'late')
    },
  },
  {
    name: 'save-runs',
    path: (server) => `/p/${server.project.id}/runs`,
    ready: async (page) => {
      await page.getByRole('checkbox').first().check()
      await click(page, 'Save as examples')
      await dialog(page, 'Save as an example')
    },
  },
  {
    name: 'compile-errors',
    path: (server, draft) => `/p/${server.project.id}/v/${draft}/prompts/support/closing`,
    ready: async (page) => {
      const editor = editorOf(page)
      await editor.ready()
      await editor.toEnd()
      await page.keyboard.type('{{ if }}')
      await page.locator('.cm-lintRange, .cm-lint-marker').first().waitFor()
    },
  },
  {
    name: 'conflict',
    path: replyOf,
    allow: /status of 409/,
    ready: async (page, server, draft) => {
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
      await page.getByRole('textbox', { name: 'Just typed' }).waitFor()
    },
  },
  {
    name: 'session-ended',
    isRare: true,
    path: replyOf,
    allow: /status of 401/,
    ready: async (page) => {
      await editorOf(page).ready()
      await page.context().clearCookies()
      await dialog(page, 'Your session has ended')
    },
  },
  {
    name: 'session-ended-while-typing',
    path: replyOf,
    allow: /status of 401/,
    ready: async (page) => {
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
    isRare: true,
    path: () => `/sign-in#${'A'.repeat(43)}`,
    isSignedOut: true,
    allow: /status of 401/,
    ready: (page) => page.getByRole('heading', { name: 'This link no longer works' }).waitFor(),
  },
  {
    name: 'unknown-version',
    isRare: true,
    path: (server) => `/p/${server.project.id}/v/${crypto.randomUUID()}/prompts`,
    allow: /status of 404/,
    ready: (page) => page.getByRole('heading', { name: 'This project has no version at this address' }).waitFor(),
  },
]

/** The filled buttons of the page, or of the dialog above it. A screen has at most one. */
export function filledButtons(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const top = document.querySelector('dialog') ?? document.body
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

/**
 * Waits until the screen has its title, fonts are loaded and nothing is being fetched, so that a picture shows the final
 * state. The frame and its menus can be used earlier.
 */
export async function settle(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor({ state: 'attached' })
  await page.waitForFunction(() => document.title !== '')
  await page.evaluate(() => document.fonts.ready.then(() => undefined))
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
}
