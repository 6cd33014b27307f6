/** Examples run with two versions: what the draft breaks and fixes. */
import { beforeAll, expect, it } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import {
  addRows,
  answerRuns,
  csvRows,
  experimentEnd,
  fillExamples,
  shortText,
  startExperiment,
  type Tried,
} from '../support/experiment.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer
let tried: Tried

beforeAll(async () => {
  server = await sharedServer({ reply: shortText })
  tried = await fillExamples(server, { hasRows: false })
})

it('imports rows, asks before a run of unknown cost, shows what broke, and of 200 rows those in view', async () => {
  const { page } = await browser.open(server, `${server.promptAddress('reply', tried.draft)}?tab=examples`)
  // From a file to the first line in six actions, without a page of documentation.
  await page.getByRole('button', { name: 'Import CSV' }).click()
  const importing = page.getByRole('dialog', { name: 'Import examples' })
  await importing.getByLabel('File').setInputFiles(csvRows)
  await importing.getByLabel('An answer passes if it').selectOption('contains what is expected')
  await importing.getByRole('button', { name: 'Save 3 rows' }).click()
  await page.getByRole('button', { name: 'Edit the name of late' }).waitFor()
  answerRuns(server, 6)
  const dialog = page.getByRole('dialog', { name: 'Run 3 rows' })
  const asked = async () => {
    await page.keyboard.press('Control+Shift+Enter')
    await dialog.getByText('6 runs, cost unknown').waitFor()
    return dialog.getByLabel('Version').evaluateAll((all) => all.map((one) => (one as HTMLSelectElement).value))
  }
  expect(await asked()).toEqual(['live', tried.draft])
  await page.goto(`${server.promptAddress('reply')}?tab=examples`)
  await page.getByRole('button', { name: 'Edit the name of late' }).waitFor()
  expect(await asked()).toEqual(['live', tried.draft])
  await dialog.getByRole('button', { name: 'Run all' }).click()

  const counts = page.getByRole('group', { name: 'Rows' })
  await counts.getByRole('button', { name: '1 broke (1 must)' }).waitFor()
  await counts.getByRole('button', { name: '1 fixed' }).waitFor()
  await counts.getByText('1 same').waitFor()
  await page.getByText('6 answers').waitFor()
  const grid = page.getByRole('grid')
  expect(await grid.locator('[data-line]').count()).toBe(3)
  // The address has the result, and the answer of a model is formatted.
  await page.reload()
  await grid.locator('strong', { hasText: 'invoice' }).waitFor()

  await counts.getByRole('button', { name: '1 broke' }).click()
  await expect.poll(() => grid.locator('[data-line]').count()).toBe(1)
  await grid.getByRole('rowheader', { name: 'late' }).waitFor()
  await grid.getByText('Checks: fails').waitFor()
  await page.keyboard.press('d')
  await expect.poll(() => grid.locator('ins').allTextContents()).toContain('We are very sorry')

  await grid.getByRole('gridcell').last().focus()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Enter')
  await page.getByText('You get a refund.').waitFor()
  await page.waitForURL(/\/runs\//)

  // The budget already spent must not stop the resumed experiment at once.
  const spent = await startExperiment(server, { arms: [{ versionUuid: 'live' }], budgetUsd: 0.000001, concurrency: 1 })
  await experimentEnd(server, spent)
  await page.goto(server.address(`/p/${server.project.id}/experiments/${spent}`))
  await page.getByText('1 of 3 answers').waitFor()
  await page.getByRole('button', { name: /^Resume with a budget of/ }).click()
  await page.getByText('2 of 3 answers').waitFor()
  await page.getByText('It was stopped because it reached its budget.').waitFor()

  // Of a large experiment, only what is near the view is read, read again and rendered.
  await addRows(server, tried, 200)
  const models = ['gpt-4o-mini', 'gpt-4.1-mini', 'gpt-4.1', 'gpt-4o']
  const arms = models.map((model) => ({ versionUuid: 'live', overrides: { model } }))
  const large = await startExperiment(server, { arms, tag: 'many', maxRuns: 800, concurrency: 1 })
  const read: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname.endsWith('/items')) read.push(search)
  })
  await page.goto(server.address(`/p/${server.project.id}/experiments/${large}`))
  const lines = grid.locator('[data-line]')
  await lines.first().waitFor()
  await expect.poll(() => read.length).toBeGreaterThan(3)
  // One page ahead is read once.
  expect([...new Set(read)].toSorted()).toEqual(['?limit=20', '?limit=20&cursor=19'])
  expect(read.filter((search) => search.includes('cursor'))).toHaveLength(1)
  expect(await lines.count()).toBeLessThanOrEqual(20)
  expect(await grid.getAttribute('aria-rowcount')).toBe('201')
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('It was stopped.').waitFor()
  // The last page is reached by scrolling, and what was above it is rendered no more.
  await expect
    .poll(async () => {
      await page.mouse.wheel(0, 4000)
      return grid.getByRole('rowheader', { name: 'row 200 ' }).count()
    })
    .toBe(1)
  expect(await lines.count()).toBeLessThanOrEqual(20)
  expect(new Set(read).size).toBe(10)
  expect(await grid.locator('*').count()).toBeLessThan(1_000)
  // Nothing is read after the end.
  const before = read.length
  await page.clock.install()
  await page.clock.runFor(60_000)
  expect(read.length).toBe(before)
})
