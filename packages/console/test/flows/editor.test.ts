import { expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { editorOf, newDraft, storedPrompt, writePrompt } from '../support/editor-page.ts'
import { sharedServer } from '../support/server.ts'

const browser = consoleBrowser()

async function openedDraft(prompt: string, allow?: RegExp) {
  const server = await sharedServer({ 'support/reply': prompt, 'support/tone': 'Be kind.' })
  const draft = await newDraft(server)
  const { page } = await browser.open(server, server.promptAddress('support/reply', draft), allow ? { allow } : {})
  const editor = editorOf(page)
  await editor.ready()
  return { server, draft, page, editor, stored: () => storedPrompt(server, 'support/reply', draft) }
}

test('typed text is saved 600 ms after the last key, exactly, and the cursor stays where it is', async () => {
  const { editor, page, stored } = await openedDraft('Hello {{ name }}')
  await editor.toEnd()
  await editor.type('\nLine two')
  await expect.poll(async () => (await stored()).content).toBe('Hello {{ name }}\nLine two')
  await editor.becomes(/^Saved/)
  // Neither the response of the save nor a list that is read again moves the cursor.
  await editor.type(', three')
  await editor.becomes(/^Saved/)
  expect((await stored()).content).toBe('Hello {{ name }}\nLine two, three')
  await page.keyboard.press('Control+Home')
  await editor.type('> ')
  await page.keyboard.press('Control+s')
  await expect.poll(async () => (await stored()).content).toBe('> Hello {{ name }}\nLine two, three')
})

test('typing over selected text replaces it without a style of its own, and one undo brings it back', async () => {
  const { editor, page, stored } = await openedDraft('---\nmodel: gpt-4o\n---\n<user>Hello {{ name }}</user>')
  await editor.toEnd()
  await page.keyboard.press('Control+a')
  await editor.type('Short')
  await expect.poll(async () => (await stored()).content).toBe('Short')
  await page.keyboard.press('Control+z')
  await expect.poll(async () => (await stored()).content).toContain('<user>Hello {{ name }}</user>')
})

test('the line breaks of Windows, tabs and emoji stay as they are, and an error is at the right column', async () => {
  const text = '---\r\nprovider: openai\r\nmodel: gpt-4o\r\n---\r\n\tOne \u{1F6B2} {{ a }}\r\nTwo'
  const { editor, page, stored } = await openedDraft(text)
  await editor.toEnd()
  await page.keyboard.press('Enter')
  await editor.type('\u{1F6B2}\t{{ list.map(x => x) }}')
  await expect.poll(async () => (await stored()).content).toBe(`${text}\r\n\u{1F6B2}\t{{ list.map(x => x) }}`)
  // Columns count like the editor: the emoji has two, the tab one.
  const issue = page.getByRole('button', { name: /^7:12.*'map'/ })
  await issue.click()
  await expect.poll(() => page.locator('[class*="cursor"]').last().textContent()).toBe('7:12')
  expect(await page.locator('.cm-lintRange-error').allTextContents()).toContain('map')
})

test('F8 moves to an error, and fixing the text removes it', async () => {
  const { editor, page } = await openedDraft('One')
  const errors = page.getByRole('region', { name: 'Errors' })
  await editor.toEnd()
  await editor.type('\n{{ if a }}\nTwo')
  await errors.waitFor()
  await page.keyboard.press('F8')
  await expect.poll(() => page.locator('[class*="cursor"]').last().textContent()).toMatch(/^2:/)
  await editor.toEnd()
  await editor.type('\n{{ endif }}')
  await errors.waitFor({ state: 'detached' })
})

test('completion offers parameters, keys, tags and paths', async () => {
  const { editor, page, stored } = await openedDraft('---\nprovider: openai\nmodel: gpt-4o\n---\n{{ customer }}\n')
  const options = page.getByRole('listbox').getByRole('option')
  await editor.toEnd()
  await editor.type('{{ cus')
  await options.filter({ hasText: 'customer' }).click()
  await editor.type(' }}\n<us')
  await options.filter({ hasText: '<user>' }).click()
  await editor.type('x')
  await page.keyboard.press('Control+End')
  await editor.type('\n<prompt path="/sup')
  await options.filter({ hasText: '/support/tone' }).click()
  await editor.type('" />')
  await expect
    .poll(async () => (await stored()).content)
    .toContain('{{ customer }}\n<user>x</user>\n<prompt path="/support/tone" />')
})

test('a completed block has one space after its braces', async () => {
  const { editor, page, stored } = await openedDraft('Hello')
  const option = page.getByRole('listbox').getByRole('option')
  for (const [typed, label] of [
    ['\n{{ i', 'if'],
    ['\n{{i', 'if'],
    ['\n{{ fo', 'for'],
    ['\n{{fo', 'for'],
  ] as const) {
    await editor.toEnd()
    await editor.type(typed)
    await option.getByText(label, { exact: true }).click()
    await page.keyboard.press('Escape')
  }
  await page.keyboard.press('Control+s')
  await expect
    .poll(async () => (await stored()).content)
    .toBe(
      'Hello\n{{ if condition }}{{ endif }}\n{{ if condition }}{{ endif }}' +
        '\n{{ for item in list }}{{ endfor }}\n{{ for item in list }}{{ endfor }}',
    )
})

test('the settings above the text edit their one line and nothing else', async () => {
  const text =
    '---\nprovider: openai # ours\nmodel: "gpt-4o"\nparameters:\n    a: { type: text }\n---\nHello {{ a }} {{ b }}\n'
  const { page, stored } = await openedDraft(text)
  const model = page.getByLabel('Model')
  await model.fill('gpt-4o-mini')
  await model.press('Enter')
  await page.getByLabel('Temperature').fill('0.7')
  await page.getByLabel('Temperature').press('Enter')
  await page.getByRole('tab', { name: 'Parameters' }).click()
  await page.getByRole('button', { name: 'Declare' }).click()
  const expected =
    '---\nprovider: openai # ours\nmodel: gpt-4o-mini\nparameters:\n    b: { type: text }\n    a: { type: text }\ntemperature: 0.7\n---\nHello {{ a }} {{ b }}\n'
  await expect.poll(async () => (await stored()).content).toBe(expected)
  await expect.poll(() => page.getByRole('button', { name: 'Declare' }).count()).toBe(0)
})

test("a colleague's text comes into a clean editor with their name, and the cursor stays in its line", async () => {
  const { server, draft, editor, page } = await openedDraft('One\nTwo\nThree')
  await editor.content.click()
  await page.keyboard.press('Control+End')
  const key = await server.newKey(['read', 'write'], { name: 'Leo', email: 'leo@example.com' })
  await writePrompt(server, 'support/reply', { version: draft, prompt: 'Zero\nOne\nTwo\nThree', key })
  await expect.poll(() => editor.lines()).toEqual(['Zero', 'One', 'Two', 'Three'])
  await expect.poll(() => page.getByText(/, \d+ s ago/).textContent()).toMatch(/^(Leo|Someone else), \d+ s ago$/)
  await editor.type('!')
  await expect
    .poll(async () => (await storedPrompt(server, 'support/reply', draft)).content)
    .toBe('Zero\nOne\nTwo\nThree!')
})

test('Escape and then Tab leaves the editor; Tab alone indents', async () => {
  const { editor, page, stored } = await openedDraft('One')
  await editor.content.click()
  await page.keyboard.press('Home')
  await page.keyboard.press('Tab')
  await expect.poll(async () => (await stored()).content).toBe('  One')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Tab')
  expect(await editor.content.evaluate((element) => element.contains(document.activeElement))).toBe(false)
})

test('a key without write reads, and cannot type', async () => {
  const server = await sharedServer({ hello: 'Hello' })
  const key = await server.newKey(['read'])
  const { page } = await browser.open(server, server.promptAddress('hello'), { key })
  const editor = editorOf(page)
  await editor.ready()
  await editor.becomes('Read-only: needs write')
  await editor.toEnd()
  await editor.type('x')
  expect(await editor.lines()).toEqual(['Hello'])
})

test("undo takes back one's own words and leaves a colleague's", async () => {
  const { server, draft, editor, page, stored } = await openedDraft('One\nTwo')
  await editor.toEnd()
  await editor.type('!')
  await editor.becomes(/^Saved/)
  await writePrompt(server, 'support/reply', { version: draft, prompt: 'Zero\nOne\nTwo!' })
  await expect.poll(() => editor.lines()).toEqual(['Zero', 'One', 'Two!'])
  await page.keyboard.press('Control+z')
  await expect.poll(async () => (await stored()).content).toBe('Zero\nOne\nTwo')
  await page.keyboard.press('Control+z')
  expect(await editor.lines()).toEqual(['Zero', 'One', 'Two'])
})

test('line breaks that a colleague changed stay changed after the next key', async () => {
  const { server, draft, editor, page, stored } = await openedDraft('One\r\nTwo')
  await editor.toEnd()
  await writePrompt(server, 'support/reply', { version: draft, prompt: 'One\nTwo' })
  await page.getByText(/, \d+ s ago/).waitFor()
  await editor.type('!')
  await expect.poll(async () => (await stored()).content).toBe('One\nTwo!')
})

test('a value above the text is used by the next save, and a wrong one stays with its problem', async () => {
  const { page, stored } = await openedDraft('---\nmodel: gpt-4o\ntemperature: 0.3\n---\nHello\n')
  await page.getByLabel('Model').fill('gpt-4o-mini')
  await page.keyboard.press('Control+s')
  await expect.poll(async () => (await stored()).content).toContain('model: gpt-4o-mini\n')
  const temperature = page.getByLabel('Temperature')
  await temperature.fill('warm')
  await temperature.blur()
  await page.getByText('a number, for example 0.7').waitFor()
  expect(await temperature.inputValue()).toBe('warm')
  await temperature.fill('0.9')
  await temperature.blur()
  await expect.poll(async () => (await stored()).content).toContain('temperature: 0.9\n')
})

test('an error of a referenced prompt names it, and marks nothing here', async () => {
  const server = await sharedServer({ leaf: 'Hello', hello: '<prompt path="leaf" />' })
  const draft = await newDraft(server)
  await writePrompt(server, 'leaf', { version: draft, prompt: 'fine\nfine\n  {{ endif }}' })
  const { page } = await browser.open(server, server.promptAddress('hello', draft))
  await editorOf(page).ready()
  const issue = page.getByRole('region', { name: 'Errors' }).getByRole('button')
  await expect.poll(() => issue.textContent()).toMatch(/^leaf:3:/)
  expect(await issue.getAttribute('aria-disabled')).toBe('true')
  expect(await page.locator('.cm-lintRange-error').count()).toBe(0)
})

test('F8 shows the text where it is a tab that is not chosen', async () => {
  const server = await sharedServer({ hello: 'Hello' })
  const draft = await newDraft(server)
  await writePrompt(server, 'hello', { version: draft, prompt: 'fine\n  {{ endif }}' })
  const { page } = await browser.open(server, server.promptAddress('hello', draft), { width: 900 })
  await page.getByRole('region', { name: 'Errors' }).waitFor()
  await page.getByRole('tab', { name: 'Use' }).click()
  await page.getByText('Command line').waitFor()
  await page.keyboard.press('F8')
  await page.getByRole('tab', { name: 'Text', selected: true }).waitFor()
  await expect.poll(() => page.locator('[class*="cursor"]').last().textContent()).toMatch(/^2:/)
})
