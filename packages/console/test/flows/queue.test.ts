/** Answers that wait for a label, one at a time and by keyboard alone. */
import { beforeAll, expect, it } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { keysOf } from '../support/keys.ts'
import { frontMatter } from '../support/run-part.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer
let evaluation: string

beforeAll(async () => {
  server = await sharedServer({ reply: `${frontMatter()}Answer {{ ticket }}` })
  const body = {
    projectId: server.project.id,
    name: 'Rude',
    configuration: { criteria: 'Is it rude?', reverseScale: true },
  }
  evaluation = String((await server.api('POST', '/evaluations', { body: { ...body, metric: 'binary' } })).body['uuid'])
  for (const ticket of ['first', 'second', 'third']) {
    server.fake.enqueue({ text: `About the ${ticket}.` })
    const run = { path: 'reply', parameters: { ticket }, tags: ticket === 'first' ? ['rude'] : [] }
    await server.api('POST', `${server.project.live}/documents/run`, { body: run })
  }
})

interface Found {
  conversationUuid: string
  tags: string[]
  parameters: { ticket: string }
  note: { text: string } | null
}

const runOf = async (ticket: string): Promise<Found> => {
  const { items } = await server.read<{ items: { uuid: string }[] }>(`/projects/${server.project.id}/runs`)
  const runs = await Promise.all(items.map(({ uuid }) => server.read<Found>(`/runs/${uuid}`)))
  const found = runs.find(({ parameters }) => parameters.ticket === ticket)
  if (!found) throw new Error(`No run of ${ticket}`)
  return found
}

it('labels, tags and notes answers, and goes back to one', async () => {
  const { page } = await browser.open(server, `/p/${server.project.id}/queue/${evaluation}`, { allow: /404/ })
  const keys = keysOf(page)
  const answer = page.getByRole('region', { name: 'Answer' })
  const progress = (text: string) => page.getByText(text, { exact: true }).waitFor()
  await page.getByText('Is it rude?').waitFor()
  // A queue that could not be read can be asked for again.
  const refusal = { status: 404, json: { name: 'NotFoundError', errorCode: 'NotFoundError', message: 'Gone' } }
  await page.route(/\/queue\?/, (route) => route.fulfill(refusal), { times: 1 })
  await page.reload()
  await page.getByText('The queue could not be loaded. Gone').waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await answer.getByText('About the third.').waitFor()
  await keys.press('y')
  await progress('1 labeled · answer 1 of 3')
  // On a reversed scale, 0 is right.
  const annotations = `/conversations/${(await runOf('third')).conversationUuid}/annotations`
  expect(await server.read<object>(annotations)).toMatchObject([{ score: 0, hasPassed: true }])
  await keys.press('Enter')
  await answer.getByText('About the second.').waitFor()
  await keys.press('n', '1')
  await expect.poll(async () => (await runOf('second')).tags).toEqual(['rude'])
  await page.getByRole('button', { name: 'Note' }).focus()
  await keys.press('c')
  await page.getByLabel('What is wrong with the answer').waitFor()
  await keys.type('Too short')
  await keys.press('Enter')
  await keys.type('and rude')
  await keys.tabTo(page.getByRole('dialog').getByRole('button', { name: 'Save' }))
  await keys.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const note = page.getByText('Too short and rude')
  expect(await note.evaluate((it) => getComputedStyle(it).whiteSpace)).toBe('pre-wrap')
  await keys.expectFocus(page.getByRole('button', { name: 'Edit the note' }))
  await keys.press('z')
  await answer.getByText('About the third.').waitFor()
  expect(await page.getByRole('button', { name: 'Right' }).getAttribute('aria-pressed')).toBe('true')
  // A label is removed, and given again.
  await keys.press('x')
  await progress('1 labeled · answer 1 of 3')
  await keys.press('y')
  await progress('2 labeled · answer 1 of 3')
  // Enter would press the button that has the focus.
  await page.getByRole('button', { name: 'Next' }).focus()
  await keys.press('Enter', 'Enter')
  await answer.getByText('About the first.').waitFor()
  await keys.press('y')
  await progress('3 labeled · answer 3 of 3')
  await keys.press('Enter')
  await page.getByText('You have labeled 3 answers.').waitFor()
  // Labeled answers do not wait any more.
  await page.reload()
  await page.getByText('No answer waits for a label.').waitFor()
})
