import type { Page, Route } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { skeletons } from '../../src/screens/prompts/edits/skeletons.ts'
import { consoleBrowser, isOnTop, rarely } from '../support/browser.ts'
import { editorOf, lookAgain } from '../support/editor-page.ts'
import { type ConsoleServer, sharedServer, thousandPrompts } from '../support/server.ts'

const browser = consoleBrowser()
const text = (about: string) => `Write about ${about} for {{ name }}.`
/** Words that have a meaning in API paths, and characters that addresses escape. */
const oddNames = ['support/réply', 'a.b', 'run', 'check', 'create-or-update', 'run/logs', 'ünï/日本']
let server: ConsoleServer

beforeAll(async () => {
  const names = ['support/reply', 'support/triage', 'sales/outreach/first', 'hello', ...oddNames]
  const prompts = Object.fromEntries(names.map((name) => [name, text(name)]))
  server = await sharedServer({ ...prompts, 'sales/user': '<prompt path="/sales/outreach/first" name={{ name }} />' })
})

rarely('all of 1,000 prompts in 6 levels are listed', async () => {
  const large = await sharedServer(thousandPrompts())
  const { page } = await browser.open(large, `/p/${large.project.id}`)
  await page.getByText('1,000 prompts').waitFor()
  await expect.poll(() => page.locator('a[role="treeitem"]').count()).toBe(1000)
  expect(await page.locator('[role="treeitem"][aria-level="6"]').count()).toBeGreaterThan(500)
})

test('a prompt is created, renamed, deleted, brought back and reverted in a draft', async () => {
  const draft = await newDraft()
  const { page } = await browser.open(server, server.promptAddress('support/reply', draft))
  await page.getByRole('button', { name: 'New prompt' }).click()
  // A poll before the change does not know the new prompt.
  const poll = await held(page, '**/tree')
  await lookAgain(page)
  await poll.arrived
  await submit(page, 'Create', 'support/closing')
  await heading(page, 'support/closing')
  poll.release()
  await row(page, 'support/closing').getByText('added').waitFor({ state: 'attached' })
  expect(page.url()).toBe(server.promptAddress('support/closing', draft))

  // Screen readers announce what is added to a live region, not a new one.
  const live = await page.locator('section[aria-live]').elementHandle()
  await row(page, 'support/closing').focus()
  await page.keyboard.press('F2')
  await submit(page, 'Rename', 'support/goodbye')
  await heading(page, 'support/goodbye')
  expect(await paths(page)).not.toContain('support/closing')
  const notices = page.getByRole('region', { name: 'Notifications' })
  expect(await notices.getByRole('paragraph').allTextContents()).toEqual(['Renamed support/closing to support/goodbye'])
  expect(await notices.evaluate((region, before) => region === before, live)).toBe(true)
  // They cover nothing of the screen.
  const [screen, covered] = await Promise.all([page.locator('[data-screen]').boundingBox(), notices.boundingBox()])
  expect(covered?.y).toBeGreaterThanOrEqual((screen?.y ?? 0) + (screen?.height ?? 0))

  await row(page, 'support/triage').focus()
  await page.keyboard.press('Delete')
  await row(page, 'support/triage').getByText('deleted').waitFor({ state: 'attached' })
  // A dialog of F2 would take the next key.
  await row(page, 'support/triage').focus()
  await page.keyboard.press('F2')
  await page.keyboard.press('n')
  await page.getByRole('dialog', { name: 'New prompt' }).waitFor()
  expect(await page.getByRole('dialog', { name: /^Rename/ }).count()).toBe(0)
  await page.keyboard.press('Escape')
  await row(page, 'support/triage').click()
  await page.getByRole('button', { name: 'Restore' }).click()
  await expect.poll(() => row(page, 'support/triage').getByText('deleted').count()).toBe(0)
  expect(await stored(draft, 'support/triage')).toBe(text('support/triage'))

  await server.api('POST', `/projects/${server.project.id}/versions/${draft}/push`, {
    body: { changes: [{ path: 'support/reply', status: 'modified', content: 'Another text' }] },
  })
  await page.goto(server.promptAddress('support/reply', draft))
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Revert' }).click()
  await page.getByRole('alertdialog', { name: 'Revert support/reply?' }).getByRole('button', { name: 'Revert' }).click()
  await expect.poll(() => stored(draft, 'support/reply')).toBe(text('support/reply'))
  await expect.poll(() => row(page, 'support/reply').getByText('changed').count()).toBe(0)

  // A deletion can be undone, with the text of the draft.
  await row(page, 'support/goodbye').focus()
  await page.keyboard.press('Delete')
  await expect.poll(() => paths(page)).not.toContain('support/goodbye')
  // A dialog does not cover the notice, and the notice covers no button of the dialog. A click refuses what is covered.
  await page.getByRole('button', { name: 'New prompt' }).click()
  const dialog = page.getByRole('dialog', { name: 'New prompt' })
  await page.setViewportSize({ width: 360, height: 480 })
  await dialog.getByRole('button', { name: 'Cancel' }).click({ trial: true })
  // A click would scroll first.
  await page.setViewportSize({ width: 1440, height: 300 })
  await dialog.evaluate((box) => box.scrollTo(0, 0))
  const undo = dialog.getByRole('button', { name: 'Undo' })
  expect(await isOnTop(undo)).toBe(true)
  await undo.click()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.setViewportSize({ width: 1440, height: 900 })
  await heading(page, 'support/goodbye')
})

test('a revert waits for the save before it, and an open editor follows its prompt through a swap of equal texts, until the user leaves it', async () => {
  const draft = await newDraft()
  const push = (changes: object[]) =>
    server.api('POST', `/projects/${server.project.id}/versions/${draft}/push`, { body: { changes } })
  const twins = ['twin/a', 'twin/b'].map((path) => ({ path, status: 'added', content: text('twins') }))
  await push([...twins, { path: 'hello', status: 'modified', content: 'Another text' }])
  const { page } = await browser.open(server, server.promptAddress('hello', draft), { allow: /ERR_FAILED/ })
  await editorOf(page).ready()
  await page.route('**/create-or-update', (route) => route.abort())
  await editorOf(page).toEnd()
  await editorOf(page).type(' and more')
  await editorOf(page).becomes(/kept/)
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Revert' }).click()
  const question = page.getByRole('alertdialog', { name: 'Revert hello?' })
  await question.getByRole('button', { name: 'Revert' }).click()
  await question.getByText('could not be saved').waitFor()
  expect(await stored(draft, 'hello')).toBe('Another text')
  await page.unroute('**/create-or-update')
  await question.getByRole('button', { name: 'Revert' }).click()
  await question.waitFor({ state: 'detached' })
  await expect.poll(() => editorOf(page).lines()).toEqual([text('hello')])
  expect(await stored(draft, 'hello')).toBe(text('hello'))

  await row(page, 'twin/a').click()
  await heading(page, 'twin/a')
  await editorOf(page).ready()
  const [a, b, between] = ['twin/a', 'twin/b', 'twin/c']
  const move = (from: string, path: string) => push([{ from, path, status: 'moved' }])
  await move(a, between)
  await move(b, a)
  await move(between, b)
  await heading(page, b)
  await editorOf(page).toEnd()
  await editorOf(page).type(' Mine.')
  await expect.poll(() => stored(draft, b)).toBe(`${text('twins')} Mine.`)
  expect(await stored(draft, a)).toBe(text('twins'))

  // The user opens another prompt while the open one is being deleted.
  const deletion = await held(page, '**/push')
  await row(page, 'twin/b').focus()
  await page.keyboard.press('Delete')
  await deletion.arrived
  await row(page, 'hello').click()
  await heading(page, 'hello')
  deletion.release()
  await page.getByText('Deleted twin/b').waitFor()
  expect(page.url()).toBe(server.promptAddress('hello', draft))
})

test('a moved prompt keeps its examples and what is being typed, other tabs follow it, and its one change is read and reverted', async () => {
  const [from, first, second, last] = ['sales/outreach/first', 'support/first', 'answers/first', 'answers/last']
  const documentUuid = await documentUuidOf('live', from)
  const examples = `/projects/${server.project.id}/examples`
  await server.api('POST', examples, { body: { documentUuid, name: 'Ana', parameters: { name: 'Ana' } } })
  const key = await server.newKey(['read', 'write'], { name: 'Mo', email: 'mo@example.com' })
  const allow = /status of 40[49]|ERR_FAILED/
  const { page, context } = await browser.open(server, server.promptAddress(from), { key, allow })
  const pushes: string[] = []
  page.on('request', (request) => request.url().endsWith('/push') && pushes.push(request.postData() ?? ''))

  // Dragging opens the dialog of F2, with the new path. On live, the move goes into a draft.
  await row(page, from).dragTo(row(page, 'support/'))
  await page.getByLabel('Path').waitFor()
  expect(await page.getByLabel('Path').inputValue()).toBe(first)
  await submit(page, 'Rename')
  const broken = page.getByRole('dialog', { name: 'Renamed' })
  await broken.getByText(`1 prompt still refers to ${from}.`).waitFor()
  await broken.getByRole('link', { name: 'sales/user' }).waitFor()
  await broken.getByRole('button', { name: 'Close' }).click()
  await heading(page, first)
  const [, draft = ''] = /\/v\/([0-9a-f-]{36})\//.exec(page.url()) ?? []
  await row(page, first).getByText(`moved from ${from}`).waitFor({ state: 'attached' })
  expect(await paths(page)).not.toContain(from)

  const tab = await browser.openTab(context, page.url())
  await Promise.all([editorOf(tab).ready(), editorOf(page).ready()])
  await page.bringToFront()
  await page.route('**/create-or-update', (route) => route.abort())
  await editorOf(page).toEnd()
  await editorOf(page).type(' And more.')
  await editorOf(page).becomes(/kept/)
  pushes.length = 0
  await row(page, 'support/').focus()
  await page.keyboard.press('F2')
  await submit(page, 'Rename', 'answers')
  await heading(page, second)
  expect(page.url()).toBe(server.promptAddress(second, draft))
  expect(pushes.map((body) => JSON.parse(body).changes.length)).toEqual([4])
  await page.getByRole('textbox', { name: `Text of ${second}.` }).waitFor()
  await page.unroute('**/create-or-update')
  await page.keyboard.press('Control+s')
  await expect.poll(() => stored(draft, second)).toBe(`${text(from)} And more.`)
  // It is the same editor: what was typed before can be undone.
  await editorOf(page).content.focus()
  await page.keyboard.press('Control+z')
  await expect.poll(() => stored(draft, second)).toBe(text(from))
  await page.keyboard.press('Control+Shift+z')
  await expect.poll(() => stored(draft, second)).toBe(`${text(from)} And more.`)
  expect(await documentUuidOf(draft, second)).toBe(documentUuid)
  expect(await server.read(`${examples}?documentUuid=${documentUuid}`)).toMatchObject([{ name: 'Ana' }])

  await tab.bringToFront()
  await lookAgain(tab)
  await tab.getByText(`${first} was moved to ${second}`).waitFor()
  await heading(tab, second)
  await expect.poll(() => editorOf(tab).lines()).toEqual([`${text(from)} And more.`])

  // A colleague moves the prompt while one types.
  const move = { body: { from: second, to: last } }
  await server.api('POST', `/projects/${server.project.id}/versions/${draft}/documents/move`, move)
  await editorOf(tab).toEnd()
  await editorOf(tab).type(' And mine.')
  await heading(tab, last)
  await expect.poll(() => stored(draft, last)).toBe(`${text(from)} And more. And mine.`)

  await tab.goto(server.promptAddress(from, draft))
  await tab.getByText(`This draft moves ${from} to ${last}.`).waitFor()
  await tab.goto(server.promptAddress('answers/reply', draft))
  await tab.getByRole('button', { name: 'More' }).click()
  await tab.getByRole('menuitem', { name: 'Revert' }).click()
  await tab.getByRole('alertdialog').getByRole('button', { name: 'Revert' }).click()
  await heading(tab, 'support/reply')

  await page.bringToFront()
  await page.goto(server.address(`/p/${server.project.id}/v/${draft}/changes`))
  await page.getByText('3 prompts: 3 moved').waitFor()
  await page.getByRole('link', { name: `${last} moved from ${from} and changed` }).waitFor()
  const shown = page.getByRole('region', { name: last })
  await shown.getByText(`Moved from ${from}`).waitFor()
  expect(await shown.locator('.cm-changedText').allTextContents()).toEqual([' And more. And mine.'])
  await shown.getByRole('button', { name: 'Revert' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revert' }).click()
  await page.getByText('2 prompts: 2 moved').waitFor()
  expect(await stored(draft, from)).toBe(text(from))
})

test('a change on live goes into one draft of its author', async () => {
  const key = await server.newKey(['read', 'write'], { name: 'Ana', email: 'ana@example.com' })
  const { page } = await browser.open(server, server.promptAddress('hello'), { key, allow: /status of 409/ })
  await page.getByRole('button', { name: 'New prompt' }).click()
  await submit(page, 'Create', 'support/reply')
  await page.getByText('There is already a prompt at support/reply.').waitFor()
  // A refusal leaves no empty draft behind.
  const drafts = await server.read<{ authorName: string }[]>(`/projects/${server.project.id}/versions?status=draft`)
  expect(drafts.filter(({ authorName }) => authorName === 'Ana')).toEqual([])
  await submit(page, 'Create', 'from-live')
  await heading(page, 'from-live')
  const [, draft] = /\/v\/([0-9a-f-]{36})\//.exec(page.url()) ?? []
  const { body } = await server.api('GET', `/projects/${server.project.id}/versions/${draft}`)
  expect(body).toMatchObject({ status: 'draft', authorName: 'Ana', title: expect.stringMatching(/^Ana · \d+ \w+$/) })

  await page.goto(server.promptAddress('hello'))
  await row(page, 'hello').focus()
  await page.keyboard.press('Delete')
  await row(page, 'hello').getByText('deleted').waitFor({ state: 'attached' })
  expect(page.url()).toContain(`/v/${draft}/`)
})

test('without the scope write, the actions name it and do nothing', async () => {
  const key = await server.newKey(['read'])
  const { page } = await browser.open(server, server.promptAddress('hello'), { key })
  const button = page.getByRole('button', { name: 'New prompt' })
  await expect.poll(() => button.getAttribute('title')).toBe('your key lacks “write”')
  expect(await button.getAttribute('aria-disabled')).toBe('true')
  await row(page, 'hello').focus()
  await page.keyboard.press('n')
  await page.keyboard.press('F2')
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('the list is read again every 10 s while its tab is shown, and stays if it cannot be read', async () => {
  const version = await newDraft()
  const { page } = await browser.open(server, '/settings/about', { allow: /status of 500/, isOwn: true })
  await page.clock.install()
  const lastRuns = page.waitForResponse('**/runs?documentUuid=*')
  await page.goto(server.promptAddress('hello', version))
  await row(page, 'hello').focus()
  await page.keyboard.press('ArrowUp')
  await page.getByPlaceholder('Filter').focus()
  // As when a form with the focus closes.
  await page.evaluate(() => (document.activeElement as HTMLElement).blur())
  const create = (path: string) =>
    server.api('POST', `/projects/${server.project.id}/versions/${version}/documents`, { body: { path } })
  await create('colleague/news')
  await page.clock.runFor(11_000)
  await row(page, 'colleague/news').waitFor()
  // The list does not take back a focus that it has given away.
  expect(await focused(page)).toBe(null)

  // Parts of the prompt ask when they are first shown, on a busy machine later than the list.
  await Promise.all([lastRuns, editorOf(page).ready()])
  const asked: string[] = []
  // The page may still be loading the editor's code.
  page.on('request', (request) => request.resourceType() !== 'script' && asked.push(request.url()))
  await setVisibility(page, 'hidden')
  await page.clock.runFor(60_000)
  expect(asked).toEqual([])
  await setVisibility(page, 'visible')
  await page.route('**/tree', (route) => route.fulfill({ status: 500, json: { message: 'No disk', details: {} } }))
  await page.clock.runFor(30_000)
  await page.getByText('This list is from').waitFor()
  expect(await paths(page)).toContain('hello')
  await page.unroute('**/tree')
  await page.clock.runFor(11_000)
  await page.getByText('This list is from').waitFor({ state: 'detached' })
})

test('the list is moved through and used by keyboard alone', async () => {
  const draft = await newDraft()
  const { page } = await browser.open(server, server.promptAddress('support/reply', draft))
  await row(page, 'support/reply').waitFor()
  await page.getByRole('searchbox', { name: 'Filter the prompts' }).focus()
  await page.keyboard.press('Tab')
  expect(await focused(page)).toBe('support/reply')
  const walk = async (...steps: [key: string, row: string][]) => {
    for (const [key, expected] of steps) {
      await page.keyboard.press(key)
      expect(await focused(page), key).toBe(expected)
    }
  }
  await walk(['Home', 'run/'], ['ArrowLeft', 'run/'])
  await expect.poll(() => row(page, 'run/').getAttribute('aria-expanded')).toBe('false')
  await walk(['ArrowDown', 'sales/'], ['s', 'support/'], ['u', 'support/'], ['p', 'support/'])
  await walk(['ArrowDown', 'support/reply'], ['ArrowDown', 'support/réply'], ['Enter', 'support/réply'])
  await heading(page, 'support/réply')

  await page.keyboard.press('F2')
  await page.getByRole('dialog', { name: 'Rename support/réply' }).waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => focused(page)).toBe('support/réply')
  await page.keyboard.press('n')
  await page.getByRole('dialog', { name: 'New prompt' }).waitFor()
  await page.keyboard.type('typed')
  await page.keyboard.press('Enter')
  await heading(page, 'support/typed')
  await row(page, 'support/typed').focus()
  await page.keyboard.press('Delete')
  await expect.poll(() => paths(page)).not.toContain('support/typed')
  // The focus is never lost: the row below has it.
  expect(await focused(page)).toMatch(/^(ünï\/|support\/)/)
})

test('the filter counts what it finds, and takes the keys of the list as text', async () => {
  const { page } = await browser.open(server, server.promptAddress('hello', await newDraft()))
  const filter = page.getByRole('searchbox', { name: 'Filter the prompts' })
  await filter.fill('REP sup')
  await expect.poll(() => paths(page)).toEqual(['support/reply'])
  await page.getByText('1 prompt', { exact: true }).waitFor()
  await filter.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  expect(await focused(page)).toBe('support/reply')
  await filter.press('Escape')
  await expect.poll(() => paths(page)).toContain('hello')
  await filter.fill('hel')
  await filter.press('Home')
  await page.keyboard.press('Delete')
  await page.keyboard.press('F2')
  expect(await filter.inputValue()).toBe('el')
  expect(await page.getByRole('dialog').count()).toBe(0)
  await filter.fill('')
  await row(page, 'hello').focus()
  await page.keyboard.press('?')
  const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  const lines = () => keys.locator('dl > div').allTextContents()
  await expect.poll(lines).toContain('Rename the focused prompt or folderF2')
  expect(await lines()).toContain('Delete the focused promptDel')
})

test('prompts with odd names open by click and by address', async () => {
  const { page } = await browser.open(server, server.promptAddress('hello'))
  for (const name of oddNames) {
    await row(page, name).click()
    await heading(page, name)
    expect(page.url()).toBe(server.promptAddress(name))
  }
  await page.reload()
  await page
    .getByText(`Write about ${oddNames.at(-1)}`)
    .first()
    .waitFor()
})

test('a name with spaces and accents becomes a path, which is shown before, and the address of no prompt offers to create it', async () => {
  const draft = await newDraft()
  const { page } = await browser.open(server, server.promptAddress('ünï/日本', draft), { allow: /status of 404/ })
  await page.getByRole('button', { name: 'New prompt' }).click()
  await page.getByLabel('Path').fill('ünï/Réponse à <Ana>?')
  await page.getByText('Becomes ünï/reponse-a-ana').waitFor()
  await page.getByLabel('Start from').selectOption('Classify')
  await submit(page, 'Create')
  await heading(page, 'ünï/reponse-a-ana')
  expect(await stored(draft, 'ünï/reponse-a-ana')).toContain('enum: [question, complaint')

  const bad = '50% off?#1 <script>alert(1)</script>'
  await page.goto(server.promptAddress(bad, draft))
  await heading(page, bad)
  await page.getByText('There is no prompt at this address.').waitFor()
  // It says so in any tab, also where the examples have the room of the text.
  await page.goto(`${server.promptAddress(bad, draft)}?tab=examples`)
  await page.getByText('There is no prompt at this address.').waitFor()
  // Between narrow and wide, the text is a tab as well, and the only one without a prompt.
  await page.setViewportSize({ width: 1000, height: 780 })
  await expect.poll(() => page.getByRole('tab').allTextContents()).toEqual(['Text'])
  await page.getByText('There is no prompt at this address.').waitFor()
  await page.setViewportSize({ width: 360, height: 780 })
  await page.goto(`${server.promptAddress('helo', draft)}?tab=run`)
  await page.getByRole('alert').getByRole('link', { name: 'hello' }).waitFor()
  await page.getByRole('button', { name: 'Create it' }).click()
  await submit(page, 'Create')
  await page.getByText('There is no prompt at this address.').waitFor({ state: 'detached' })
  await page.getByRole('region', { name: 'Run', exact: true }).waitFor()
  expect(await stored(draft, 'helo')).toContain('{{ message }}')
})

test('every text that a new prompt can start from compiles, without a warning', async () => {
  for (const { name, text: prompt } of skeletons) {
    const { body } = await server.api('POST', `${server.project.live}/documents/check`, {
      body: { path: name, prompt },
    })
    expect(body, name).toMatchObject({ errors: [], issues: [] })
  }
})

rarely('the link to the settings also works in a new tab', async () => {
  const { page } = await browser.open(server, server.promptAddress('hello'))
  const link = page.getByRole('link', { name: 'Settings' })
  await page.goto(server.address((await link.getAttribute('href')) ?? ''))
  await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor()
  await page.getByRole('link', { name: 'People' }).click()
  await expect.poll(() => link.getAttribute('aria-current')).toBe('page')
})

rarely('the address of an unknown project or version says so, and leads to a known one', async () => {
  const { page } = await browser.open(server, '/p/abc', { allow: /status of 40[04]/ })
  await heading(page, 'There is no project at this address')
  await page.goto(server.address('/p/99999/v/live/prompts'))
  await heading(page, 'There is no project at this address')
  expect(await page.locator('body').textContent()).not.toContain('NaN')
  await page.getByRole('link', { name: 'Open the console' }).click()
  await heading(page, 'Home')
  for (const [version, screen] of [
    ['abc', '/changes'],
    [crypto.randomUUID(), '/prompts/hello'],
  ]) {
    await page.goto(server.address(`/p/${server.project.id}/v/${version}${screen}`))
    await heading(page, 'This project has no version at this address')
  }
  await page.getByRole('button', { name: 'Version: Unknown version' }).waitFor()
  await page.getByRole('link', { name: 'Open the live version' }).click()
  await row(page, 'hello').waitFor()
  await page.getByRole('button', { name: /^Version: Live/ }).waitFor()
})

test('changing the window and the tab keeps inputs and the editor', async () => {
  const { page } = await browser.open(server, server.promptAddress('hello'))
  await input(page).fill('Ana')
  const field = await input(page).elementHandle()
  for (const width of [1000, 600, 360, 1440]) {
    await page.setViewportSize({ width, height: 800 })
    if (width < 1100) await page.getByRole('tab', { name: 'Text' }).click()
    await page.getByRole('tab', { name: 'Run' }).click()
    expect(await field?.evaluate((input) => (input.isConnected ? (input as HTMLInputElement).value : null))).toBe('Ana')
    await input(page).waitFor()
  }
  await page.getByRole('tab', { name: 'Use' }).click()
  expect(page.url()).toContain('tab=use')
  await page.getByRole('tab', { name: 'Run' }).click()
  expect(await input(page).inputValue()).toBe('Ana')
})

test('a project without a live version shows its draft, and a sentence while it is empty', async () => {
  const created = await server.api('POST', '/projects', { body: { name: 'empty' } })
  const { project, version } = created.body as { project: { id: number }; version: { uuid: string } }
  const { page } = await browser.open(server, `/p/${project.id}`, { allow: /status of 404/ })
  await page.getByText('There are no prompts here yet.').waitFor()
  expect(page.url()).toContain(version.uuid)
  await page.getByRole('region', { name: 'command' }).getByText('stet push').waitFor()
  // On a narrow screen the list is the screen, and says the same.
  await page.setViewportSize({ width: 360, height: 780 })
  await page.getByText('There are no prompts here yet.').filter({ visible: true }).waitFor()
  await page.getByRole('button', { name: 'New prompt' }).filter({ visible: true }).first().click()
  await submit(page, 'Create', 'first')
  await heading(page, 'first')
  // The project stays usable without any version.
  await server.api('DELETE', `/projects/${project.id}/versions/${version.uuid}`)
  await page.goto(server.address(`/p/${project.id}`))
  await page.getByText('There are no prompts here yet.').filter({ visible: true }).waitFor()
})

/** The field of the prompt's one parameter. */
function input(page: Page) {
  return page.getByRole('textbox', { name: /^name/ })
}

function row(page: Page, key: string) {
  return page.locator(`[role="treeitem"][data-key="${key}"]`)
}

function heading(page: Page, path: string) {
  return page.getByRole('heading', { level: 1, name: path, exact: true }).waitFor()
}

function paths(page: Page): Promise<string[]> {
  return page.locator('a[role="treeitem"]').evaluateAll((rows) => rows.map((one) => one.getAttribute('data-key') ?? ''))
}

function focused(page: Page): Promise<string | null> {
  return page.evaluate(() => document.activeElement?.getAttribute('data-key') ?? null)
}

async function submit(page: Page, action: string, path?: string): Promise<void> {
  if (path !== undefined) await page.getByLabel('Path').fill(path)
  await page.getByRole('dialog').getByRole('button', { name: action }).click()
}

/** Stops the next request to an address until it is released. */
async function held(page: Page, address: string) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
  const hold = async (route: Route) => {
    arrive()
    await released
    await route.continue()
  }
  await page.route(address, hold, { times: 1 })
  return { arrived, release }
}

async function newDraft(): Promise<string> {
  return (await server.project.newDraft()).split('/').at(-1) ?? ''
}

async function stored(version: string, path: string): Promise<unknown> {
  return (await server.api('GET', `/projects/${server.project.id}/versions/${version}/documents/${path}`)).body[
    'content'
  ]
}

async function documentUuidOf(version: string, path: string): Promise<unknown> {
  const { body } = await server.api('GET', `/projects/${server.project.id}/versions/${version}/documents/${path}`)
  return body['documentUuid']
}

async function setVisibility(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate((next) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => next })
    document.dispatchEvent(new Event('visibilitychange'))
  }, state)
}
