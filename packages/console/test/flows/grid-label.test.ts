/** Answers are labeled, and what is expected of them is written, by keyboard alone. */
import { beforeAll, expect, it } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import {
  addRows,
  experimentEnd,
  fillExamples,
  runExperiment,
  shortText,
  startExperiment,
  type Tried,
} from '../support/experiment.ts'
import { keysOf } from '../support/keys.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer
let tried: Tried
let experiment: string
/** One arm over 30 rows. */
let many: string

beforeAll(async () => {
  server = await sharedServer({ reply: shortText })
  tried = await fillExamples(server, { hasChecks: false })
  experiment = await runExperiment(server, tried)
  await addRows(server, tried, 30)
  many = await startExperiment(server, { arms: [{ versionUuid: tried.draft }], tag: 'many', concurrency: 16 })
})

const expectedOf = async (name: string) => {
  const path = `/projects/${server.project.id}/examples?documentUuid=${tried.documentUuid}`
  const examples = await server.read<{ name: string; expected: unknown; tags: string[] }[]>(path)
  return examples.find((example) => example.name === name)
}

it('labels every answer, saves one as expected, undoes it, and labels 30 rows', async () => {
  const address = `/p/${server.project.id}/experiments/${experiment}`
  // Thirty labels within a second may reach the key's limit of requests. Those refused are sent again.
  const { page } = await browser.open(server, address, { allow: /40[49] .*\/examples\/|status of 429/ })
  const keys = keysOf(page)
  const grid = page.getByRole('grid')
  await page.getByText('No answer is scored.').waitFor()
  const cell = (row: number, arm: number) => grid.locator(`[data-cell="${row}-${arm}"]`)
  await keys.tabTo(cell(0, 1))
  // The draft forgets the refund, and live the invoice.
  await keys.press('n', 'ArrowLeft', 'y', 'ArrowDown', 'n', 'ArrowRight', 'y', 'ArrowDown', 'y', 'ArrowLeft', 'y')
  const counts = page.getByRole('group', { name: 'Rows' })
  await counts.getByRole('button', { name: '1 broke' }).waitFor()
  await counts.getByRole('button', { name: '1 fixed' }).waitFor()
  await page.getByText('6 labels by people').waitFor()
  await keys.expectFocus(cell(2, 0))
  await keys.press('n')
  await counts.getByRole('button', { name: '2 fixed' }).waitFor()
  await keys.press('z')
  await counts.getByText('1 same').waitFor()

  await keys.press('s')
  await expect.poll(async () => (await expectedOf('thanks'))?.expected).toBe('You are welcome.')
  const shown = grid.getByText('Expected: You are welcome.')
  await shown.waitFor()
  // An undo that fails says so, and can be repeated once: the next undo is that of the label before.
  const refuse = (status: number, name: string, message: string) =>
    page.route('**/examples/*', (route) => route.fulfill({ status, json: { name, errorCode: name, message } }), {
      times: 1,
    })
  await refuse(409, 'ConflictError', 'Busy')
  await keys.press('z')
  await page.getByText('Could not restore the expected of thanks. Busy').waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await shown.waitFor({ state: 'detached' })
  await expect.poll(async () => (await expectedOf('thanks'))?.expected).toBe(null)
  await keys.expectFocus(cell(2, 0))
  await keys.press('z')
  await page.getByText('5 labels by people').waitFor()
  await keys.press('e')
  await page.getByLabel('Expected of thanks').waitFor()
  await keys.type('welcome')
  await keys.press('Enter')
  await expect.poll(async () => (await expectedOf('thanks'))?.expected).toBe('welcome')
  await keys.expectFocus(cell(2, 0))
  // Nothing can be restored in a row that is gone.
  await refuse(404, 'NotFoundError', 'Gone')
  await keys.press('z')
  await page.getByText('Could not restore the expected of thanks. Gone').waitFor()
  expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
  await keys.press('z')
  await page.getByText('4 labels by people').waitFor()
  expect((await expectedOf('thanks'))?.expected).toBe('welcome')
  await keys.press('t')
  await page.getByLabel('Tags of thanks').waitFor()
  await keys.type('must')
  await keys.press('Enter')
  await grid.getByText('must', { exact: true }).waitFor()

  await experimentEnd(server, many)
  await page.goto(server.address(`/p/${server.project.id}/experiments/${many}`))
  await page.getByText('30 answers').waitFor()
  await keys.tabTo(cell(0, 0))
  for (let row = 0; row < 30; row += 1) await keys.press(row % 3 === 0 ? 'n' : 'y', 'ArrowDown')
  await page.getByText('30 labels by people').waitFor()
  await keys.expectFocus(cell(29, 0))
  // A label can be removed, and put back.
  const removal = page.waitForRequest((request) => request.method() === 'DELETE')
  await keys.press('x')
  await page.getByText('29 labels by people').waitFor()
  const last = cell(29, 0).getByText('Checks: not scored')
  await last.waitFor()
  await keys.press('z')
  await last.waitFor({ state: 'detached' })
  await page.getByText('30 labels by people').waitFor()
  // The first label of a cell is undone by removing it, also if it was removed elsewhere.
  const { pathname } = new URL((await removal).url())
  const elsewhere = await server.api('DELETE', pathname.slice(pathname.indexOf('/conversations/')))
  expect(elsewhere.body).toMatchObject({ deleted: 1 })
  await keys.press('z')
  await page.getByText('29 labels by people').waitFor()
  await keys.press('z')
  await page.getByText('28 labels by people').waitFor()
})
