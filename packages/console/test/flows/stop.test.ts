/** Stop stops the run on the server, and keeps what has arrived. */
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { expectAnswer, frontMatter, openPrompt, openRun } from '../support/run-part.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer
const text = Array.from({ length: 40 }, (_, at) => `word${at}`)

beforeAll(async () => {
  server = await sharedServer({
    plain: `${frontMatter()}Tell me about {{ topic }}`,
    second: `${frontMatter()}Two`,
    third: `${frontMatter()}Three`,
  })
})
beforeEach(() => server.fake.clear())

it('stops the run on the server, and keeps the words', async () => {
  const part = await openRun(browser, server, 'plain')
  server.fake.enqueue({ deltas: text.map((word) => `${word} `), gate: new Promise(() => {}), gateAfter: 12 })
  const aborted = server.fake.aborted
  await part.run()
  await expectAnswer(
    part,
    text
      .slice(0, 12)
      .map((word) => `${word} `)
      .join(''),
  )
  const uuid = (await part.pane.locator('[data-conversation]').textContent()) ?? ''
  await part.page.keyboard.press('Control+.')
  await server.fake.waitForAbort(aborted + 1)
  await part.waitFor('Stopped')
  expect((await part.answer()).trim()).toBe(text.slice(0, 12).join(' '))
  await part.pane.getByText('stopped', { exact: true }).waitFor()
  expect(await part.announcement()).toBe('The run was stopped after 12 words')
  expect((await server.api('GET', `/conversations/${uuid}`)).body).toMatchObject({ status: 'stopped' })
})

it('runs once after a double click on Run, although Stop takes its place', async () => {
  const part = await openRun(browser, server, 'plain')
  // The answer ends after the second click. Otherwise Run could be back by then.
  const gate = Promise.withResolvers<void>()
  server.fake.enqueue({ text: 'An answer.', gate: gate.promise, gateAfter: 1 })
  const sent = server.fake.requests.length
  const run = part.pane.getByRole('button', { name: /^Run/ })
  const box = await run.boundingBox()
  if (!box) throw new Error('Run is not shown')
  await part.page.mouse.move(box.x + 20, box.y + 10)
  await part.page.mouse.down({ clickCount: 1 })
  await part.page.mouse.up({ clickCount: 1 })
  await part.pane.getByRole('button', { name: /^Stop/ }).waitFor()
  await part.page.mouse.down({ clickCount: 2 })
  await part.page.mouse.up({ clickCount: 2 })
  gate.resolve()
  await part.waitFor('Completed')
  expect(server.fake.requests).toHaveLength(sent + 1)
})

it('stops a run that has not said anything yet', async () => {
  const part = await openRun(browser, server, 'plain')
  server.fake.enqueue({ hang: 'after-head' })
  await part.run()
  await part.pane.getByText('Waiting for the first token').waitFor()
  await part.pane.getByRole('button', { name: /^Stop/ }).click()
  await part.waitFor('Stopped')
})

it('keeps a reply that cannot be sent while two other runs are active', async () => {
  const part = await openRun(browser, server, 'plain')
  server.fake.enqueue({ text: 'An answer.' })
  await part.run()
  await part.waitFor('Completed')
  await part.pane.getByLabel('Reply').fill('And then?')
  for (const other of ['second', 'third']) {
    await openPrompt(part, other)
    await part.pane.getByText('This prompt has no inputs.').waitFor()
    server.fake.enqueue({ text: `from ${other}`, gate: new Promise(() => {}), gateAfter: 2 })
    await part.run()
    await expectAnswer(part, `from ${other}`)
  }
  await openPrompt(part, 'plain')
  const reply = part.pane.getByLabel('Reply')
  await expect.poll(() => reply.inputValue()).toBe('And then?')
  await reply.press('Enter')
  await part.pane.getByRole('button', { name: 'Send (two other runs are active)' }).waitFor()
  expect(await reply.inputValue()).toBe('And then?')
  await openPrompt(part, 'third')
  await part.pane.getByRole('button', { name: /^Stop/ }).click()
  await part.waitFor('Stopped')
  await openPrompt(part, 'plain')
  server.fake.enqueue({ text: 'The end.' })
  await reply.press('Enter')
  await expectAnswer(part, 'An answer.\n\nThe end.')
  expect(await reply.inputValue()).toBe('')
})
