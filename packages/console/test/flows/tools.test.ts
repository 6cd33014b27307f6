/** Client tools wait for a result that a person enters. */
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { expectAnswer, frontMatter, openPrompt, openRun } from '../support/run-part.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer
const tools = `tools:
  get_weather:
    description: Weather of a place
    parameters: { type: object, properties: { city: { type: string } } }
`
const call = { id: 'call_1', name: 'get_weather', arguments: {} }

beforeAll(async () => {
  server = await sharedServer({
    weather: `${frontMatter(tools)}How is the weather?`,
    other: `${frontMatter()}Hello`,
    'desk/ask': `${frontMatter('agents: [../experts/tax, law]\n')}Ask the experts.`,
    'experts/tax': `${frontMatter()}Answer about taxes.`,
    'desk/law': `${frontMatter('name: lawyer\n')}Answer about the law.`,
  })
})
beforeEach(() => server.fake.clear())

it('answers two calls in any order', async () => {
  const part = await openRun(browser, server, 'weather')
  const calls = ['<b>Ghent</b>', 'Lund'].map((city, at) => ({ ...call, id: `call_${at + 3}`, arguments: { city } }))
  server.fake.enqueue({ toolCalls: calls }, { text: 'Both are fine.' })
  await part.run()
  const cards = part.pane.getByRole('region', { name: 'Tool call get_weather' })
  await expect.poll(() => cards.getByLabel('Result of get_weather').count()).toBe(2)
  expect(await cards.nth(0).textContent()).toContain('<b>Ghent</b>')
  await cards.nth(1).getByLabel('Result of get_weather').fill('cold')
  await cards.nth(1).getByRole('button', { name: 'Send the result' }).click()
  await cards.nth(1).getByText('Answered', { exact: true }).waitFor()
  await cards.nth(0).getByLabel('Result of get_weather').fill('warm')
  await cards.nth(0).getByRole('button', { name: 'Send the result' }).click()
  await part.waitFor('Completed')
  await expectAnswer(part, 'Both are fine.')
  expect(await part.pane.getByText('Answered', { exact: true }).count()).toBe(2)
})

it('keeps a half-written result while the user looks at something else, and over a reload', async () => {
  const part = await openRun(browser, server, 'weather')
  server.fake.enqueue({ toolCalls: [{ ...call, id: 'call_10' }] }, { text: 'It is fine.' })
  await part.run()
  const field = part.pane.getByLabel('Result of get_weather')
  await field.fill('half a res')
  await openPrompt(part, 'other')
  await part.pane.getByText('This prompt has no inputs.').waitFor()
  await field.waitFor({ state: 'detached' })
  await openPrompt(part, 'weather')
  await expect.poll(() => field.inputValue()).toBe('half a res')
  await part.page.reload()
  await expect.poll(() => field.inputValue()).toBe('half a res')
  await part.pane.getByRole('button', { name: 'Send the result' }).click()
  await part.waitFor('Completed')
  await expectAnswer(part, 'It is fine.')
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

it('shows the answer of an agent as it is, with a link to its prompt', async () => {
  const part = await openRun(browser, server, 'desk/ask')
  const calls = ['lat_agent_experts_tax', 'lawyer'].map((name) => ({ id: `call_${name}`, name, arguments: {} }))
  server.fake.enqueue(
    { toolCalls: calls },
    { text: 'Pay.\nSoon.' },
    { text: 'Pay.\nSoon.' },
    { text: 'Both say: pay.' },
  )
  await part.run()
  await part.waitFor('Completed')
  const card = (name: string) => part.pane.getByRole('region', { name: `Tool call ${name}` })
  expect(await card('lawyer').textContent()).toContain('ResultPay.\nSoon.')
  expect(await card('lawyer').textContent()).not.toContain('isError')
  await card('lawyer').getByRole('link', { name: 'desk/law' }).waitFor()
  await card('lat_agent_experts_tax').getByRole('link', { name: 'experts/tax' }).click()
  await part.page.getByRole('heading', { level: 1, name: 'experts/tax', exact: true }).waitFor()
})
