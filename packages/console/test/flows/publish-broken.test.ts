import { beforeAll, expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer

beforeAll(async () => {
  server = await sharedServer({ hello: 'Hello' })
})

test('the dialog lists what does not compile before it publishes, with progress', async () => {
  const draft = await server.project.newDraft()
  const broken = { path: 'checks/broken', status: 'added', content: 'fine\n{{ if x }}\nnever closed' }
  const good = Array.from({ length: 12 }, (_, at) => ({
    path: `checks/good${at}`,
    status: 'added',
    content: `Text ${at} {{ name }}`,
  }))
  // Nobody changes it, but it includes a prompt that the draft deletes.
  const user = { path: 'checks/user', status: 'added', content: '<prompt path="/checks/part" />' }
  const part = { path: 'checks/part', status: 'added', content: 'A part' }
  const push = async (to: string, changes: object[]) =>
    expect((await server.api('POST', `${to}/push`, { body: { changes } })).status).toBe(200)
  const first = await server.project.newDraft()
  await push(first, [user, part])
  expect((await server.api('POST', `${first}/publish`)).status).toBe(200)
  await push(draft, [broken, ...good, { path: 'checks/part', status: 'deleted' }])
  const { items } = await server.read<{ items: { path: string; compiles: boolean | null }[] }>(`${draft}/tree`)
  expect(items.find(({ path }) => path === 'checks/broken')?.compiles).toBe(null)

  const { page } = await browser.open(server, `/p/${server.project.id}/v/${draft.split('/').at(-1)}/changes`)
  let active = 0
  let most = 0
  await page.route('**/documents/check', async (route) => {
    most = Math.max(most, ++active)
    const response = await route.fetch()
    active--
    await route.fulfill({ response })
  })
  const checked = page.waitForRequest(/documents\/check$/)
  await page.getByRole('button', { name: 'Publish' }).click()
  const dialog = page.getByRole('dialog', { name: 'Publish' })
  await checked
  await dialog.getByText(/^Checking the prompts: \d+ of 1[45]$/).waitFor()
  await dialog.getByText('The draft cannot be published.').waitFor()
  await expect.poll(() => dialog.getByText(/^Checking the prompts/).count()).toBe(0)
  expect(most).toBeGreaterThan(1)
  expect(most).toBeLessThanOrEqual(3)
  const links = dialog.getByRole('link')
  const addresses = await links.evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).pathname))
  expect([...new Set(addresses.map((path) => path.replace(/.*\/prompts\//, '')))].sort()).toEqual([
    'checks/broken',
    'checks/user',
  ])
  expect(await links.first().getAttribute('href')).toMatch(/\?line=\d+$/)
})

test('a draft without errors says so, and checks again when a prompt changes', async () => {
  const draft = await server.project.newDraft()
  const push = (content: string) =>
    server.api('POST', `${draft}/push`, { body: { changes: [{ path: 'hello', status: 'modified', content }] } })
  await push('Hello, all')
  const { page } = await browser.open(server, `/p/${server.project.id}/v/${draft.split('/').at(-1)}/changes`)
  await page.getByRole('button', { name: 'Publish' }).click()
  const dialog = page.getByRole('dialog', { name: 'Publish' })
  await dialog.getByText('1 prompt checked, no errors').waitFor()
  await push('Hello {{ if x }}')
  await dialog.getByText('The draft cannot be published.').waitFor()
})
