/** The provider, model and temperature above the text: each edits its one line of the front matter while one types. */
import { expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { editorOf, lookAgain, newDraft, storedPrompt, writePrompt } from '../support/editor-page.ts'
import { sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
const text = '---\nprovider: openai\nmodel: gpt-4o # ours\ntemperature: 0.3\nmaxTokens: 50\n---\nHello\n'

async function opened() {
  const server = await sharedServer({ hello: text })
  const draft = await newDraft(server)
  const { page } = await browser.open(server, server.promptAddress('hello', draft))
  const editor = editorOf(page)
  await editor.ready()
  const stored = async () => (await storedPrompt(server, 'hello', draft)).content
  return { page, editor, stored }
}

test('without the scope write, one reads text, settings and errors, and changes nothing', async () => {
  const server = await sharedServer({ hello: text })
  const draft = await newDraft(server)
  await writePrompt(server, 'hello', { version: draft, prompt: `${text}{{ if }}` })
  const key = await server.newKey(['read'])
  const { page } = await browser.open(server, server.promptAddress('hello', draft), { key })
  const editor = editorOf(page)
  await editor.ready()
  await editor.becomes('Read-only: your key lacks “write”')
  await editor.toEnd()
  await editor.type('x')
  expect((await editor.lines()).join('\n')).toBe(`${text}{{ if }}`)
  const described = (label: string) =>
    page.getByLabel(label).evaluate((field) => {
      const description = document.getElementById(field.getAttribute('aria-describedby') ?? '')
      return [description?.textContent, field.closest('[title]')?.getAttribute('title')]
    })
  for (const label of ['Provider', 'Model', 'Temperature'])
    expect(await described(label)).toEqual(['Read-only: your key lacks “write”', 'Read-only: your key lacks “write”'])
  // The errors are those of the stored text, also after a colleague has changed it.
  const errors = page.getByRole('region', { name: 'Errors' })
  await errors.getByText(/^8:/).first().waitFor()
  await writePrompt(server, 'hello', { version: draft, prompt: 'Hello' })
  await lookAgain(page)
  await errors.waitFor({ state: 'detached' })
  await writePrompt(server, 'hello', { version: draft, prompt: 'Hello\n\n{{ if }}' })
  await lookAgain(page)
  await errors.getByText(/^3:/).first().waitFor()
})

test('an emptied field is saved like typed text, while it still has the focus', async () => {
  const { page, editor, stored } = await opened()
  const temperature = page.getByLabel('Temperature')
  await temperature.focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await expect.poll(stored).toBe(text.replace('temperature: 0.3\n', ''))
  await editor.becomes(/^Saved/)
  expect(await temperature.evaluate((element) => element.matches(':focus'))).toBe(true)
  expect(await temperature.inputValue()).toBe('')
  // The next value takes the place of the emptied one.
  await page.keyboard.type('0.75')
  await expect.poll(stored).toBe(text.replace('0.3', '0.75'))
  // A value that is typed after clearing the field keeps the line and its comment.
  await page.getByLabel('Model').focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await page.keyboard.type('gpt-4o-mini')
  await page.keyboard.press('Control+s')
  await expect.poll(stored).toBe(text.replace('0.3', '0.75').replace('gpt-4o', 'gpt-4o-mini'))
  await editor.becomes(/^Saved/)
  expect((await editor.lines())[2]).toBe('model: gpt-4o-mini # ours')
})

test('Escape brings back what the field had, and a half-typed number is never saved', async () => {
  const { page, editor, stored } = await opened()
  const temperature = page.getByLabel('Temperature')
  await temperature.focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await expect.poll(stored).not.toContain('temperature')
  await page.keyboard.press('Escape')
  await expect.poll(stored).toBe(text)
  await page.keyboard.press('Control+a')
  await page.keyboard.type('1.')
  await page.keyboard.press('Control+s')
  await expect.poll(stored).toBe(text.replace('0.3', '1'))
  await editor.becomes(/^Saved/)
  expect(await temperature.inputValue()).toBe('1.')
  await page.keyboard.type('5')
  await expect.poll(stored).toBe(text.replace('0.3', '1.5'))
})
