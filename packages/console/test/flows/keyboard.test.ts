/**
 * Every flow of prompts, runs and publications by keyboard alone. The list of prompts has such a test in tree, and
 * the changes of a draft in publish.
 */
import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { editorOf, newDraft, storedPrompt, writePrompt } from '../support/editor-page.ts'
import { keysOf } from '../support/keys.ts'
import { expectAnswer, frontMatter, openRun } from '../support/run-part.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer
const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}`).join('\n')
const tools = 'tools:\n  get_weather:\n    description: Weather\n    parameters: { type: object }\n'

beforeAll(async () => {
  server = await sharedServer({
    'a/first': 'One',
    'a/second': 'Two',
    'b/live': 'Live',
    'b/merged': 'first line\nsecond line\nthird line\n',
    'b/reverted': 'Stays',
    'b/reverted-too': 'Stays too',
    'c/long': lines(60),
    'd/input': `${frontMatter('parameters:\n  topic: { type: text }\n')}Tell me about {{ topic }}`,
    'd/weather': `${frontMatter(tools)}How is the weather?`,
    'e/rolled': 'As it was',
  })
})
beforeEach(() => server.fake.clear())

const heading = (page: Page) => page.getByRole('heading', { level: 1 })
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })

/** A prompt of a new draft, with the focus in its text. */
async function inEditor(path: string, allow?: RegExp, version?: string) {
  const draft = version ?? (await newDraft(server))
  const { page, context } = await browser.open(server, server.promptAddress(path, draft), allow ? { allow } : {})
  const editor = editorOf(page)
  const keys = keysOf(page)
  await keys.tabTo(editor.content)
  await keys.press('Control+End')
  return { draft, page, context, editor, keys, stored: async () => (await storedPrompt(server, path, draft)).content }
}

/** The changes of a new draft that holds these texts. A text that is null is deleted. */
async function inChanges(texts: Record<string, string | null>, allow?: RegExp) {
  const draft = await pushed(texts)
  const address = `/p/${server.project.id}/v/${draft}/changes`
  const { page } = await browser.open(server, address, allow ? { allow } : {})
  await page.getByRole('navigation', { name: 'Changed prompts' }).waitFor()
  return { draft, page, keys: keysOf(page) }
}

async function pushed(texts: Record<string, string | null>): Promise<string> {
  const draft = await server.project.newDraft()
  const changes = Object.entries(texts).map(([path, content]) =>
    content === null ? { path, status: 'deleted' } : { path, status: 'modified', content },
  )
  expect((await server.api('POST', `${draft}/push`, { body: { changes } })).status).toBe(200)
  return draft.split('/').at(-1) ?? ''
}

const publish = async (draft: string) =>
  expect((await server.api('POST', `/projects/${server.project.id}/versions/${draft}/publish`)).status).toBe(200)
const liveText = async (path: string) => (await storedPrompt(server, path, 'live')).content

test('editor: text, settings, errors and the way to the next prompt', async () => {
  const { page, editor, keys, stored } = await inEditor('a/first')
  await keys.type('\n{{ if a }}')
  const errors = page.getByRole('region', { name: 'Errors' })
  await errors.waitFor()
  await keys.press('Control+Home', 'F8')
  await expect.poll(() => page.locator('[class*="cursor"]').last().textContent()).toMatch(/^2:/)
  await keys.expectFocus(editor.content)
  await keys.press('Control+End')
  await keys.type('{{ endif }}')
  await errors.waitFor({ state: 'detached' })
  await keys.press('Control+s')
  await expect.poll(stored).toBe('One\n{{ if a }}{{ endif }}')

  await keys.backTo(page.getByLabel('Model'))
  await keys.type('gpt-4o-mini')
  await keys.press('Enter')
  await expect.poll(stored).toContain('model: gpt-4o-mini\n')

  // Escape, then Tab leaves the text for the panels beside it.
  await keys.tabTo(editor.content)
  await keys.press('Escape', 'Tab')
  await keys.tabTo(page.getByRole('tab', { name: 'Run' }))
  await keys.press('ArrowRight')
  await keys.expectFocus(page.getByRole('tab', { name: 'Examples' }))
  await keys.press('ArrowRight')
  await keys.expectFocus(page.getByRole('tab', { name: 'Parameters' }))
  await page.getByRole('tabpanel', { name: 'Parameters' }).getByText('a', { exact: true }).waitFor()
  await keys.press(']')
  await expect.poll(() => heading(page).textContent()).toBe('a/second')
  await editor.ready()
  await keys.press('[')
  await expect.poll(() => heading(page).textContent()).toBe('a/first')
  await editor.ready()

  // In the list, the focus goes along.
  await keys.backTo(page.locator('[role="treeitem"][data-key="a/first"]'))
  await keys.press(']')
  await keys.expectFocus(page.locator('[role="treeitem"][data-key="a/second"]'))
})

test('the keys for the previous and the next one are listed where they work', async () => {
  const { page, keys } = await inChanges({ 'a/first': 'Changed', 'a/second': 'Changed too' })
  const region = (name: string) => page.getByRole('region', { name }).waitFor()
  await keys.press(']')
  await region('a/second')
  await keys.expectFocus(page.getByRole('link', { name: /^.?a\/second/ }))
  await keys.press('[')
  await region('a/first')
  await keys.press('?')
  const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await list.getByText('Go to the next prompt').waitFor()
  await list.getByText('Go to the previous prompt').waitFor()
  await keys.press('Escape')
  await keys.expectFocus(page.getByRole('link', { name: /^.?a\/first/ }))
})

test('a screen that hides the focus while it loads more data gives it back', async () => {
  const other = await sharedServer({ other: 'Other' })
  const { page } = await browser.open(server, `/p/${server.project.id}/history`)
  const keys = keysOf(page)
  const first = page.getByRole('link', { name: 'v1', exact: true })
  await keys.tabTo(first)
  let answer = () => {}
  const mayAnswer = new Promise<void>((resolve) => {
    answer = resolve
  })
  await page.route(`**/projects/${other.project.id}/**/releases*`, async (route) => {
    await mayAnswer
    await route.continue()
  })
  await page.evaluate((address) => {
    history.pushState({}, '', address)
    dispatchEvent(new PopStateEvent('popstate'))
  }, `/p/${other.project.id}/history`)
  const loading = page.getByRole('status', { name: 'Loading' })
  await loading.waitFor()
  await page.goBack()
  await keys.expectFocus(first)
  await page.goForward()
  await loading.waitFor()
  answer()
  await keys.expectFocus(heading(page))
})

test('conflict: a part of theirs is taken, and the text is kept', async () => {
  const { draft, page, editor, keys, stored } = await inEditor('b/merged', /status of 409/)
  const theirs = 'first line, theirs\nsecond line\nthird line\nlast, theirs'
  await page.route(
    '**/create-or-update',
    async (route) => {
      await writePrompt(server, 'b/merged', { version: draft, prompt: theirs })
      await route.continue()
    },
    { times: 1 },
  )
  await keys.type('mine')
  const mine = page.getByRole('textbox', { name: 'Just typed' })
  await keys.expectFocus(mine)
  await keys.backTo(button(page, 'Take this part').first())
  await keys.press('Enter')
  await keys.expectFocus(mine)
  await keys.press('F9')
  await editor.becomes(/^Saved/)
  await keys.expectFocus(editor.content)
  expect(await stored()).toBe(theirs)
})

test('offline: the text is kept, and sent again on demand', async () => {
  const allow = /ERR_INTERNET_DISCONNECTED|Failed to load resource|ERR_FAILED/
  const { page, editor, keys, stored } = await inEditor('a/second', allow)
  // Until Enter, also the retries of the editor itself fail. Otherwise one of them might remove the button too early.
  await page.evaluate(() =>
    addEventListener(
      'keydown',
      ({ key }) => document.documentElement.toggleAttribute('data-asked', key === 'Enter'),
      true,
    ),
  )
  const isAsked = () => page.evaluate(() => document.documentElement.hasAttribute('data-asked'))
  await page.route('**/create-or-update', async (route) => ((await isAsked()) ? route.continue() : route.abort()))
  await keys.type(' offline')
  await editor.becomes(/^Not saved, kept here/)
  await keys.press('Escape')
  await keys.tabTo(button(page, 'Try again'))
  await keys.press('Enter')
  await editor.becomes(/^Saved/)
  expect(await stored()).toBe('Two offline')
  // The button is gone.
  await keys.expectFocus(editor.content)
})

test('run, stop and chat', async () => {
  const part = await openRun(browser, server, 'd/input')
  const keys = keysOf(part.page)
  await keys.tabTo(button(part.page, 'Paste JSON'))
  await keys.press('Enter')
  await keys.expectFocus(part.pane.getByLabel('All inputs as JSON'))
  await keys.type('{"topic": "swans"}')
  await keys.tabTo(button(part.page, 'Fill in'))
  await keys.press('Enter')
  await keys.expectFocus(button(part.page, 'Paste JSON'))
  await keys.tabTo(part.input('topic'))
  expect(await part.input('topic').inputValue()).toBe('swans')
  await keys.press('Control+a')
  await keys.type('ducks')
  server.fake.enqueue(
    { text: 'one two', gate: new Promise(() => {}), gateAfter: 1 },
    { text: 'An answer.' },
    { text: 'More.' },
  )
  await keys.press('Control+Enter')
  await part.waitFor('Running')
  await keys.expectFocus(part.input('topic'))
  await keys.tabTo(button(part.page, /^Stop/))
  await keys.press('Enter')
  await part.waitFor('Stopped')

  // The same button runs again.
  await keys.expectFocus(button(part.page, /^Run again/))
  await keys.press('Enter')
  await part.waitFor('Completed')
  await expectAnswer(part, 'An answer.')
  expect(JSON.stringify(server.fake.requests.at(-1)?.body)).toContain('ducks')
  await keys.tabTo(part.pane.getByRole('tab', { name: 'Text' }))
  await keys.press('ArrowRight')
  await part.pane.getByText('The result as the API returns it').waitFor()
  await keys.press('ArrowLeft')
  const reply = part.pane.getByLabel('Reply')
  await keys.tabTo(reply)
  await keys.type('And?')
  await keys.press('Enter')
  await expectAnswer(part, 'An answer.\n\nMore.')
  await keys.expectFocus(reply)
})

test('examples: save, change and choose', async () => {
  const part = await openRun(browser, server, 'd/input')
  const { page } = part
  const keys = keysOf(page)
  const choice = part.pane.getByLabel('Example', { exact: true })
  await keys.tabTo(part.input('topic'))
  await keys.type('geese')
  await keys.backTo(button(page, 'Save'))
  await keys.press('Enter')
  await keys.expectFocus(part.pane.getByLabel('Name of the example'))
  await keys.type('Birds')
  await keys.press('Enter')
  await button(page, 'Save as another').waitFor()
  await keys.expectFocus(choice)
  await keys.tabTo(part.input('topic'))
  await keys.type(' and ducks')
  await keys.backTo(button(page, 'Update'))
  await keys.press('Enter')
  await button(page, 'Update').waitFor({ state: 'detached' })
  await keys.expectFocus(choice)

  await keys.press('ArrowUp')
  await expect.poll(() => new URL(page.url()).searchParams.get('example')).toBe(null)
  await expect.poll(() => choice.inputValue()).toBe('')
  await keys.press('ArrowDown')
  await button(page, 'Save as another').waitFor()
  await keys.expectFocus(choice)
})

test('client tools: the field for the result has the focus, and the result is sent', async () => {
  const part = await openRun(browser, server, 'd/weather')
  const keys = keysOf(part.page)
  const calls = ['call_1', 'call_2'].map((id) => ({ id, name: 'get_weather', arguments: {} }))
  server.fake.enqueue({ text: 'Looking.', toolCalls: calls }, { text: 'Sunny.' })
  await keys.press('Control+Enter')
  const fields = part.pane.getByLabel('Result of get_weather')
  await keys.expectFocus(fields.first())
  await keys.type('blue sky')
  await keys.press('Tab')
  await keys.expectFocus(button(part.page, 'Send the result').first())
  await keys.press('Enter')
  await expect.poll(() => fields.count()).toBe(1)
  await keys.expectFocus(part.pane.getByRole('region', { name: 'Tool call get_weather' }).first())
  await keys.tabTo(fields)
  await keys.type('unknown')
  await keys.tabTo(button(part.page, 'Send as an error'))
  await keys.press('Enter')
  await part.waitFor('Completed')
  await keys.expectFocus(part.pane.getByRole('region', { name: 'Tool call get_weather' }).last())
  const sent = JSON.stringify(server.fake.requests.at(-1)?.body)
  expect(sent).toContain('blue sky')
  expect(sent).toContain('unknown')
})

test.for(['unified', 'split'])('changes: unchanged lines are shown on demand, %s', async (view) => {
  const { page, keys } = await inChanges({ 'c/long': lines(60).replace('line 30', 'another line') })
  if (view === 'split') await keys.press('u')
  const folds = button(page, /^Show \d+ unchanged lines$/)
  await expect.poll(() => folds.count()).toBe(view === 'split' ? 4 : 2)
  await keys.tabTo(folds.first())
  expect(await folds.first().textContent()).toBe('Show 26 unchanged lines')
  await keys.press('Enter')
  await expect.poll(() => folds.count()).toBe(view === 'split' ? 2 : 1)
  await keys.expectFocus(page.locator('.cm-content').first())
  await page.getByText('line 12', { exact: true }).first().waitFor()
  await keys.tabTo(folds.first())
  await keys.press(' ')
  await expect.poll(() => folds.count()).toBe(0)
})

test('publish-conflict: compared, merged and published', async () => {
  const { page, keys } = await inChanges(
    { 'b/merged': 'first line, mine\nsecond line\nthird line, mine\n' },
    /status of 409/,
  )
  await publish(await pushed({ 'b/merged': 'first line, theirs\nsecond line\nthird line\n' }))
  const dialog = page.getByRole('dialog', { name: 'Publish' })
  await keys.press('Control+Enter')
  await keys.expectFocus(dialog.getByLabel('Title'))
  await keys.press('Control+a')
  await keys.type('Mine')
  await keys.press('Enter')
  await dialog.getByText('Live has newer texts of 1 prompt that this draft changes.').waitFor()
  expect(await liveText('b/merged')).toContain('theirs')
  await keys.tabTo(dialog.getByRole('button', { name: 'Compare and merge' }))
  await keys.press('Enter')
  const merge = page.getByRole('dialog', { name: 'b/merged' })
  await merge.getByRole('textbox', { name: 'In this draft' }).waitFor()
  // The dialog takes the focus a moment after it is shown. Earlier keys would go to the page below.
  await expect.poll(() => merge.evaluate((dialog) => dialog.contains(document.activeElement))).toBe(true)
  await keys.tabTo(merge.getByText('Changes in live'))
  await keys.press('Enter')
  await merge.locator('.cm-changedText', { hasText: ', theirs' }).first().waitFor()
  await keys.tabTo(merge.getByRole('button', { name: 'Take this part' }).first())
  await keys.press('Enter')
  await keys.expectFocus(merge.getByRole('textbox', { name: 'In this draft' }))
  await keys.tabTo(merge.getByRole('button', { name: 'Use the text on the right' }))
  await keys.press('Enter')
  await merge.waitFor({ state: 'hidden' })
  await keys.expectFocus(dialog.getByLabel('Title'))
  // The dialog keeps what was typed before the conflict.
  expect(await dialog.getByLabel('Title').inputValue()).toBe('Mine')
  await keys.tabTo(dialog.getByRole('button', { name: 'Publish', exact: true }))
  await keys.press('Enter')
  await page.getByRole('heading', { name: /^v\d+ Mine/ }).waitFor()
  await keys.expectFocus(heading(page))
  expect(await liveText('b/merged')).toBe('first line, theirs\nsecond line\nthird line, mine\n')
})

test('publish-broken: the link of an error leads to its line', async () => {
  const { page, keys } = await inChanges({ 'a/first': 'fine\n{{ if x }}\nnever closed' })
  await keys.press('Control+Enter')
  const dialog = page.getByRole('dialog', { name: 'Publish' })
  await keys.tabTo(dialog.getByRole('link', { name: /^Line \d+: / }).first())
  await keys.press('Enter')
  await keys.expectFocus(editorOf(page).content)
  expect(await page.locator('[class*="cursor"]').last().textContent()).toMatch(/^[23]:/)
})

test('rollback: from the list of versions to the one that is live again', async () => {
  await publish(await pushed({ 'e/rolled': 'As it is' }))
  const { page } = await browser.open(server, `/p/${server.project.id}/v/live/prompts`)
  const keys = keysOf(page)
  await heading(page).waitFor()
  await keys.press('g', 'h')
  await keys.expectFocus(page.getByRole('heading', { name: 'History', level: 1 }))
  await keys.press('j', 'j', 'Enter')
  const back = button(page, /^Roll back to v\d+$/)
  await back.waitFor()
  // The newer version is live and has no such button, so the focus stays in the list.
  await keys.press('[')
  await back.waitFor({ state: 'detached' })
  await keys.press(']')
  await keys.tabTo(back)
  await keys.press('Enter')
  const dialog = page.getByRole('dialog', { name: /^Roll back to v/ })
  await dialog.getByText(/^\d+ prompts?: /).waitFor()
  await keys.press('Escape')
  await keys.expectFocus(back)
  await keys.press('Enter')
  await dialog.getByText(/^\d+ prompts?: /).waitFor()
  await keys.tabTo(dialog.getByRole('button', { name: 'Roll back', exact: true }))
  await keys.press('Enter')
  await page.getByRole('link', { name: /^Rolled back to v/ }).waitFor()
  // The button is gone: the version is live.
  await keys.expectFocus(heading(page))
  expect(await liveText('e/rolled')).toBe('As it was')
})

test('revert: one prompt after a question that names it, then the last one', async () => {
  const { draft, page, keys } = await inChanges({ 'b/reverted': 'Changed', 'b/reverted-too': null })
  const revert = button(page, 'Revert')
  const question = page.getByRole('alertdialog')
  await keys.tabTo(revert)
  await keys.press('Enter')
  await page.getByRole('alertdialog', { name: 'Revert b/reverted?' }).waitFor()
  // Escape changes nothing and gives the focus back.
  await keys.press('Escape')
  await question.waitFor({ state: 'hidden' })
  await keys.expectFocus(revert)
  await page.getByText('2 prompts: 1 changed, 1 deleted').waitFor()
  for (const left of ['1 prompt: 1 deleted', null]) {
    await keys.tabTo(revert)
    await keys.press('Enter')
    await question.waitFor()
    await keys.tabTo(question.getByRole('button', { name: 'Revert' }))
    await keys.press('Enter')
    await page.getByText(left ?? 'No changes in this draft.').waitFor()
    await keys.expectFocus(left ? revert : heading(page))
  }
  expect((await storedPrompt(server, 'b/reverted', draft)).content).toBe('Stays')
})

test('text typed after the key that opens something goes there, also before a busy page has drawn it', async () => {
  const { page } = await browser.open(server, `/p/${server.project.id}/v/${await newDraft(server)}/prompts`)
  const keys = keysOf(page)
  await page.getByRole('treeitem').first().waitFor()
  await page.evaluate(() => {
    window.requestAnimationFrame = () => 0
  })
  await keys.press('Control+k')
  await keys.type('newsletterx')
  await keys.press('Backspace')
  expect(await page.getByRole('combobox', { name: 'Find' }).inputValue()).toBe('newsletter')
  expect(await page.getByRole('dialog').count()).toBe(1)
  await keys.press('Escape')

  await keys.press('n')
  await keys.type('k/g')
  await keys.press('Tab')
  await keys.expectFocus(page.getByLabel('Start from'))
  expect(await page.getByLabel('Path').inputValue()).toBe('k/g')
  await keys.press('Escape')

  await button(page, /^Version:/).focus()
  await keys.press('Enter', 'ArrowDown', 'ArrowUp', 'Enter')
  await expect.poll(() => page.url()).toMatch(/\/v\/live\/prompts$/)
})
