/** The socket of a run is cut. No word is lost or doubled. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type FaultProxy, faultProxy } from '../../../server/test/support/fault-proxy.ts'
import { consoleBrowser } from '../support/browser.ts'
import { expectAnswer, frontMatter, openRun } from '../support/run-part.ts'
import { type ConsoleServer, consoleServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer
let proxy: FaultProxy
/** The server as seen through the proxy. */
let far: ConsoleServer
const deltas = Array.from({ length: 60 }, (_, at) => `word${at} `)
const allow = /ERR_|Failed to fetch|Failed to load/

beforeAll(async () => {
  const tools = 'tools:\n  get_weather: { description: Weather, parameters: { type: object, properties: {} } }\n'
  server = await consoleServer(
    { plain: `${frontMatter()}Tell me about {{ topic }}`, weather: `${frontMatter(tools)}How is the weather?` },
    // The runs outlive the time after which the page stops trying by itself.
    { STET_GRACE_MS: '300000' },
  )
  proxy = await faultProxy(Number(new URL(server.server.url).port))
  const address = (path: string) => `http://127.0.0.1:${proxy.port}${path}`
  far = { ...server, address }
})
beforeEach(() => server.fake.clear())
afterAll(async () => {
  await proxy.close()
  await server.close()
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
    await part.waitFor('Connecting again')
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
  await part.pane.getByRole('button', { name: 'Connect again' }).waitFor({ timeout: 120_000 })
  await expectAnswer(part, deltas.slice(0, 20).join(''))
  await proxy.restore()
  gate.resolve()
  await part.pane.getByRole('button', { name: 'Connect again' }).click()
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
  const again = part.pane.getByRole('button', { name: 'Connect again' })
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
  const again = part.pane.getByRole('button', { name: 'Connect again' })
  await again.waitFor({ timeout: 120_000 })
  await proxy.restore()
  proxy.blackHole()
  await again.click()
  await part.pane.getByRole('button', { name: /^Stop/ }).click()
  await part.waitFor('Stopped')
  await proxy.restore()
  await server.fake.waitForAbort(aborted + 1)
})

it('joins a run again after the page was reloaded', async () => {
  const part = await openRun(browser, server, 'plain')
  const gate = Promise.withResolvers<void>()
  server.fake.enqueue({ deltas, gate: gate.promise, gateAfter: 20 })
  await part.run()
  await expectAnswer(part, deltas.slice(0, 20).join(''))
  await part.page.reload()
  await expectAnswer(part, deltas.slice(0, 20).join(''))
  gate.resolve()
  await part.waitFor('Completed')
  await expectAnswer(part, deltas.join(''))
  await part.page.reload()
  await part.pane.getByText(/^Fill in the inputs/).waitFor()
})
