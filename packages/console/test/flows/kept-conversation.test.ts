/** A reload keeps a finished conversation and the reply to it, and shows both as they were. */
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { expectAnswer, frontMatter, openRun, type RunPart } from '../support/run-part.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer
const tools = 'tools:\n  get_weather: { description: Weather, parameters: { type: object, properties: {} } }\n'
const call = (id: string) => ({ id, name: 'get_weather', arguments: {} })

beforeAll(async () => {
  server = await sharedServer({
    plain: `${frontMatter()}Hello`,
    weather: `${frontMatter(tools)}How is the weather?`,
    shots: `${frontMatter()}<user>Hi</user><assistant>A shot</assistant><user>Hello</user>`,
  })
})
beforeEach(() => server.fake.clear())

const replyOf = ({ pane }: RunPart) => pane.getByLabel('Reply')

async function finished(path: string, text: string, options = {}): Promise<RunPart> {
  const part = await openRun(browser, server, path, options)
  server.fake.enqueue({ text })
  await part.run()
  await part.waitFor('Completed')
  return part
}

it('keeps a reply over reloads, and sends it to the same conversation', async () => {
  const part = await finished('shots', 'First.')
  const uuid = await part.pane.locator('[data-conversation]').textContent()
  const facts = await part.facts()
  await replyOf(part).fill('Half a rep')
  for (let reloads = 0; reloads < 2; reloads += 1) {
    await part.page.reload()
    await expect.poll(() => replyOf(part).inputValue()).toBe('Half a rep')
    await expectAnswer(part, 'First.')
    expect(await part.facts()).toBe(facts)
  }
  server.fake.enqueue({ text: 'Second.' })
  await replyOf(part).fill('A whole reply')
  await replyOf(part).press('Enter')
  await expectAnswer(part, 'First.\n\nSecond.')
  await part.waitFor('Completed')
  expect(await part.pane.locator('[data-conversation]').textContent()).toBe(uuid)
  expect(JSON.stringify(server.fake.requests.at(-1)?.body)).toContain('A whole reply')
  await replyOf(part).fill('And on')
  await part.page.reload()
  await expect.poll(() => replyOf(part).inputValue()).toBe('And on')
  await expectAnswer(part, 'First.\n\nSecond.')
  await part.pane.getByText('A whole reply', { exact: true }).waitFor()
})

it('keeps a reply while the prompt runs again', async () => {
  const part = await finished('plain', 'First.')
  await replyOf(part).fill('Half a rep')
  const gate = Promise.withResolvers<void>()
  server.fake.enqueue({ deltas: ['Ag', 'ain.'], gate: gate.promise, gateAfter: 1 })
  await part.run()
  await expectAnswer(part, 'Ag')
  await part.page.reload()
  await expectAnswer(part, 'Ag')
  gate.resolve()
  await part.waitFor('Completed')
  await expect.poll(() => replyOf(part).inputValue()).toBe('Half a rep')
})

it('keeps a reply while the server cannot be reached', async () => {
  const part = await finished('plain', 'First.', { allow: /ERR_FAILED|Failed to fetch/ })
  await replyOf(part).fill('Half a rep')
  await part.page.route('**/attach', (route) => route.abort())
  await part.page.reload()
  await part.waitFor('Failed')
  expect(await replyOf(part).inputValue()).toBe('Half a rep')
  await part.page.unroute('**/attach')
  await part.page.reload()
  await expectAnswer(part, 'First.')
  await expect.poll(() => replyOf(part).inputValue()).toBe('Half a rep')
})

it('shows neither conversation nor reply to the next person in the same tab', async () => {
  const scopes = ['read', 'run'] as const
  const ana = await server.newKey(scopes, { name: 'Ana', email: 'ana@example.com' })
  const leo = await server.newKey(scopes, { name: 'Leo', email: 'leo@example.com' })
  const part = await finished('plain', 'First.', { key: ana })
  await replyOf(part).fill('A reply by Ana')
  const signIn = (apiKey: string) =>
    part.context.request.post(server.address('/console/session'), {
      data: { apiKey },
      headers: { 'X-Stet-Console': '1' },
    })
  await signIn(leo)
  await part.page.reload()
  await part.pane.getByText('To run the prompt, press', { exact: false }).waitFor()
  expect(await replyOf(part).count()).toBe(0)
  await signIn(ana)
  await part.page.reload()
  await expect.poll(() => replyOf(part).inputValue()).toBe('A reply by Ana')
})

it('shows a stopped run, and a tool call without a result, as before the reload', async () => {
  const part = await openRun(browser, server, 'weather')
  server.fake.enqueue({ toolCalls: [call('call_1')] }, { text: 'Second.' })
  await part.run()
  await part.pane.getByLabel('Result of get_weather').waitFor()
  await part.pane.getByRole('button', { name: /^Stop/ }).click()
  await part.waitFor('Stopped')
  await replyOf(part).fill('Never mind')
  await replyOf(part).press('Enter')
  await expectAnswer(part, 'Second.')
  await part.waitFor('Completed')
  const rounds = () => part.pane.locator('article').allTextContents()
  const before = await rounds()
  expect(before.join()).toContain('No result')
  await part.page.reload()
  await expectAnswer(part, 'Second.')
  await part.waitFor('Completed')
  expect(await rounds()).toEqual(before)
})

it('counts the time of a tool from its call, also after a reload', async () => {
  const part = await openRun(browser, server, 'weather', { isOwn: true })
  server.fake.enqueue({ toolCalls: [call('call_2')] }, { text: 'It snows.' })
  await part.run()
  const field = part.pane.getByLabel('Result of get_weather')
  await field.fill('snow')
  // The clock of the next page: it is opened an hour later.
  await part.page.addInitScript(() => {
    const { timeOrigin } = performance
    Object.defineProperty(performance, 'timeOrigin', { value: timeOrigin + 3_600_000 })
  })
  await part.page.reload()
  await expect.poll(() => field.inputValue()).toBe('snow')
  await part.pane.getByRole('button', { name: 'Send the result' }).click()
  await part.waitFor('Completed')
  const tool = part.pane.getByRole('region', { name: 'Tool call get_weather' })
  const answered = /answered here · 60 min/
  expect(await tool.textContent()).toMatch(answered)
  await part.page.reload()
  await part.waitFor('Completed')
  expect(await tool.textContent()).toMatch(answered)
})
