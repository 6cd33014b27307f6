/** The actions on the open draft in the menu of versions, and text typed into a draft that is deleted. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { editorOf, newDraft, storedPrompt, writePrompt } from '../support/editor-page.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
const allow = /status of 4(00|04|09)/

async function opened() {
  const server = await sharedServer({ 'support/reply': 'Hello' })
  const draft = await newDraft(server)
  await writePrompt(server, 'support/reply', { version: draft, prompt: 'Hello from the draft' })
  const { page } = await browser.open(server, server.promptAddress('support/reply', draft), { allow })
  const editor = editorOf(page)
  await editor.ready()
  return { server, draft, page, editor }
}

test('a draft is renamed and deleted in its menu, and brought back at once or at its address', async () => {
  const { server, draft, page, editor } = await opened()
  await choose(page, 'Name and notes…')
  const edit = page.getByRole('dialog', { name: 'Name and notes of the draft' })
  expect(await edit.getByLabel('Name').inputValue()).toBe('next')
  // A colleague's notes stay, because only the name is edited.
  await update(server, draft, { description: 'Says hello' })
  await edit.getByLabel('Name').fill('Warmer tone')
  await edit.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Version: Warmer tone' }).waitFor()
  expect(await versionOf(server, draft)).toMatchObject({ title: 'Warmer tone', description: 'Says hello' })

  // And the other way around. Notes that the server refuses are no problem of the name.
  await choose(page, 'Name and notes…')
  await update(server, draft, { name: 'Warm tone' })
  await edit.getByLabel('Release notes').fill('Long '.repeat(5000))
  await edit.getByRole('button', { name: 'Save' }).click()
  await edit.getByRole('alert').filter({ hasText: 'Nothing was saved' }).waitFor()
  expect(await edit.getByLabel('Name').getAttribute('aria-invalid')).toBe(null)
  await edit.getByLabel('Release notes').fill('Says hello, twice')
  await edit.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Version: Warm tone' }).waitFor()
  expect(await versionOf(server, draft)).toMatchObject({ title: 'Warm tone', description: 'Says hello, twice' })

  await page.getByRole('link', { name: /^Changes/ }).click()
  await page.getByRole('button', { name: /^Publish/ }).click()
  expect(await page.getByLabel('Title').inputValue()).toBe('Warm tone')
  expect(await page.getByLabel('Release notes').inputValue()).toBe('Says hello, twice')
  await page.getByRole('button', { name: 'Cancel' }).click()

  await page.goBack()
  await editor.toEnd()
  await editor.type(', typed last')
  await choose(page, 'Delete draft…')
  const question = page.getByRole('alertdialog', { name: 'Delete the draft “Warm tone”?' })
  // The focus is nowhere now, and keys must not leave the page below the question.
  await question.getByText('This draft has 1 change.').click()
  for (const key of ['g', 'h']) await page.keyboard.press(key)
  expect(await question.isVisible()).toBe(true)
  expect(new URL(page.url()).pathname).toContain('/prompts/support/reply')
  await question.getByRole('button', { name: 'Delete draft' }).click()
  await page.getByRole('button', { name: /^Version: Live/ }).waitFor()
  await page.getByText('Deleted the draft “Warm tone”').waitFor()
  expect(await versionOf(server, draft)).toMatchObject({ reason: 'unknown-version' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('button', { name: 'Version: Warm tone' }).waitFor()
  expect((await storedPrompt(server, 'support/reply', draft)).content).toBe('Hello from the draft, typed last')

  await deleteDraft(server, draft)
  // An ended page has left a text. Only the second attempt finds out whether the draft was deleted.
  await page.evaluate(
    ([key = '', copy = '']) => localStorage.setItem(key, copy),
    [
      `stet.unsaved./#${server.project.id}#${draft}#support/reply#ended-1`,
      JSON.stringify({ text: 'Kept', baseHash: '', sent: [], at: Date.now() }),
    ],
  )
  const refusal = { status: 409, json: { name: 'ConflictError', errorCode: 'x', message: 'Not now', details: {} } }
  const deletedDrafts = /\/versions\?.*deleted=true/
  await page.route(deletedDrafts, (route) => route.fulfill(refusal))
  await page.goto(server.promptAddress('support/reply', draft))
  await page.getByRole('heading', { level: 1, name: 'The version could not be loaded' }).waitFor()
  const refused = page.getByRole('alert').filter({ hasText: 'Not now' })
  await refused.waitFor()
  await page.unroute(deletedDrafts)
  await refused.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { level: 1, name: 'The draft “Warm tone” was deleted' }).waitFor()
  const kept = page.getByRole('region', { name: 'Unsaved texts' })
  expect(await kept.textContent()).toMatch(/^Text of support\/reply from .* was not saved\.Copy it$/)
  await page.getByRole('button', { name: 'Restore the draft' }).click()
  await editor.ready()
  expect(await editor.lines()).toEqual(['Hello from the draft, typed last'])

  // A long list of drafts has a filter.
  for (const name of ['one', 'two', 'three', 'four', 'five', 'six', 'seven'])
    await server.api('POST', `/projects/${server.project.id}/versions`, { body: { name: `Draft ${name}` } })
  await page.reload()
  await choose(page, 'Find a version…')
  const finder = page.getByRole('dialog', { name: 'Find a version' })
  const filter = finder.getByRole('combobox')
  await filter.fill('six')
  await finder.getByRole('option', { name: /^Draft six.*draft of test/ }).waitFor()
  expect(await finder.getByRole('option').count()).toBe(1)
  await filter.press('Enter')
  await page.getByRole('button', { name: 'Version: Draft six' }).waitFor()
})

test('text typed into a draft that somebody deletes stays in its editor, and is saved once the draft is restored', async () => {
  const { server, draft, page, editor } = await opened()
  await editor.toEnd()
  await deleteDraft(server, draft)
  await editor.type(' and')
  await editor.becomes('Not saved, kept here: the draft was deleted')
  const line = page.getByRole('alert').filter({ hasText: 'The draft “next” was deleted' })
  await line.waitFor()
  await editor.type(' more')
  await line.getByRole('button', { name: 'Restore the draft' }).click()
  await editor.becomes(/^Saved/)
  expect((await storedPrompt(server, 'support/reply', draft)).content).toBe('Hello from the draft and more')
  expect(await line.count()).toBe(0)

  // Elsewhere the text can be copied, and its address leads to the way back.
  await editor.toEnd()
  await deleteDraft(server, draft)
  await editor.type(', kept')
  await line.waitFor()
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByText('support/reply is not saved').waitFor()
  await page.getByRole('button', { name: 'Copy it' }).click()
  await page.getByText('Copied').waitFor()
  // The page itself may not read the clipboard.
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Find' }).press('Control+v')
  await page.getByText('Nothing matches “Hello from the draft and more, kept”.').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Open', exact: true }).click()
  await page.getByRole('button', { name: 'Restore the draft' }).click()
  await editor.becomes(/^Saved/)
  expect((await storedPrompt(server, 'support/reply', draft)).content).toBe('Hello from the draft and more, kept')

  // A draft that was made for a change of live is not listed once the change is undone, and takes the next change.
  const other = await sharedServer({ 'support/reply': 'Hello' })
  const drafts = () => other.read<{ title: string }[]>(`/projects/${other.project.id}/versions?status=draft`)
  await page.goto(other.promptAddress('support/reply'))
  await editor.ready()
  await editor.toEnd()
  await editor.type(' there')
  await editor.becomes(/^Saved/)
  const [made] = await drafts()
  const item = page.getByRole('menuitem', { name: made?.title ?? '' })
  await page.getByRole('button', { name: /^Version: / }).click()
  await item.waitFor()
  await page.keyboard.press('Escape')
  await editor.content.click()
  const undone = async () => {
    await page.keyboard.press('Control+z')
    return editor.lines()
  }
  await expect.poll(undone).toEqual(['Hello'])
  await choose(page, /^Live/)
  await editor.becomes(/^Live/)
  await page.getByRole('button', { name: /^Version: / }).click()
  await page.getByRole('menuitem', { name: 'Show 1 draft without changes' }).waitFor()
  expect(await item.count()).toBe(0)
  await page.keyboard.press('Escape')
  await editor.toEnd()
  await editor.type('!')
  await editor.becomes(/^Saved/)
  expect(await drafts()).toEqual([expect.objectContaining({ title: made?.title, changeCount: 1 })])
})

async function choose(page: Page, item: string | RegExp): Promise<void> {
  await page.getByRole('button', { name: /^Version: / }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

function versionOf(server: ConsoleServer, version: string): Promise<Record<string, unknown>> {
  return server.read(`/projects/${server.project.id}/versions/${version}`)
}

async function update(server: ConsoleServer, draft: string, body: Record<string, string>): Promise<void> {
  const { status } = await server.api('PUT', `/projects/${server.project.id}/versions/${draft}`, { body })
  expect(status).toBe(200)
}

async function deleteDraft(server: ConsoleServer, draft: string): Promise<void> {
  const { status } = await server.api('DELETE', `/projects/${server.project.id}/versions/${draft}`)
  expect(status).toBe(200)
}
