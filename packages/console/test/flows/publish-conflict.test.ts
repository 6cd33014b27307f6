import { beforeAll, expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer

beforeAll(async () => {
  server = await sharedServer({ hello: 'first line\nsecond line\nthird line\n', bye: 'Bye' })
})

async function push(draft: string, changes: object[]): Promise<void> {
  expect((await server.api('POST', `${draft}/push`, { body: { changes } })).status).toBe(200)
}

const uuidOf = (draft: string) => draft.split('/').at(-1) ?? ''
const textOf = async (path: string) => {
  const { body } = await server.api('GET', `${server.project.live}/documents/${path}`)
  return (body as { content: string }).content
}

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
