/** The tab Examples: rows from a spreadsheet, edited in their place. */
import { beforeAll, expect, it } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { frontMatter } from '../support/run-part.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer
let documentUuid: string

beforeAll(async () => {
  const inputs = 'parameters:\n  ticket: { type: text }\n  urgency: { type: number }\n'
  server = await sharedServer({ reply: `${frontMatter(inputs)}{{ ticket }} {{ urgency }}` })
  documentUuid = String((await server.api('GET', `${server.project.live}/documents/reply`)).body['documentUuid'])
})

interface Stored {
  name: string
  parameters: unknown
  expected: unknown
  tags: string[]
}

const stored = async () => {
  const path = `/projects/${server.project.id}/examples?documentUuid=${documentUuid}`
  const examples = await server.read<Stored[]>(path)
  return examples.map(({ name, parameters, expected, tags }) => [name, parameters, expected, tags])
}

it('pastes rows, refuses what is no row, and edits a cell where it is', async () => {
  const { page } = await browser.open(server, `/p/${server.project.id}/v/live/prompts/reply?tab=examples`, {
    allow: /status of 409/,
  })
  await page.getByText('Examples show what a change breaks and fixes.').waitFor()
  await page.getByRole('button', { name: 'Import CSV' }).click()
  const dialog = page.getByRole('dialog', { name: 'Import examples' })
  const cells = dialog.getByLabel('Cells')
  await cells.fill('ticket\turgency\nLate\tsoon')
  await dialog.getByText('Line 2, urgency: This is not a number: soon').waitFor()
  await dialog.getByRole('button', { name: 'Save (correct the cells first)' }).waitFor()
  await cells.fill(
    'name\tticket\turgency\texpected\ttags\nLate\tWhere is it?\t3\tOn its way\tmust\nHappy\t"Thanks,\nall"\t1\t\t',
  )
  await dialog.getByLabel('An answer passes if it').selectOption('contains what is expected')
  await dialog.getByRole('button', { name: 'Save 2 rows' }).click()
  await page.getByText('2 added, 0 changed, 0 as before').waitFor()
  await expect.poll(stored).toEqual([
    ['Late', { ticket: 'Where is it?', urgency: 3 }, 'On its way', ['must']],
    ['Happy', { ticket: 'Thanks,\nall', urgency: 1 }, null, []],
  ])

  await page.getByRole('button', { name: 'Edit the checks of Late: contains what is expected' }).waitFor()
  const cellOf = (label: string) => page.getByRole('button', { name: `Edit the ${label}` })
  await cellOf('expected of Happy').press('Enter')
  await page.getByLabel('Expected of Happy').fill('You are welcome')
  await page.keyboard.press('Enter')
  await cellOf('expected of Happy: You are welcome').waitFor()
  await page.getByRole('button', { name: 'Undo' }).first().click()
  await expect.poll(async () => (await stored())[1]?.[2]).toBe(null)

  // A check is filled in, and read in words.
  await cellOf('checks of Happy').click()
  const checks = page.getByRole('dialog', { name: 'Checks of Happy' })
  await checks.getByRole('button', { name: 'Add a check' }).click()
  await checks.getByRole('group', { name: 'Check 1', exact: true }).waitFor()
  await checks.getByLabel('Texts').fill('welcome\nthank')
  await checks.getByLabel('The answer').selectOption('contains one of')
  await checks.getByRole('button', { name: 'Save' }).click()
  await cellOf('checks of Happy: contains “welcome” or “thank”').waitFor()

  await page.getByRole('button', { name: 'Import CSV' }).click()
  await cells.fill('name,expected\nHappy,Welcome')
  await dialog.getByText('These rows keep the checks of their examples: Happy.').waitFor()
  await dialog.getByLabel('File').setInputFiles([])
  expect(await cells.inputValue()).toContain('Welcome')
  await dialog.getByRole('button', { name: 'Cancel' }).click()

  // A refused value stays open with the reason, and Escape leaves the cell as it was.
  await cellOf('name of Happy').click()
  await page.getByLabel('Name of Happy').fill('Late')
  await page.keyboard.press('Enter')
  await page.locator('[aria-invalid="true"]').waitFor()
  await page.keyboard.press('Escape')
  await cellOf('name of Happy').waitFor()

  await page.getByRole('button', { name: 'More for Late' }).click()
  await page.getByRole('menuitem', { name: 'Delete Late' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await cellOf('name of Late').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'More for Happy' }).click()
  await page.getByRole('menuitem', { name: 'Open in the run pane' }).click()
  await expect.poll(() => page.getByRole('textbox', { name: /^ticket/ }).inputValue()).toBe('Thanks,\nall')
})
