import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { type ConsoleServer, consoleServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer

beforeAll(async () => {
  server = await consoleServer({ hello: 'first line\nsecond line\nthird line\n', bye: 'Bye' })
})
afterAll(() => server.close())

async function push(draft: string, changes: object[]): Promise<void> {
  expect((await server.api('POST', `${draft}/push`, { body: { changes } })).status).toBe(200)
}

const uuidOf = (draft: string) => draft.split('/').at(-1) ?? ''
const textOf = async (path: string) => {
  const { body } = await server.api('GET', `${server.project.live}/documents/${path}`)
  return (body as { content: string }).content
}

test('a publication from another browser in between is named, merged and not overwritten', async () => {
  const mine = await server.project.newDraft()
  const theirs = await server.project.newDraft()
  await push(mine, [{ path: 'hello', status: 'modified', content: 'first line\nsecond line\nthird line, mine\n' }])
  await push(theirs, [{ path: 'hello', status: 'modified', content: 'first line, theirs\nsecond line\nthird line\n' }])

  // 409 is reported by the browser's console.
  const allow = /status of 409/
  const ana = await browser.open(server, `/p/${server.project.id}/v/${uuidOf(mine)}/changes`, { allow })
  await ana.page.getByRole('button', { name: 'Publish' }).click()
  const dialog = ana.page.getByRole('dialog', { name: 'Publish' })
  await dialog.getByLabel('Release notes').fill('Mine')

  const leo = await browser.open(server, `/p/${server.project.id}/v/${uuidOf(theirs)}/changes`)
  await leo.page.getByRole('button', { name: 'Publish' }).click()
  await leo.page.getByRole('dialog', { name: 'Publish' }).getByRole('button', { name: 'Publish' }).click()
  await leo.page.getByRole('heading', { name: /^v2/ }).waitFor()

  await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
  await dialog.getByText('Nothing was published.').waitFor()
  await dialog.getByText('hello').waitFor()
  expect(await textOf('hello')).toContain('theirs')

  await dialog.getByRole('button', { name: 'Compare and merge' }).click()
  const merge = ana.page.getByRole('dialog', { name: 'hello' })
  await merge.getByText('What live changed').click()
  await merge.locator('.cm-changedText', { hasText: ', theirs' }).first().waitFor()
  // Takes live's first line over and keeps the own third one.
  await merge.getByRole('button', { name: 'Take this part' }).first().click()
  await merge.getByRole('button', { name: 'Use the text on the right' }).click()

  // The dialog keeps what was typed before the conflict.
  expect(await dialog.getByLabel('Release notes').inputValue()).toBe('Mine')
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
  await ana.page.getByRole('heading', { name: /^v3/ }).waitFor()
  expect(await textOf('hello')).toBe('first line, theirs\nsecond line\nthird line, mine\n')
})

test('publishing over somebody’s change takes a typed word', async () => {
  const mine = await server.project.newDraft()
  const theirs = await server.project.newDraft()
  await push(mine, [{ path: 'bye', status: 'modified', content: 'Bye, mine' }])
  await push(theirs, [{ path: 'bye', status: 'modified', content: 'Bye, theirs' }])
  expect((await server.api('POST', `${theirs}/publish`)).status).toBe(200)

  const { page } = await browser.open(server, `/p/${server.project.id}/v/${uuidOf(mine)}/changes`, {
    allow: /status of 409/,
  })
  await page.getByRole('link', { name: /bye.*changed.*live changed/ }).waitFor()
  await page.getByRole('button', { name: 'Publish' }).click()
  const dialog = page.getByRole('dialog', { name: 'Publish' })
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
  await dialog.getByText('Publish without comparing').click()
  const force = dialog.getByRole('button', { name: /^Publish anyway/ })
  expect(await force.getAttribute('aria-disabled')).toBe('true')
  await dialog.getByLabel(/^Type overwrite/).fill('overwrite')
  await force.click()
  await page.getByRole('heading', { name: /^v\d/ }).waitFor()
  expect(await textOf('bye')).toBe('Bye, mine')
})

test('live’s text can be taken instead', async () => {
  const mine = await server.project.newDraft()
  const theirs = await server.project.newDraft()
  await push(mine, [{ path: 'bye', status: 'deleted' }])
  await push(theirs, [{ path: 'bye', status: 'modified', content: 'Bye, theirs again' }])
  expect((await server.api('POST', `${theirs}/publish`)).status).toBe(200)
  const { page } = await browser.open(server, `/p/${server.project.id}/v/${uuidOf(mine)}/changes`, {
    allow: /status of (409|404)/,
  })
  await page.getByRole('button', { name: 'Publish' }).click()
  const dialog = page.getByRole('dialog', { name: 'Publish' })
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
  await dialog.getByRole('button', { name: 'Compare and merge' }).click()
  const merge = page.getByRole('dialog', { name: 'bye' })
  await merge.getByText('This draft deletes the prompt.').waitFor()
  await merge.getByRole('button', { name: 'Use the live text' }).click()
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByRole('heading', { name: /^v\d/ }).waitFor()
  expect(await textOf('bye')).toBe('Bye, theirs again')
})
