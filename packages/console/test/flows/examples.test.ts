/** Named inputs: choose, save, update, delete. */
import { beforeAll, expect, it } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { frontMatter, openRun } from '../support/run-part.ts'
import { type ConsoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
let server: ConsoleServer
let documentUuid: string

beforeAll(async () => {
  server = await sharedServer({
    reply: `${frontMatter('parameters:\n  ticket: { type: text }\n  urgency: { type: number }\n')}{{ ticket }} {{ urgency }}`,
  })
  const document = await server.api('GET', `${server.project.live}/documents/reply`)
  documentUuid = String(document.body['documentUuid'])
})

async function stored() {
  const path = `/projects/${server.project.id}/examples?documentUuid=${documentUuid}`
  const examples = await server.read<{ name: string; parameters: object }[]>(path)
  return examples.map(({ name, parameters }) => ({
    name,
    parameters,
  }))
}

it('saves an example under a name that is free, and keeps the inputs', async () => {
  const part = await openRun(browser, server, 'reply', { allow: /status of 409/ })
  await part.input('ticket').fill('Where is it?')
  await part.input('urgency').fill('3')
  const saveAs = async (name: string) => {
    await part.pane.getByLabel('Name of the example').fill(name)
    await part.pane.getByLabel('Name of the example').press('Enter')
  }
  await part.pane.getByRole('button', { name: 'Save', exact: true }).click()
  await saveAs('Late order')
  await expect.poll(stored).toEqual([{ name: 'Late order', parameters: { ticket: 'Where is it?', urgency: 3 } }])
  await part.pane.getByRole('button', { name: 'Save as another' }).click()
  await saveAs('Late order')
  await part.pane.getByText('Another example has this name.').waitFor()
  await part.input('ticket').fill('Thank you!')
  await saveAs('Happy')
  await part.pane.getByLabel('Name of the example').waitFor({ state: 'detached' })
  // The inputs were not replaced by those of the example before.
  expect(await part.input('ticket').inputValue()).toBe('Thank you!')
  await part.pane.getByLabel('Example', { exact: true }).selectOption('Late order')
  await expect.poll(() => part.input('ticket').inputValue()).toBe('Where is it?')
})

it('opens with the example of the address, and keeps what was typed since over a reload', async () => {
  const made = await server.api('POST', `/projects/${server.project.id}/examples`, {
    body: { documentUuid, name: 'By address', parameters: { ticket: 'from the address', urgency: 9 } },
  })
  const part = await openRun(browser, server, 'reply', { search: `tab=run&example=${made.body['uuid']}` })
  await expect.poll(() => part.input('ticket').inputValue()).toBe('from the address')
  await part.input('ticket').fill('changed since')
  await part.page.reload()
  await expect.poll(() => part.input('ticket').inputValue()).toBe('changed since')
  expect(await part.input('urgency').inputValue()).toBe('9')
})

it('sends the messages of an example, and updates its values only when all fields can be read', async () => {
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'Please be brief.' }] }]
  const made = await server.api('POST', `/projects/${server.project.id}/examples`, {
    body: { documentUuid, name: 'Old', parameters: { ticket: 'a', urgency: 9, legacy: 'kept' }, messages },
  })
  const read = async (name: string) => (await stored()).find((example) => example.name === name)?.parameters
  const part = await openRun(browser, server, 'reply', { search: `tab=run&example=${made.body['uuid']}` })
  await expect.poll(() => part.input('ticket').inputValue()).toBe('a')
  await part.run()
  await part.waitFor('Completed')
  expect(JSON.stringify(server.fake.requests.at(-1)?.body)).toContain('Please be brief.')

  await part.input('ticket').fill('b')
  await part.input('urgency').fill('soon')
  await part.pane.getByRole('button', { name: 'Update (Correct urgency first.)' }).waitFor()
  await part.input('urgency').fill('')
  await part.pane.getByRole('button', { name: 'Update', exact: true }).click()
  await expect.poll(() => read('Old')).toEqual({ ticket: 'b', legacy: 'kept' })
})
