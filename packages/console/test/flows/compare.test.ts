/** Several arms run with the same inputs. */
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { editorOf } from '../support/editor-page.ts'
import { frontMatter, openRun } from '../support/run-part.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer
const topic = 'the “sea”,\n  and {{ nothing }} \u00e9'
const answers = ['The sea is blue.', 'The sea is deep.', 'The sea is wide.', 'The sea is cold.']

beforeAll(async () => {
  server = await sharedServer({ plain: `${frontMatter()}Say something about {{ topic }}` })
})
beforeEach(() => server.fake.clear())

interface StoredRun {
  parameters: unknown
  overrides: unknown
  mode: string
  versionUuid: string
}

it('runs four arms with the same inputs, two of them as they arrive, and shows the same after a reload', async () => {
  const part = await openRun(browser, server, 'plain', { search: '' })
  const { page, pane } = part
  const editor = editorOf(page)
  await editor.ready()
  const streams: string[] = []
  page.on('request', (request) => request.url().endsWith('/attach') && streams.push(request.url()))
  const arm = (number: number) => pane.getByRole('article', { name: `Arm ${number}`, exact: true })
  const answerOf = (number: number) => arm(number).locator('[data-answer]')
  await part.input('topic').fill(topic)
  for (const last of [2, 3, 4]) {
    await page.keyboard.press('Control+Shift+Enter')
    await arm(last).waitFor()
  }
  await pane.getByRole('button', { name: 'Add an arm (four arms at most)' }).waitFor()
  await arm(2).getByLabel('Version').selectOption('live')
  await arm(3).getByLabel('Model').fill('gpt-4.1-mini')
  await arm(4).getByText('More settings').click()
  await arm(4).getByLabel('Temperature').fill('0.5')

  const gate = Promise.withResolvers<void>()
  server.fake.enqueue(...answers.map((text) => ({ deltas: text.split(/(?<= )/), gate: gate.promise, gateAfter: 2 })))
  await page.keyboard.press('Control+Enter')
  await expect.poll(() => pane.locator('[data-answer]').allTextContents()).toEqual(['The sea ', 'The sea '])
  expect(await pane.getByText('Two other runs are shown as they arrive', { exact: false }).count()).toBe(2)
  expect(streams).toHaveLength(2)
  gate.resolve()
  for (const number of [1, 2, 3, 4]) await arm(number).getByText('Completed', { exact: true }).waitFor()

  const runs = (): { run: string }[] => JSON.parse(new URL(page.url()).searchParams.get('arms') ?? '[]')
  await expect.poll(() => runs().filter(({ run }) => run)).toHaveLength(4)
  const stored = await Promise.all(runs().map(({ run }) => server.read<StoredRun>(`/runs/${run}`)))
  expect(stored.map(({ parameters }) => JSON.stringify(parameters))).toEqual(Array(4).fill(JSON.stringify({ topic })))
  expect(stored.map(({ mode }) => mode)).toEqual(Array(4).fill('background'))
  expect(stored.map(({ overrides }) => overrides)).toEqual([
    null,
    null,
    { model: 'gpt-4.1-mini' },
    { temperature: 0.5 },
  ])
  const shown = await Promise.all([1, 2, 3, 4].map((number) => answerOf(number).textContent()))
  expect(shown.toSorted()).toEqual(answers.toSorted())
  await expect.poll(() => arm(2).locator('dl').textContent()).toMatch(/Tokens12 in · 8 out ±0%/)
  await expect.poll(() => arm(3).locator('dl').textContent()).toMatch(/Cost\$0\.0\d+ (\+\d+%|×\d+)/)
  await arm(2).getByRole('link', { name: 'Open run' }).waitFor()

  await page.reload()
  for (const [at, text] of shown.entries()) await expect.poll(() => answerOf(at + 1).textContent()).toBe(text)
  expect(await arm(4).getByLabel('Temperature').inputValue()).toBe('0.5')
  await pane.getByLabel('Difference to the first').check()
  await expect.poll(() => arm(2).locator('ins').textContent()).toBe(/(\w+)\.$/.exec(shown[1] ?? '')?.[1])
  expect(await answerOf(1).textContent()).toBe(shown[0])

  await arm(3).getByRole('button', { name: 'Keep these settings' }).click()
  await expect.poll(async () => (await editor.lines()).slice(0, 4)).toContain('model: gpt-4.1-mini')
  // The text of the live version goes into a draft, and the answers stay.
  await page.waitForURL((url) => !url.pathname.includes('/live/'))
  expect(await answerOf(1).textContent()).toBe(shown[0])
  await arm(2).getByRole('button', { name: 'Remove arm 2' }).click()
  await arm(4).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => answerOf(2).textContent()).toContain(shown[1]?.slice(0, 7))
  expect(await arm(4).getByLabel('Temperature').inputValue()).toBe('0.5')
  await arm(2).getByRole('button', { name: 'Remove arm 2' }).click()
  await pane.getByRole('button', { name: 'End the comparison' }).click()
  await pane.getByText('Fill in the inputs, then press Run').waitFor()
  await expect.poll(() => new URL(page.url()).searchParams.has('arms')).toBe(false)
})
