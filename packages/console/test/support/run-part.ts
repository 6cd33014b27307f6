/** The run pane of an opened page, as a person sees it. */
import type { BrowserContext, Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { ConsoleBrowser, PageOptions } from './browser.ts'
import type { ConsoleServer } from './server.ts'

export interface RunPart {
  page: Page
  context: BrowserContext
  pane: Locator
  /** The field of an input, by the input's name. */
  input(name: string): Locator
  run(): Promise<void>
  /** Waits until the run has this state. */
  waitFor(
    state: 'Running' | 'Completed' | 'Stopped' | 'Failed' | 'Reconnecting' | 'Waiting for a free stream',
  ): Promise<void>
  /** The text of the answers, as it is shown. */
  answer(): Promise<string>
  /** The figures of the last run, for example "Time 1.2 s". */
  facts(): Promise<string>
  /** The text that a screen reader announced. */
  announcement(): Promise<string>
}

export const frontMatter = (lines = '') => `---\nprovider: openai\nmodel: gpt-4o-mini\n${lines}---\n`

export async function openRun(
  browser: ConsoleBrowser,
  server: ConsoleServer,
  path: string,
  options: PageOptions & { search?: string } = {},
): Promise<RunPart> {
  const { search = 'tab=run', ...others } = options
  const { pathname } = new URL(server.promptAddress(path))
  const { page, context } = await browser.open(server, server.address(`${pathname}?${search}`), others)
  const part = runPart(page, context)
  await part.pane.waitFor()
  return part
}

export function runPart(page: Page, context: BrowserContext): RunPart {
  const pane = page.getByRole('region', { name: 'Run', exact: true })
  return {
    page,
    context,
    pane,
    input: (name) => pane.getByLabel(name, { exact: false }).and(pane.locator('input, textarea, select')).first(),
    run: () => pane.getByRole('button', { name: /^Run/ }).click(),
    waitFor: (state) => pane.getByText(state, { exact: true }).waitFor(),
    answer: async () => (await pane.locator('[data-answer]').allTextContents()).join('\n\n'),
    facts: async () =>
      (await pane.locator('dl > div').allInnerTexts()).map((fact) => fact.replace('\n', ' ')).join(', '),
    announcement: async () => (await pane.locator('[aria-live=polite]').last().textContent()) ?? '',
  }
}

/** Opens another prompt from the tree, and waits until the page shows it: until then the pane is that of the one before. */
export async function openPrompt({ page }: RunPart, path: string): Promise<void> {
  await page.getByRole('treeitem', { name: path }).click()
  await page.getByRole('heading', { level: 1, name: path, exact: true }).waitFor()
}

export async function expectAnswer(part: RunPart, text: string): Promise<void> {
  await expect.poll(() => part.answer()).toBe(text)
}
