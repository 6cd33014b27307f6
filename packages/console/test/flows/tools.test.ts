/** Client tools wait for a result that a person enters. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { expectAnswer, frontMatter, openPrompt, openRun } from '../support/run-part.ts'
import { type ConsoleServer, consoleServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer
const tools = `tools:
  get_weather:
    description: Weather of a place
    parameters: { type: object, properties: { city: { type: string } } }
`
const call = { id: 'call_1', name: 'get_weather', arguments: { city: '<b>Ghent</b>' } }

beforeAll(async () => {
  server = await consoleServer({ weather: `${frontMatter(tools)}How is the weather?`, other: `${frontMatter()}Hello` })
})
beforeEach(() => server.fake.clear())
afterAll(() => server.close())

it('sends the entered result to the model', async () => {
  const part = await openRun(browser, server, 'weather')
  server.fake.enqueue({ text: 'Let me look.', toolCalls: [call] }, { text: 'It is sunny.' })
  await part.run()
  const field = part.pane.getByLabel('Result of get_weather')
  await field.waitFor()
  expect(await part.pane.getByRole('region', { name: 'Tool call get_weather' }).textContent()).toContain('<b>Ghent</b>')
  await field.fill('{"sky": "blue"}')
  await part.pane.getByRole('button', { name: 'Send the result' }).click()
  await part.waitFor('Completed')
  await expectAnswer(part, 'Let me look.\n\nIt is sunny.')
  expect(JSON.stringify(server.fake.requests.at(-1)?.body)).toContain('sky')
  await part.pane.getByRole('tab', { name: /Tool calls/ }).click()
  await part.pane.getByText('Answered', { exact: true }).waitFor()
})

it('tells the model that a tool failed', async () => {
  const part = await openRun(browser, server, 'weather')
  server.fake.enqueue({ toolCalls: [{ ...call, id: 'call_2' }] }, { text: 'I cannot say.' })
  await part.run()
  await part.pane.getByLabel('Result of get_weather').fill('The station is closed')
  await part.pane.getByRole('button', { name: 'Send as an error' }).click()
  await part.waitFor('Completed')
  await part.pane.getByText('Failed', { exact: true }).waitFor()
  expect(JSON.stringify(server.fake.requests.at(-1)?.body)).toContain('The station is closed')
})

it('answers two calls in any order', async () => {
  const part = await openRun(browser, server, 'weather')
  const calls = ['Ghent', 'Lund'].map((city, at) => ({ ...call, id: `call_${at + 3}`, arguments: { city } }))
  server.fake.enqueue({ toolCalls: calls }, { text: 'Both are fine.' })
  await part.run()
  const cards = part.pane.getByRole('region', { name: 'Tool call get_weather' })
  await expect.poll(() => cards.getByLabel('Result of get_weather').count()).toBe(2)
  await cards.nth(1).getByLabel('Result of get_weather').fill('cold')
  await cards.nth(1).getByRole('button', { name: 'Send the result' }).click()
  await cards.nth(1).getByText('Answered', { exact: true }).waitFor()
  await cards.nth(0).getByLabel('Result of get_weather').fill('warm')
  await cards.nth(0).getByRole('button', { name: 'Send the result' }).click()
  await part.waitFor('Completed')
  await expectAnswer(part, 'Both are fine.')
})

it('stops while a tool waits', async () => {
  const part = await openRun(browser, server, 'weather')
  server.fake.enqueue({ toolCalls: [{ ...call, id: 'call_9' }] })
  await part.run()
  await part.pane.getByLabel('Result of get_weather').waitFor()
  await part.pane.getByRole('button', { name: /^Stop/ }).click()
  await part.waitFor('Stopped')
  await part.pane.getByText('No result', { exact: true }).waitFor()
})

it('keeps a half-written result while the user looks at something else', async () => {
  const part = await openRun(browser, server, 'weather')
  server.fake.enqueue({ toolCalls: [{ ...call, id: 'call_10' }] }, { text: 'It is fine.' })
  await part.run()
  const field = part.pane.getByLabel('Result of get_weather')
  await field.fill('half a res')
  await part.pane.getByRole('tab', { name: /Tool calls/ }).click()
  expect(await field.inputValue()).toBe('half a res')
  await openPrompt(part, 'other')
  await part.pane.getByText('This prompt has no inputs.').waitFor()
  await field.waitFor({ state: 'detached' })
  await openPrompt(part, 'weather')
  await expect.poll(() => field.inputValue()).toBe('half a res')
  await part.pane.getByRole('button', { name: 'Send the result' }).click()
  await part.waitFor('Completed')
  expect(JSON.stringify(server.fake.requests.at(-1)?.body)).toContain('half a res')
})

it('leaves the focus in the editor when a tool waits', async () => {
  const part = await openRun(browser, server, 'weather', { search: '' })
  const editor = part.page.getByRole('textbox', { name: /^Text of weather/ })
  server.fake.enqueue({ toolCalls: [{ ...call, id: 'call_11' }] })
  await editor.focus()
  await part.page.keyboard.press('Control+Enter')
  await part.pane.getByLabel('Result of get_weather').waitFor()
  expect(await editor.evaluate((element) => element.contains(document.activeElement))).toBe(true)
  await part.page.keyboard.press('Control+.')
  await part.waitFor('Stopped')
})

it('keeps a half-written result over a reload, and takes the result of the run that was joined', async () => {
  const part = await openRun(browser, server, 'weather')
  server.fake.enqueue({ toolCalls: [{ ...call, id: 'call_12' }] }, { text: 'It snows.' })
  await part.run()
  const field = part.pane.getByLabel('Result of get_weather')
  await field.fill('half a res')
  await part.page.reload()
  await expect.poll(() => field.inputValue()).toBe('half a res')
  await field.fill('snow')
  await part.pane.getByRole('button', { name: 'Send the result' }).click()
  await part.waitFor('Completed')
  await expectAnswer(part, 'It snows.')
  expect(JSON.stringify(server.fake.requests.at(-1)?.body)).toContain('snow')
})
