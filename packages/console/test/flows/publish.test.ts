import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { consoleBrowser, rarely } from '../support/browser.ts'
import { newDraft, storedPrompt } from '../support/editor-page.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer

beforeAll(async () => {
  server = await sharedServer({ hello: 'Hello {{ name }}\nline two', farewell: 'Goodbye', old: 'Old text' })
})

type Changes = { path: string; from?: string; status: string; content?: string }[]

/** A draft with these changes against live. */
async function draftWith(changes: Changes): Promise<string> {
  const draft = await newDraft(server)
  await push(draft, changes)
  return draft
}

async function push(draft: string, changes: Changes): Promise<void> {
  const path = `/projects/${server.project.id}/versions/${draft}/push`
  expect((await server.api('POST', path, { body: { changes } })).status).toBe(200)
}

/** A colleague publishes these changes. Returns the name of the version. */
async function published(changes: Changes): Promise<string> {
  const path = `/projects/${server.project.id}/versions/${await draftWith(changes)}/publish`
  const { status, body } = await server.api('POST', path)
  expect(status).toBe(200)
  return `v${body['version']}`
}

const liveText = async (path: string) => (await storedPrompt(server, path, 'live')).content

/** The changes of a draft, with the dialog of its publication. */
async function publishing(draft: string) {
  const { page } = await browser.open(server, `/p/${server.project.id}/v/${draft}/changes`, {
    allow: /status of (409|404)/,
  })
  await page.getByRole('button', { name: 'Publish' }).click()
  return { page, dialog: page.getByRole('dialog', { name: 'Publish' }) }
}

/** The history that a page shows. */
function historyOf(page: Page) {
  const rowOf = (name: string) =>
    page.getByRole('row', { includeHidden: true }).filter({ has: page.getByText(name, { exact: true }) })
  return {
    rowOf,
    isLive: (name: string) => rowOf(name).getByText('live', { exact: true }),
    title: page.getByRole('heading', { level: 2, name: /^v\d/ }),
  }
}

test('a draft is read prompt by prompt and published by keyboard alone', async () => {
  const draft = await draftWith([
    { path: 'hello', status: 'modified', content: 'Hello dear {{ name }}\nline 2' },
    { path: 'new/prompt', status: 'added', content: 'New text' },
    { path: 'old', status: 'deleted' },
  ])
  const { page } = await browser.open(server, `/p/${server.project.id}/v/${draft}/changes`)
  await page.getByText('3 prompts: 1 added, 1 changed, 1 deleted').waitFor()
  // The changed word is marked, and not only by color.
  const inserted = page.locator('.cm-changedText', { hasText: 'dear' })
  await inserted.waitFor()
  expect(await inserted.evaluate((element) => getComputedStyle(element).textDecorationLine)).toBe('underline')

  const removed = page.locator('.cm-deletedText', { hasText: 'two' })
  expect(await removed.evaluate((element) => getComputedStyle(element).textDecorationLine)).toBe('line-through')
  const signs = await page
    .locator('.cm-deletedLineGutter, .cm-changedLineGutter')
    .evaluateAll((all) => all.map((element) => getComputedStyle(element, '::before').content))
  expect([...new Set(signs)].sort()).toEqual(['"+"', '"−"'])

  await page.keyboard.press('v')
  await page.getByRole('link', { name: /hello.*changed.*seen/ }).waitFor()
  await page.keyboard.press('j')
  await page.getByRole('region', { name: 'new/prompt' }).waitFor()
  await page.keyboard.press('k')
  await page.keyboard.press('u')
  await page.locator('.cm-mergeViewEditor').nth(1).waitFor()
  expect(page.url()).toContain('view=split')

  await page.keyboard.press('Control+Enter')
  const dialog = page.getByRole('dialog', { name: 'Publish' })
  await dialog.getByLabel('Title').fill('Warmer')
  await dialog.getByLabel('Release notes').fill('Greets by name.')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')

  await page.getByRole('heading', { name: /^v2 Warmer/ }).waitFor()
  await page.getByText('Greets by name.').waitFor()
  const row = page.getByRole('row', { name: /v2/ })
  expect(await row.textContent()).toContain('3 prompts')
  const documents = await server.read<{ path: string }[]>(`${server.project.live}/documents`)
  expect(documents.map(({ path }) => path)).toEqual(['farewell', 'hello', 'new/prompt'])
})

test('without the scope publish, the button stays visible and says what is missing', async () => {
  const draft = await draftWith([{ path: 'farewell', status: 'modified', content: 'Good night' }])
  const key = await server.newKey(['read', 'write'])
  const { page } = await browser.open(server, `/p/${server.project.id}/v/${draft}/changes`, { key })
  const button = page.getByRole('button', { name: 'Publish' })
  await button.waitFor()
  expect(await button.getAttribute('aria-disabled')).toBe('true')
  expect(await button.textContent()).toContain('your key lacks “publish”')
})

test('before a draft without changes is published, the console says what that does', async () => {
  const draft = await draftWith([])
  const { page } = await browser.open(server, `/p/${server.project.id}/v/${draft}/changes`)
  await page.getByText('No changes in this draft.').waitFor()
  await page.getByRole('button', { name: 'Publish' }).click()
  const dialog = page.getByRole('dialog', { name: 'Publish' })
  await dialog.getByText('Publishing it makes a new version with the same prompts as live.').waitFor()
  // A colleague's notes stay, because they are not edited here.
  const notes = { description: 'Added meanwhile' }
  const path = `/projects/${server.project.id}/versions/${draft}`
  expect((await server.api('PUT', path, { body: notes })).status).toBe(200)
  await dialog.getByRole('button', { name: 'Publish' }).click()
  await page.getByRole('heading', { name: /^v\d+ / }).waitFor()
  expect(await page.getByText(/The draft has no changes/).count()).toBe(0)
  await page.getByText('Added meanwhile').waitFor()
})

rarely('100 changed prompts of 20 KB are all listed', async () => {
  const content = 'A line of a long prompt that says much.\n'.repeat(500)
  const paths = Array.from({ length: 100 }, (_, index) => `many/p${index}`)
  const draft = await draftWith(paths.map((path) => ({ path, status: 'added', content })))
  const { page } = await browser.open(server, `/p/${server.project.id}/v/${draft}/changes`)
  await page.locator('.cm-content').first().waitFor()
  expect(await page.getByRole('navigation', { name: 'Changed prompts' }).getByRole('link').count()).toBe(100)
})

test('publishing over somebody’s change takes a typed word', async () => {
  const mine = await draftWith([{ path: 'farewell', status: 'modified', content: 'Bye, mine' }])
  await published([{ path: 'farewell', status: 'modified', content: 'Bye, theirs' }])
  const { page, dialog } = await publishing(mine)
  await page.getByRole('link', { name: /farewell.*changed.*live changed/, includeHidden: true }).waitFor()
  // Before anything is sent, the button says why it does nothing.
  await dialog.getByRole('button', { name: 'Publish (live has changed 1 prompt)', disabled: true }).waitFor()
  await dialog.getByText('Publish without comparing').click()
  const force = dialog.getByRole('button', { name: /^Publish anyway/ })
  expect(await force.getAttribute('aria-disabled')).toBe('true')
  await dialog.getByLabel(/^Type overwrite/).fill('overwrite')
  await force.click()
  await page.getByRole('heading', { name: /^v\d/ }).waitFor()
  expect(await liveText('farewell')).toBe('Bye, mine')
})

test('live’s text can be taken instead, and that of a moved prompt is merged at its new path', async () => {
  await published([{ path: 'leaving', status: 'added', content: 'One\nTwo\nThree' }])
  const mine = await draftWith([
    { path: 'farewell', status: 'deleted' },
    { path: 'away/leaving', from: 'leaving', status: 'moved', content: 'One, mine\nTwo\nThree' },
  ])
  await published([
    { path: 'farewell', status: 'modified', content: 'Bye, theirs again' },
    { path: 'leaving', status: 'modified', content: 'One\nTwo\nThree, theirs' },
  ])
  const { page, dialog } = await publishing(mine)
  await dialog.getByRole('button', { name: 'Compare and merge' }).nth(1).click()
  const moved = page.getByRole('dialog', { name: 'leaving → away/leaving' })
  await moved.getByRole('button', { name: 'Use the text on the right' }).click()
  await moved.waitFor({ state: 'detached' })
  await dialog.getByText('live has changed 1 prompt').waitFor()
  await dialog.getByRole('button', { name: 'Compare and merge' }).click()
  const merge = page.getByRole('dialog', { name: 'farewell' })
  await merge.getByText('This draft deletes the prompt.').waitFor()
  await merge.getByRole('button', { name: 'Use the live text' }).click()
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByRole('heading', { name: /^v\d/ }).waitFor()
  expect(await liveText('farewell')).toBe('Bye, theirs again')
  expect(await liveText('away/leaving')).toBe('One, mine\nTwo\nThree, theirs')
})

test('the history shows revisions and rollbacks; a rollback is refused if live has moved, and restores exactly the texts that were shown', async () => {
  const [first, second] = [
    await published([{ path: 'farewell', status: 'modified', content: 'As it was' }]),
    await published([{ path: 'farewell', status: 'modified', content: 'As it is' }]),
  ]
  const key = await server.newKey(['read', 'write', 'publish'], { name: 'Bea', email: 'bea@example.com' })
  const edit = { path: 'farewell', prompt: 'As Bea had it', force: true }
  const at = `${server.project.live}/documents/create-or-update`
  expect((await server.api('POST', at, { body: edit, key })).status).toBe(200)

  const { page } = await browser.open(server, `/p/${server.project.id}/history`, { allow: /status of 409/ })
  const { rowOf, isLive, title } = historyOf(page)
  const names = async () => (await page.locator('tbody a[data-row]').allTextContents()).slice(0, 4)
  await isLive(`${second}.1`).waitFor()
  expect((await names()).slice(0, 3)).toEqual([second, `${second}.1`, first])
  await rowOf(`${second}.1`).getByRole('link').click()
  await page.getByText(/^farewell was edited with force by Bea/).waitFor()
  await page.getByText(`1 prompt: 1 changed, compared with ${second}.`).waitFor()
  expect(await page.getByRole('button', { name: /^Roll back/ }).count()).toBe(0)

  const row = await rowOf(first).boundingBox()
  if (!row) throw new Error('The row of the first version is not shown')
  // The whole row is the link.
  await page.mouse.click(row.x + row.width - 20, row.y + row.height / 2)
  await title.filter({ hasText: `${first} ` }).waitFor()
  await page.locator('.cm-content').first().waitFor()
  // A key that changes the layout leaves the version open.
  await page.keyboard.press('u')
  await page.locator('.cm-mergeView').waitFor()
  expect(await title.count()).toBe(1)

  await page.getByRole('button', { name: `Roll back to ${first}` }).click()
  const dialog = page.getByRole('dialog', { name: `Roll back to ${first}` })
  await dialog.getByText(`1 prompt: 1 changed, compared with ${second}.1, which is live.`).waitFor()
  const third = await published([{ path: 'farewell', status: 'modified', content: 'Meanwhile' }])
  // The page asks for the versions every 10 s. The dialog keeps what the user has read.
  await isLive(third).waitFor({ state: 'attached' })
  await dialog.getByText(`compared with ${second}.1, which`).waitFor()
  const confirm = dialog.getByRole('button', { name: /^Roll back/ })
  await confirm.click()
  await dialog.getByText(`Live does not serve ${second}.1 any more: it serves ${third}.`).waitFor()
  expect(await confirm.getAttribute('aria-disabled')).toBe('true')
  expect(await liveText('farewell')).toBe('Meanwhile')

  await dialog.getByRole('button', { name: 'Compare again' }).click()
  await dialog.getByText(`1 prompt: 1 changed, compared with ${third}, which is live.`).waitFor()
  await dialog.getByLabel(/^Reason/).fill('Too many complaints')
  await page.keyboard.press('Enter')
  await isLive(first).waitFor()
  expect(await names()).toEqual([`Rolled back to ${first}`, third, second, `${second}.1`])
  expect(await rowOf(`Rolled back to ${first}`).textContent()).toContain('Too many complaints')
  expect(await isLive(third).count()).toBe(0)
  expect(await liveText('farewell')).toBe('As it was')

  // A version is compared with what live served before it, here the revision, and not with the number before.
  await rowOf(third).getByRole('link').click()
  await page.getByText(`1 prompt: 1 changed, compared with ${second}.1.`).waitFor()

  // The second version was edited since, so its first texts become a new one.
  await rowOf(second).getByRole('link').click()
  await page.getByRole('button', { name: `Roll back to ${second}` }).click()
  const again = page.getByRole('dialog', { name: `Roll back to ${second}` })
  await again.getByText('1 prompt: 1 changed').waitFor()
  // The dialog stays until the result is there.
  const { promise: read, resolve: answer } = Promise.withResolvers<void>()
  await page.route('**/rollback', (route) => read.then(() => route.continue()), { times: 1 })
  await again.getByRole('button', { name: 'Roll back', exact: true }).click()
  await again.getByRole('button', { name: 'Cancel' }).click()
  await page.keyboard.press('Escape')
  expect(await again.count()).toBe(1)
  answer()
  const fourth = `v${Number(third.slice(1)) + 1}`
  await title.filter({ hasText: fourth }).waitFor()
  await page.getByText(`No prompt was changed, compared with ${second}.`).waitFor()
  expect((await names()).slice(0, 2)).toEqual([`Rolled back to ${second}`, fourth])
  expect(await isLive(fourth).count()).toBe(1)
  expect(await liveText('farewell')).toBe('As it is')

  // Live does not serve the first version, so no release has this edit.
  const versions = await server.read<{ uuid: string; version: number | null }[]>(
    `/projects/${server.project.id}/versions`,
  )
  const { uuid } = versions.find(({ version }) => `v${version}` === first) ?? {}
  const past = `/projects/${server.project.id}/versions/${uuid}/documents/create-or-update`
  expect((await server.api('POST', past, { body: edit, key })).status).toBe(200)
  await page.reload()
  await rowOf(`${first}.1`).getByRole('link').click()
  await page.getByRole('button', { name: /never served/, disabled: true }).waitFor()
})

rarely(
  'rollbacks behind the first page of releases are shown on request, and an opened row is on the screen',
  async () => {
    const own = await sharedServer({ old: 'Old' })
    const { uuid } = await own.read<{ uuid: string }>(own.project.live)
    const edit = async (prompt: string) => {
      const body = { path: 'old', prompt, force: true }
      const { status } = await own.api('POST', `${own.project.live}/documents/create-or-update`, { body })
      expect(status).toBe(200)
    }
    await edit('Edited')
    const rollback = `/projects/${own.project.id}/environments/live/rollback`
    expect((await own.api('POST', rollback, { body: { to: `${uuid}@0` } })).status).toBe(200)
    for (let number = 0; number < 100; number += 1) await edit(`Old ${number}`)
    const { page } = await browser.open(own, `/p/${own.project.id}/history`, { allow: /status of 409/ })
    const { rowOf, isLive, title } = historyOf(page)
    await isLive('v2.100').waitFor()
    expect(await page.getByText(/^Rolled back to/).count()).toBe(0)
    const refusal = { status: 409, json: { name: 'ConflictError', errorCode: 'x', message: 'Not now', details: {} } }
    await page.route(/\/releases\?.*cursor=/, (route) => route.fulfill(refusal), { times: 1 })
    await page.getByRole('button', { name: 'Show earlier rollbacks' }).click()
    await page
      .getByRole('alert')
      .filter({ hasText: 'The earlier rollbacks could not be loaded. Not now' })
      .getByRole('button', { name: 'Try again' })
      .click()
    await expect.poll(() => page.getByText(/^Rolled back to/).allTextContents()).toEqual(['Rolled back to v1'])

    // The opened row is on the screen, even with a hundred rows above it.
    const oldest = rowOf('v1').getByRole('link')
    const text = page.locator('.cm-content').first()
    const isOnScreen = (place: Locator) =>
      place.evaluate((element) => {
        const { top, height } = element.getBoundingClientRect()
        return height > 0 && top >= 0 && top < innerHeight
      })
    await oldest.click()
    await title.filter({ hasText: 'v1 ' }).waitFor()
    await text.waitFor()
    expect(await isOnScreen(text)).toBe(true)
    expect(await isOnScreen(oldest)).toBe(true)
    // On a phone it is a page of its own, and leads back to its row.
    await page.setViewportSize({ width: 360, height: 740 })
    expect([await isOnScreen(title), await oldest.count()]).toEqual([true, 0])
    await page.getByRole('link', { name: 'Back to the history' }).click()
    await oldest.and(page.locator(':focus')).waitFor()
    expect(await isOnScreen(oldest)).toBe(true)
  },
)

test('live’s newer texts are merged into the draft; where the changes overlap, both texts are compared', async () => {
  const lines = ['one', 'two', 'three', 'four', 'five']
  const text = (...changed: string[]) => lines.map((line) => changed.find((c) => c.startsWith(line)) ?? line).join('\n')
  await published(['merge/clean', 'merge/both'].map((path) => ({ path, status: 'added', content: text() })))
  const draft = await draftWith([
    { path: 'merge/clean', status: 'modified', content: text('one of mine') },
    { path: 'merge/both', status: 'modified', content: text('three of mine') },
  ])
  await published([
    { path: 'merge/clean', status: 'modified', content: text('five of theirs') },
    { path: 'merge/both', status: 'modified', content: text('three of theirs') },
  ])
  const { page } = await browser.open(server, `/p/${server.project.id}/v/${draft}/changes`)
  await page.getByText('Live has newer texts of 2 prompts that this draft changes.').waitFor()
  await page.getByRole('button', { name: 'Update from live' }).click()
  await page.getByText('Live has newer texts of 1 prompt that this draft changes.').waitFor()
  const { content } = await storedPrompt(server, 'merge/clean', draft)
  expect(content).toBe(text('one of mine', 'five of theirs'))
  const left = page.getByRole('listitem').filter({ hasText: 'the changes overlap' })
  expect(await left.textContent()).toContain('merge/both')
  await left.getByRole('button', { name: 'Compare and merge' }).click()
  await page.getByRole('dialog', { name: 'merge/both' }).waitFor()
})

test('the changes and the dialog list what does not compile before anything is published', async () => {
  const broken = { path: 'checks/broken', status: 'added', content: 'fine\n{{ if x }}\nnever closed' }
  // It is unchanged, but it includes a prompt that the draft deletes.
  const user = { path: 'checks/user', status: 'added', content: '<prompt path="/checks/part" />' }
  const part = { path: 'checks/part', status: 'added', content: 'A part' }
  // So does this one, with a prompt that the draft moves.
  const guest = { path: 'checks/guest', status: 'added', content: '<prompt path="/checks/home" />' }
  const home = { path: 'checks/home', status: 'added', content: 'A home' }
  await published([user, part, guest, home])
  const move = { path: 'checks/house', from: 'checks/home', status: 'moved' }
  const again = { ...broken, path: 'checks/again' }
  const draft = await draftWith([broken, again, { path: 'checks/part', status: 'deleted' }, move])
  const { page } = await browser.open(server, `/p/${server.project.id}/v/${draft}/changes`)
  await page.getByText('The draft cannot be published.').waitFor()
  const row = page.getByRole('navigation', { name: 'Changed prompts' }).getByRole('link', { name: /^checks\/broken/ })
  expect(await row.textContent()).toMatch(/added.*has errors.*test, \d\d:\d\d$/)
  await page.getByRole('button', { name: 'Publish' }).click()
  const dialog = page.getByRole('dialog', { name: 'Publish' })
  await dialog.getByRole('button', { name: 'Publish (4 prompts have errors)', disabled: true }).waitFor()
  const links = dialog.getByRole('link')
  // Three, so that the changes are not far below them.
  expect(await links.count()).toBe(3)
  await dialog.getByText('1 more prompt').click()
  const addresses = await links.evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).pathname))
  expect([...new Set(addresses.map((path) => path.replace(/.*\/prompts\//, '')))].sort()).toEqual([
    'checks/again',
    'checks/broken',
    'checks/guest',
    'checks/user',
  ])
  expect(await links.first().getAttribute('href')).toMatch(/\?line=\d+$/)
})

test('a draft without errors says so, and checks again when a prompt changes; settings that a run would refuse stop it too', async () => {
  const draft = await draftWith([{ path: 'hello', status: 'modified', content: 'Hello, all' }])
  const { dialog } = await publishing(draft)
  await dialog.getByText('1 prompt checked, no errors').waitFor()
  await push(draft, [{ path: 'hello', status: 'modified', content: 'Hello {{ if x }}' }])
  await dialog.getByText('The draft cannot be published.').waitFor()

  await push(draft, [{ path: 'hello', status: 'modified', content: '---\ntemperature: hot\n---\nHello' }])
  await dialog.getByRole('link', { name: 'Line 2: `temperature` must be a number' }).waitFor()
  expect(await dialog.getByRole('link').allTextContents()).toEqual(['Line 2: `temperature` must be a number'])
})
