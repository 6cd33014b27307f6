import { expect, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { editorOf, lookAgain, newDraft, storedPrompt, writePrompt } from '../support/editor-page.ts'
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

test('typed text is saved exactly, the cursor stays where it is, and one undo brings replaced text back', async () => {
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
  const text = '> Hello {{ name }}\nLine two, three'
  await expect.poll(async () => (await stored()).content).toBe(text)
  await page.keyboard.press('Control+a')
  await editor.type('Short')
  await expect.poll(async () => (await stored()).content).toBe('Short')
  await page.keyboard.press('Control+z')
  await expect.poll(async () => (await stored()).content).toBe(text)
  // After typing Tab indents. Escape and then Tab leaves the editor.
  await page.keyboard.press('Control+Home')
  await page.keyboard.press('Tab')
  await expect.poll(async () => (await stored()).content).toBe(`  ${text}`)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Tab')
  expect(await editor.content.evaluate((element) => element.contains(document.activeElement))).toBe(false)
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

test('completion puts in tags, paths and blocks, with one space after the braces', async () => {
  const { editor, page, stored } = await openedDraft('Hello')
  const option = page.getByRole('listbox').getByRole('option')
  for (const [typed, label] of [
    ['\n<us', '<user>'],
    ['\n<prompt path="/sup', '/support/tone'],
    ['" />\n{{ i', 'if'],
    ['\n{{fo', 'for'],
  ] as const) {
    await editor.toEnd()
    await editor.type(typed)
    await option.getByText(label, { exact: true }).click()
    await page.keyboard.press('Escape')
  }
  await page.keyboard.press('Control+s')
  const lines = ['<user></user>', '<prompt path="/support/tone" />', '{{ if condition }}{{ endif }}']
  const expected = ['Hello', ...lines, '{{ for item in list }}{{ endfor }}'].join('\n')
  await expect.poll(async () => (await stored()).content).toBe(expected)
})

test("a colleague's text comes with their name, the cursor stays in its line, and undo leaves it", async () => {
  const { server, draft, editor, page, stored } = await openedDraft('One\nTwo')
  await editor.toEnd()
  await editor.type('!')
  await editor.becomes(/^Saved/)
  const key = await server.newKey(['read', 'write'], { name: 'Leo', email: 'leo@example.com' })
  await writePrompt(server, 'support/reply', { version: draft, prompt: 'Zero\nOne\nTwo!', key })
  await lookAgain(page)
  await expect.poll(() => editor.lines()).toEqual(['Zero', 'One', 'Two!'])
  await expect.poll(() => page.getByText(/, \d+ s ago/).textContent()).toMatch(/^(Leo|Someone else), \d+ s ago$/)
  await editor.type('?')
  await expect.poll(async () => (await stored()).content).toBe('Zero\nOne\nTwo!?')
  await page.keyboard.press('Control+z')
  await page.keyboard.press('Control+z')
  await expect.poll(async () => (await stored()).content).toBe('Zero\nOne\nTwo')
  await page.keyboard.press('Control+z')
  expect(await editor.lines()).toEqual(['Zero', 'One', 'Two'])
})

test('line breaks that a colleague changed stay changed after the next key', async () => {
  const { server, draft, editor, page, stored } = await openedDraft('One\r\nTwo')
  await editor.toEnd()
  await writePrompt(server, 'support/reply', { version: draft, prompt: 'One\nTwo' })
  await lookAgain(page)
  await page.getByText(/, \d+ s ago/).waitFor()
  await editor.type('!')
  await expect.poll(async () => (await stored()).content).toBe('One\nTwo!')
})

test('a value above the text is used by the next save, and a wrong one stays with its problem', async () => {
  const { page, stored } = await openedDraft('---\nmodel: gpt-4o\ntemperature: 0.3\n---\nHello {{ b }}\n')
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
  await page.getByRole('tab', { name: 'Parameters' }).click()
  await page.getByRole('button', { name: 'Declare' }).click()
  await expect
    .poll(async () => (await stored()).content)
    .toBe('---\nmodel: gpt-4o-mini\ntemperature: 0.9\nparameters:\n  b: { type: text }\n---\nHello {{ b }}\n')
  await expect.poll(() => page.getByRole('button', { name: 'Declare' }).count()).toBe(0)
})

test('an error of a referenced prompt names it and marks nothing here; a setting that a run would refuse is marked', async () => {
  const hot = '---\ntemperature: hot\ntemprature: 1\n---\nHello'
  const server = await sharedServer({ leaf: 'Hello', hello: '<prompt path="leaf" />', hot })
  const draft = await newDraft(server)
  await writePrompt(server, 'leaf', { version: draft, prompt: 'fine\nfine\n  {{ endif }}' })
  const { page } = await browser.open(server, server.promptAddress('hello', draft))
  await editorOf(page).ready()
  const issue = page.getByRole('region', { name: 'Errors' }).getByRole('button')
  await expect.poll(() => issue.textContent()).toMatch(/^leaf:3:/)
  expect(await issue.getAttribute('aria-disabled')).toBe('true')
  expect(await page.locator('.cm-lintRange-error').count()).toBe(0)

  await page.goto(server.promptAddress('hot', draft))
  await page.locator('.cm-lintRange-error', { hasText: 'temperature' }).waitFor()
  await page.locator('.cm-lintRange-warning', { hasText: 'temprature' }).waitFor()
  expect(await issue.allTextContents()).toEqual([
    '2:1`temperature` must be a number',
    expect.stringMatching(/^3:1Warning: Did you mean `temperature`\?/),
  ])
  await page.getByText('1 error · F8').waitFor()
})
