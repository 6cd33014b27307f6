import { beforeAll, expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer

beforeAll(async () => {
  server = await sharedServer({ hello: 'Hello {{ name }}\nline two', farewell: 'Goodbye', old: 'Old text' })
})

/** A draft with these changes against live. */
async function draftWith(changes: { path: string; status: string; content?: string }[]): Promise<string> {
  const draft = await server.project.newDraft()
  const { status } = await server.api('POST', `${draft}/push`, { body: { changes } })
  expect(status).toBe(200)
  return draft.split('/').at(-1) ?? ''
}

test('a draft is read prompt by prompt and published by keyboard alone', async () => {
  const draft = await draftWith([
    { path: 'hello', status: 'modified', content: 'Hello dear {{ name }}\nline two' },
    { path: 'new/prompt', status: 'added', content: 'New text' },
    { path: 'old', status: 'deleted' },
  ])
  const { page } = await browser.open(server, `/p/${server.project.id}/v/${draft}/changes`)
  await page.getByText('3 prompts: 1 added, 1 changed, 1 deleted').waitFor()
  // The changed word is marked, and not only by color.
  const inserted = page.locator('.cm-changedText', { hasText: 'dear' })
  await inserted.waitFor()
  expect(await inserted.evaluate((element) => getComputedStyle(element).textDecorationLine)).toBe('underline')

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
  expect(await button.textContent()).toContain('needs publish')
})

test('before a draft without changes is published, the console says what that does', async () => {
  const draft = await draftWith([])
  const { page } = await browser.open(server, `/p/${server.project.id}/v/${draft}/changes`)
  await page.getByText('No changes in this draft.').waitFor()
  await page.getByRole('button', { name: 'Publish' }).click()
  const dialog = page.getByRole('dialog', { name: 'Publish' })
  await dialog.getByText('Publishing it makes a new version with the same prompts as live.').waitFor()
  await dialog.getByRole('button', { name: 'Publish' }).click()
  await page.getByRole('heading', { name: /^v\d+ / }).waitFor()
  expect(await page.getByText(/The draft has no changes/).count()).toBe(0)
})

test('100 changed prompts of 20 KB are all listed', async () => {
  const draft = await server.project.newDraft()
  const text = 'A line of a long prompt that says much.\n'.repeat(500)
  const changes = Array.from({ length: 100 }, (_, index) => ({
    path: `many/p${index}`,
    status: 'added',
    content: text,
  }))
  expect((await server.api('POST', `${draft}/push`, { body: { changes } })).status).toBe(200)
  const { page } = await browser.open(server, `/p/${server.project.id}/history`)
  await page.getByRole('heading', { name: 'History' }).waitFor()
  const uuid = draft.split('/').at(-1)
  // Once for the code of the screen, then for the time.
  const times: number[] = []
  for (const attempt of [0, 1, 2]) {
    await page.goto(
      server.address(`/p/${server.project.id}/v/${uuid}/changes?view=${attempt % 2 ? 'split' : 'unified'}`),
    )
    await page.locator('.cm-content').first().waitFor()
    times.push(await page.evaluate(() => performance.now()))
  }
  console.log(
    `100 changes of 20 KB: ${times.map((ms) => `${Math.round(ms)} ms`).join(', ')} from the start of navigation`,
  )
  expect(await page.getByRole('navigation', { name: 'Changed prompts' }).getByRole('link').count()).toBe(100)
})
