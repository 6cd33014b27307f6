/** The schema and the tools of a prompt: shown as trees, edited as text. */
import { expect, test } from 'vitest'
import { violations } from '../support/axe.ts'
import { consoleBrowser } from '../support/browser.ts'
import { editorOf, newDraft } from '../support/editor-page.ts'
import { sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
const text = `---
schema:
  type: object
  required: [urgency]
  properties:
    urgency:
      enum: [low, high]
      description: <script>alert(1)</script> How soon
    place:
      type: object
      properties:
        city: { type: string }
tools:
  - get_weather:
      description: Weather of a place
      parameters: { type: object, properties: { city: { type: string } }, required: [city] }
---
Hello
`

async function opened(prompt: string) {
  const server = await sharedServer({ hello: prompt })
  const address = `${server.promptAddress('hello', await newDraft(server))}?tab=parameters`
  const { page } = await browser.open(server, address, { bypassCSP: true })
  const editor = editorOf(page)
  await editor.ready()
  const cursor = () => page.locator('[class*="cursor"]').last().textContent()
  return { page, editor, cursor }
}

test('the keyboard moves in the trees, opens rows, and leads to their lines', async () => {
  const { page, editor, cursor } = await opened(text)
  const schema = page.getByRole('tree', { name: 'Schema of the answer' })
  await schema.getByRole('treeitem', { name: /^urgency.*one of low, high.*required.*<script>alert/ }).waitFor()
  expect(await violations(page)).toEqual([])
  await schema.getByRole('treeitem').first().focus()
  await page.keyboard.press('End')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowLeft')
  await expect.poll(() => schema.getByRole('treeitem', { name: /^city/ }).count()).toBe(0)
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  await expect.poll(cursor).toBe('12:1')
  expect(await editor.content.evaluate((element) => element.contains(document.activeElement))).toBe(true)
  const tools = page.getByRole('tree', { name: 'Tools' })
  await tools.getByRole('treeitem', { name: /^city.*string.*required/ }).click()
  await expect.poll(cursor).toBe('16:1')
  // Text that is typed above moves the lines before it is saved.
  await page.keyboard.press('Control+Home')
  await page.keyboard.press('End')
  await editor.type('\nname: hello')
  await schema.getByRole('treeitem', { name: /^urgency/ }).click()
  await expect.poll(cursor).toBe('7:1')
  // Without front matter there is nothing to show.
  await editor.content.click()
  await page.keyboard.press('Control+a')
  await editor.type('Hello {{ name }}')
  await tools.waitFor({ state: 'detached' })
  await page.getByText('not declared').waitFor()
})
