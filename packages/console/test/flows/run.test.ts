/** Inputs, a run with its output and figures, chat and failures. */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { consoleBrowser, isLong, rarely } from '../support/browser.ts'
import { editorOf } from '../support/editor-page.ts'
import { expectAnswer, frontMatter, openRun } from '../support/run-part.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const words = (count: number) => Array.from({ length: count }, (_, at) => `word${at}`).join(' ')
const kinds = `parameters:
  ticket: { type: text, required: true, description: What the customer wrote }
  urgency: { type: number, default: 3 }
  polite: { type: boolean }
  order: { type: object }
  photo: { type: image }
`

beforeAll(async () => {
  server = await sharedServer({
    reply: `${frontMatter(kinds)}{{ ticket }}|{{ urgency }}|{{ polite }}|{{ order.id }}|{{ free }}<user><content-image>{{ photo }}</content-image></user>`,
    plain: `${frontMatter()}Say something about {{ topic }}`,
    json: `${frontMatter('schema: { type: object, properties: { city: { type: string } } }\n')}Which city?`,
    chain: `${frontMatter()}<step>One</step>\n<step>Two</step>`,
    includes: `${frontMatter()}<prompt path="broken" name={{ name }} />`,
    broken: `${frontMatter()}Hello\n{{ name.first.letter }}`,
  })
})
beforeEach(() => server.fake.clear())

describe('inputs', () => {
  it('marks what is missing or does not fit at its field, and sends nothing', async () => {
    const part = await openRun(browser, server, 'reply')
    const sent: string[] = []
    part.page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
    await part.input('order').fill('{"id": ')
    await part.run()
    await part.pane.getByText('The prompt requires this input.').waitFor()
    await part.pane.getByText('This is not JSON', { exact: false }).waitFor()
    // The first of them has the focus. Typing there takes its mark away.
    await part.page.keyboard.type('x')
    await expect.poll(() => part.input('ticket').getAttribute('aria-invalid')).toBe(null)
    expect(await part.input('ticket').inputValue()).toBe('x')
    expect(await part.announcement()).toBe('The run has not started. Correct order first.')
    expect(sent).toEqual([])

    const buffer = Buffer.alloc(3 * 1024 * 1024)
    await part.pane.getByLabel('File for photo').setInputFiles({ name: 'big.png', mimeType: 'image/png', buffer })
    await part.pane.getByText('big.png is 3.0 MB. A run accepts files up to 2.3 MB.').waitFor()
  })

  it('keeps all inputs over a reload', async () => {
    const part = await openRun(browser, server, 'reply')
    await part.input('ticket').fill('kept')
    await part.input('urgency').fill('7')
    await part.pane.getByRole('button', { name: 'free as JSON' }).click()
    await part.input('free').fill('["half')
    await part.page.reload()
    await expect.poll(() => part.input('ticket').inputValue()).toBe('kept')
    expect(await part.input('urgency').inputValue()).toBe('7')
    expect(await part.input('free').inputValue()).toBe('["half')
  })

  rarely('moves an input to the new name of its parameter', async () => {
    const part = await openRun(browser, server, 'plain', { search: '' })
    const editor = editorOf(part.page)
    await editor.ready()
    await part.input('topic').fill('the sea')
    const write = async (text: string) => {
      await editor.content.focus()
      await part.page.keyboard.press('Control+a')
      await part.page.keyboard.insertText(text)
      await part.page.keyboard.press('Control+s')
      await editor.becomes(/^Saved/)
    }
    await write('Tell me about {{ subject }}')
    await expect.poll(() => part.input('subject').inputValue()).toBe('the sea')
    await write('Tell me about {{ subject')
    await write('Tell me about {{ place }}')
    await expect.poll(() => part.input('place').inputValue()).toBe('the sea')
  })

  it('fills in pasted JSON, with undo, and sends a large text and a file', async () => {
    const part = await openRun(browser, server, 'reply')
    const items = Array.from({ length: 30_000 }, (_, at) => at)
    await part.pane.getByRole('button', { name: 'free as JSON' }).click()
    await part.input('free').fill('["half')
    await part.pane.getByRole('button', { name: 'Paste JSON' }).click()
    const field = part.pane.getByLabel('All inputs as JSON')
    await field.fill('{"nothing": 1}')
    await part.pane.getByRole('button', { name: 'Fill in' }).click()
    await part.pane.getByText('The prompt has no input with the name nothing.').waitFor()
    await field.fill('{"ticket": "pasted", "urgency": null, "free": [1, 2]}')
    await part.pane.getByRole('button', { name: 'Fill in' }).click()
    expect(JSON.parse(await part.input('free').inputValue())).toEqual([1, 2])
    await part.page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => part.input('free').inputValue()).toBe('["half')
    await part.input('free').fill('1')
    await part.input('ticket').fill('x')
    await part.pane.getByLabel('File for photo').setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: png })
    await part.input('order').evaluate(
      (field, text) => {
        const clipboardData = new DataTransfer()
        clipboardData.setData('text', text)
        field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
      },
      JSON.stringify({ id: 1, items }),
    )
    await part.pane.getByText('long text').waitFor()
    const sent = part.page.waitForRequest((request) => request.url().endsWith('/documents/run'))
    await part.run()
    const dataUrl = `data:image/png;base64,${png.toString('base64')}`
    const parameters = { ticket: 'x', order: { id: 1, items }, free: 1, photo: dataUrl }
    expect((await sent).postDataJSON().parameters).toEqual(parameters)
    await part.waitFor('Completed')
  })
})

describe('a run', () => {
  it('shows words as they arrive, then figures and the conversation', async () => {
    const part = await openRun(browser, server, 'plain')
    const gate = Promise.withResolvers<void>()
    server.fake.enqueue({ text: words(40), gate: gate.promise, gateAfter: 20 })
    await part.page.keyboard.press('Control+Enter')
    await expectAnswer(part, words(20))
    expect(await part.announcement()).toBe('The run has started')
    expect(await part.page.title()).toBe('▸ plain · stet')
    expect(await part.page.locator('link[rel=icon][href*=mark-running]').count()).toBe(1)
    gate.resolve()
    await part.waitFor('Completed')
    await expectAnswer(part, words(40))
    expect(await part.announcement()).toBe('The run has ended with 40 words')
    const facts = await part.facts()
    expect(facts).toContain('gpt-4o-mini')
    expect(facts).toContain('12 in · 8 out')
    expect(facts).toMatch(/Cost \$0\.0000\d/)
    const uuid = (await part.pane.locator('[data-conversation]').textContent()) ?? ''
    const link = part.pane.getByRole('link', { name: 'Open run' })
    expect(await link.getAttribute('href')).toContain(`runs/${uuid}`)
    const conversation = await server.api('GET', `/conversations/${uuid}`)
    expect(conversation.body).toMatchObject({ status: 'completed' })
  })

  it.each(isLong ? [360, 1440] : [360])(
    'moves nothing while its figures arrive, in a window of %i pixels',
    async (width) => {
      const part = await openRun(browser, server, 'plain', { width })
      const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      let passed = 0
      server.fake.enqueue({
        text: words(12),
        usage: { prompt_tokens: 123_456, completion_tokens: 23_456, total_tokens: 146_912 },
        get gate() {
          return gates[passed]?.promise ?? Promise.resolve()
        },
        get gateAfter() {
          return [0, 6][passed] ?? 12
        },
      })
      const boxes = () =>
        part.pane.locator('dl, dl > div, dl dd, [role=tab], [role=tabpanel]').evaluateAll((all) =>
          all.map((one) => {
            const { x, y, width } = one.getBoundingClientRect()
            return [one.localName, x, y, width].join(' ')
          }),
        )
      await part.run()
      await part.pane.getByText('Waiting for the first token').waitFor()
      const before = await boxes()
      expect(before).toHaveLength(1 + 5 * 2 + 2 + 1)
      const isShown = (fact: RegExp) => expect.poll(() => part.facts()).toMatch(fact)
      // The clock of the machine may be set meanwhile.
      await part.page.evaluate(() => {
        const inAnHour = Date.now() + 3_600_000
        Date.now = () => inAnHour
      })
      await isShown(/Time \d+\.\d s/)
      expect(await boxes()).toEqual(before)
      passed += 1
      gates[0]?.resolve()
      await expectAnswer(part, words(6))
      await isShown(/First token \d/)
      expect(await boxes()).toEqual(before)
      passed += 1
      gates[1]?.resolve()
      await part.waitFor('Completed')
      await isShown(/Answered by gpt-4o-mini.*123,456 in · 23,456 out, Cost \$0\.\d/)
      expect(await boxes()).toEqual(before)
    },
  )

  it('shows each step, and the JSON of an object', async () => {
    const part = await openRun(browser, server, 'chain')
    server.fake.enqueue({ text: 'first' }, { text: 'second' })
    await part.run()
    await part.waitFor('Completed')
    await expectAnswer(part, 'first\n\nsecond')
    expect(await part.pane.getByText(/^Step \d of 2/).count()).toBe(2)
    const other = await openRun(browser, server, 'json')
    server.fake.enqueue({ object: { city: 'Ghent' } })
    await other.run()
    await other.waitFor('Completed')
    await other.pane.getByRole('tab', { name: 'JSON' }).click()
    expect(await other.pane.getByRole('tabpanel').textContent()).toContain('"city": "Ghent"')
  })

  it('gives a reply back that was refused, also after a reload, so that it can be sent again', async () => {
    const ana = await server.newKey(['read', 'run'], { name: 'Ana', email: 'ana@example.com' })
    const leo = await server.newKey(['read', 'run'], { name: 'Leo', email: 'leo@example.com' })
    const part = await openRun(browser, server, 'plain', { key: ana, allow: /ERR_FAILED|Failed to fetch/ })
    server.fake.enqueue({ text: 'Blue.' }, { text: 'Blau.' })
    await part.input('topic').fill('the sky')
    await part.run()
    await part.waitFor('Completed')
    await part.page.route('**/chat', (route) => route.abort())
    const reply = part.pane.getByLabel('Reply')
    await reply.fill('And in German?')
    await reply.press('Enter')
    await part.waitFor('Failed')
    await expect.poll(() => reply.inputValue()).toBe('And in German?')
    await part.page.route('**/runs/*', (route) => route.abort())
    await part.page.reload()
    await part.waitFor('Failed')
    await expect.poll(() => reply.inputValue()).toBe('And in German?')
    await part.page.unroute('**/runs/*')
    await part.pane.getByRole('button', { name: 'Reconnect' }).click()
    await expectAnswer(part, 'Blue.')
    // The address shows the answer to everyone of the project. The reply belongs to its author.
    const signIn = async (apiKey: string) => {
      const request = { data: { apiKey }, headers: { 'X-Stet-Console': '1' } }
      await part.context.request.post(server.address('/console/session'), request)
      await part.page.reload()
      await expectAnswer(part, 'Blue.')
    }
    await signIn(leo)
    await expect.poll(() => reply.inputValue()).toBe('')
    await signIn(ana)
    await expect.poll(() => reply.inputValue()).toBe('And in German?')
    await part.page.unroute('**/chat')
    await reply.press('Enter')
    await part.waitFor('Completed')
    await expectAnswer(part, 'Blue.\n\nBlau.')
    expect(await part.pane.getByText('You', { exact: true }).count()).toBe(1)
  })
})

describe('a failure', () => {
  it("keeps the partial output, and shows the provider's own words", async () => {
    const part = await openRun(browser, server, 'plain')
    server.fake.enqueue({ text: words(10), cut: 5 })
    await part.run()
    await part.waitFor('Failed')
    await expectAnswer(part, words(5))
    expect(await part.pane.getByText('ai_run_error').isVisible()).toBe(false)
    await part.pane.getByText('Details', { exact: true }).click()
    await part.pane.getByText('ai_run_error').waitFor()
    const message = 'The model is overloaded, ask again on Tuesday.'
    server.fake.enqueue({ status: 400, body: { error: { message, type: 'invalid_request_error' } } })
    await part.run()
    await part.pane.getByText(message, { exact: true }).waitFor()
    expect(await part.announcement()).toContain('The run failed after 0 words')
  })

  it('names the line, also of another prompt, and leads to it', async () => {
    const part = await openRun(browser, server, 'includes', { allow: /422/, search: '' })
    await part.run()
    await part.waitFor('Failed')
    await part.pane.getByRole('button', { name: /^broken, line 6/ }).click()
    const editor = part.page.getByRole('textbox', { name: /^Text of broken/ })
    await editor.waitFor()
    await expect.poll(() => editor.locator('.cm-activeLine').textContent()).toBe('{{ name.first.letter }}')
  })
})
