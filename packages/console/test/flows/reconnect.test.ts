/** The socket of a run is cut. No word is lost or doubled. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type FaultProxy, faultProxy } from '../../../server/test/support/fault-proxy.ts'
import { consoleBrowser } from '../support/browser.ts'
import { expectAnswer, frontMatter, openRun } from '../support/run-part.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer
let proxy: FaultProxy
/** The server as seen through the proxy. */
let far: ConsoleServer
const deltas = Array.from({ length: 60 }, (_, at) => `word${at} `)
const allow = /ERR_|Failed to fetch|Failed to load/

beforeAll(async () => {
  const tools = 'tools:\n  get_weather: { description: Weather, parameters: { type: object, properties: {} } }\n'
  server = await sharedServer({
    plain: `${frontMatter()}Tell me about {{ topic }}`,
    weather: `${frontMatter(tools)}How is the weather?`,
    second: `${frontMatter()}Tell me more`,
    third: `${frontMatter()}Tell me everything`,
    shots: `${frontMatter()}<user>Hi</user><assistant>A shot</assistant><user>Hello</user>`,
  })
  proxy = await faultProxy(Number(new URL(server.server.url).port))
  const address = (path: string) => `http://127.0.0.1:${proxy.port}${path}`
  far = { ...server, address }
})
beforeEach(() => server.fake.clear())
afterAll(async () => {
  await proxy.close()
})

it('resumes after the socket was cut, several times in one answer', async () => {
  const part = await openRun(browser, far, 'plain', { allow })
  const gates = [15, 30, 45].map(() => Promise.withResolvers<void>())
  let sent = 0
  server.fake.enqueue({
    deltas,
    get gate() {
      return gates[sent]?.promise ?? Promise.resolve()
    },
    get gateAfter() {
      return [15, 30, 45][sent] ?? 0
    },
  })
  await part.run()
  for (const gate of gates) {
    await expectAnswer(part, deltas.slice(0, [15, 30, 45][sent]).join(''))
    await proxy.cut()
    await part.waitFor('Reconnecting')
    sent += 1
    gate.resolve()
    await proxy.restore()
  }
  await part.waitFor('Completed')
  await expectAnswer(part, deltas.join(''))
  expect(await part.announcement()).toBe('The run has ended with 60 words')
})

it('keeps the text when the connection stays away, and joins the run again on request', async () => {
  const part = await openRun(browser, far, 'plain', { allow })
  const gate = Promise.withResolvers<void>()
  server.fake.enqueue({ deltas, gate: gate.promise, gateAfter: 20 })
  await part.run()
  await expectAnswer(part, deltas.slice(0, 20).join(''))
  await proxy.cut()
  await part.pane.getByRole('button', { name: 'Reconnect' }).waitFor({ timeout: 120_000 })
  await expectAnswer(part, deltas.slice(0, 20).join(''))
  await proxy.restore()
  gate.resolve()
  await part.pane.getByRole('button', { name: 'Reconnect' }).click()
  await part.waitFor('Completed')
  await expectAnswer(part, deltas.join(''))
})

it('takes the result of a tool that waited when the connection was lost', async () => {
  const part = await openRun(browser, far, 'weather', { allow })
  const call = { id: 'call_1', name: 'get_weather', arguments: {} }
  server.fake.enqueue({ toolCalls: [call] }, { text: 'It snows.' })
  await part.run()
  const field = part.pane.getByLabel('Result of get_weather')
  await field.fill('snow')
  await proxy.cut()
  const again = part.pane.getByRole('button', { name: 'Reconnect' })
  await again.waitFor({ timeout: 120_000 })
  await proxy.restore()
  await again.click()
  await expect.poll(() => field.inputValue()).toBe('snow')
  await part.pane.getByRole('button', { name: 'Send the result' }).click()
  await part.waitFor('Completed')
  await expectAnswer(part, 'It snows.')
})

it('stops a run on the server while the page still connects', async () => {
  const part = await openRun(browser, far, 'plain', { allow })
  server.fake.enqueue({ deltas, gate: new Promise(() => {}), gateAfter: 20 })
  const { aborted } = server.fake
  await part.run()
  await expectAnswer(part, deltas.slice(0, 20).join(''))
  await proxy.cut()
  const again = part.pane.getByRole('button', { name: 'Reconnect' })
  await again.waitFor({ timeout: 120_000 })
  await proxy.restore()
  proxy.blackHole()
  await again.click()
  await part.pane.getByRole('button', { name: /^Stop/ }).click()
  await part.waitFor('Stopped')
  await proxy.restore()
  await server.fake.waitForAbort(aborted + 1)
})

it('shows the whole conversation again after a reload during a chat', async () => {
  const part = await openRun(browser, server, 'shots')
  const gate = Promise.withResolvers<void>()
  const reply = async (text: string) => {
    await part.pane.getByLabel('Reply').fill(text)
    await part.pane.getByLabel('Reply').press('Enter')
  }
  server.fake.enqueue({ text: 'First.' }, { text: 'Second.' }, { deltas, gate: gate.promise, gateAfter: 20 })
  await part.run()
  await part.waitFor('Completed')
  await reply('Go on')
  await expectAnswer(part, 'First.\n\nSecond.')
  await part.waitFor('Completed')
  await reply('And on')
  const half = `First.\n\nSecond.\n\n${deltas.slice(0, 20).join('')}`
  await expectAnswer(part, half)
  const said = () => part.pane.locator('article').filter({ hasText: 'You' }).count()
  // The second reload needs what the first one has kept.
  for (let reloads = 0; reloads < 2; reloads += 1) {
    await part.page.reload()
    await expectAnswer(part, half)
    await part.pane.getByText('Go on', { exact: true }).waitFor()
    await part.pane.getByText('And on', { exact: true }).waitFor()
    expect(await said()).toBe(2)
  }
  gate.resolve()
  await part.waitFor('Completed')
  await expectAnswer(part, `First.\n\nSecond.\n\n${deltas.join('')}`)
  server.fake.enqueue({ text: 'Fourth.' })
  await reply('And the end?')
  await expectAnswer(part, `First.\n\nSecond.\n\n${deltas.join('')}\n\nFourth.`)
})

it('follows or stops a third run, and loses no word of it once one of two streams has ended', async () => {
  const part = await openRun(browser, server, 'plain')
  const gates = [0, 1, 2].map(() => Promise.withResolvers<void>())
  const half = deltas.slice(0, 20).join('')
  const runNext = async (at: number) => {
    server.fake.enqueue({ deltas, gate: gates[at]?.promise ?? Promise.resolve(), gateAfter: 20 })
    await part.run()
    await expectAnswer(part, half)
  }
  const show = (path: string) => part.page.locator(`a[role="treeitem"][data-key="${path}"]`).click()
  await runNext(0)
  // A new page, which follows only the runs that it shows.
  await part.page.goto(server.promptAddress('second'))
  await runNext(1)
  await show('third')
  await part.pane.getByRole('button', { name: /^Run/ }).waitFor()
  await runNext(2)
  await show('plain')
  await part.waitFor('Waiting for a free stream')
  await part.pane.getByText('Two other runs are open in this tab', { exact: false }).waitFor()
  gates[0]?.resolve()
  gates[1]?.resolve()
  await part.waitFor('Completed')
  await expectAnswer(part, deltas.join(''))
  gates[2]?.resolve()
  await show('third')
  await part.waitFor('Completed')
  await expectAnswer(part, deltas.join(''))

  // A run that waits for a stream is stopped on the server.
  const { aborted } = server.fake
  const held = Promise.withResolvers<void>()
  for (const path of ['plain', 'second', 'third']) {
    if (path === 'second') await part.page.goto(server.promptAddress(path))
    else await show(path)
    await part.page.getByRole('heading', { name: path }).waitFor()
    server.fake.enqueue({ deltas, gate: held.promise, gateAfter: 20 })
    await part.run()
    await expectAnswer(part, half)
  }
  await show('plain')
  await part.waitFor('Waiting for a free stream')
  await part.pane.getByRole('button', { name: /^Stop/ }).click()
  await part.waitFor('Stopped')
  await server.fake.waitForAbort(aborted + 1)
  held.resolve()
})
