import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Stet } from '@stet/sdk'
import { beforeAll, expect, test } from 'vitest'
import { personIn, projectWith, server } from './support/shared-server.ts'
import { onTerminal, Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const enter = '\r'
const ctrlC = '\x03'
const prompts = {
  slow: '---\nprovider: openai\nmodel: m\n---\nTell.\n',
  echo: '---\nprovider: demo\nmodel: demo\nparameters:\n  ticket: { type: text, required: true }\n---\n<user>{{ ticket }}</user>\n',
}

let client: Stet
let id: number
beforeAll(async () => {
  ;({ client, id } = await projectWith(prompts))
})

const someone = () => personIn(id)

test('run asks for a missing parameter, and Ctrl-C at the question exits 2', async () => {
  const person = await someone()
  const asked = person.sitDown(['run', 'echo'])
  await asked.shows('ticket')
  asked.type(`The export is empty.${enter}`)
  expect(await asked.ended).toBe(0)
  expect(asked.screen).toContain('what you asked:')
  const left = person.sitDown(['run', 'echo'])
  await left.shows('ticket')
  left.type(ctrlC)
  expect(await left.ended).toBe(2)
})

test('a table has a header on a terminal', async () => {
  const { code, stdout } = await (await someone()).stet(['versions', 'list'], '', {}, { tty: onTerminal })
  expect(code).toBe(0)
  expect(stdout).toMatch(/STATUS {2,}NAME {2,}VERSION/)
  expect(stdout).toMatch(/merged +Initial version +1 live/)
})

test('login asks for the key without showing it', async () => {
  const person = new Person(await temporaryFolder(), server)
  const terminal = person.sitDown(['login'])
  await terminal.shows('API key')
  terminal.type(`${server.adminKey}${enter}`)
  expect(await terminal.ended).toBe(0)
  expect(terminal.screen).toContain('Logged in as key "admin"')
  expect(terminal.screen).not.toContain(server.adminKey)
})

test('init offers the projects on a terminal; elsewhere it lists them and exits 2', async () => {
  const person = new Person(await temporaryFolder(), server, { STET_API_KEY: server.adminKey })
  await mkdir(join(person.folder, '.git'))
  const listed = await person.stet(['init'])
  expect(listed).toMatchObject({ code: 2, stdout: '' })
  expect(listed.stderr).toContain('1  default')
  const terminal = person.sitDown(['init', '--no-pull'])
  await terminal.shows('Which project?')
  terminal.type(enter)
  expect(await terminal.ended).toBe(0)
  const config = JSON.parse(await readFile(join(person.folder, 'stet.config.json'), 'utf8'))
  expect((await client.projects.list()).map(({ id }) => id)).toContain(config.projectId)
})

test('publish asks for confirmation: after no nothing changes, after yes it publishes', async () => {
  const person = await someone()
  const { id } = (await client.projects.create('asked')).project
  await mkdir(join(person.folder, '.git'))
  await mkdir(join(person.folder, 'prompts'))
  await writeFile(join(person.folder, 'prompts', 'tone.promptl'), 'Be short.\n')
  const project = { STET_PROJECT_ID: String(id) }
  await person.stet(['init'], '', project)
  await person.stet(['push'], '', project)
  const refused = person.sitDown(['publish'], project)
  await refused.shows('Publish to live?')
  refused.type('n')
  expect(await refused.ended).toBe(2)
  expect(await client.project(id).versions.list({ status: 'merged' })).toEqual([])
  const agreed = person.sitDown(['publish'], project)
  await agreed.shows('Publish to live?')
  agreed.type('y')
  expect(await agreed.ended).toBe(0)
  expect(agreed.screen).toContain('Live is now v1')
})

test('diff uses the pager on a terminal, without a shell, and prints directly if there is none', async () => {
  const person = await someone()
  await mkdir(join(person.folder, 'prompts'))
  await writeFile(join(person.folder, 'prompts', 'mine.promptl'), 'Mine.\n')
  const [pager, shown] = [join(person.folder, 'pager'), join(person.folder, 'shown')]
  await writeFile(pager, `#!/bin/sh\necho "$1" > ${shown}\ncat >> ${shown}\n`, { mode: 0o755 })
  for (const [env, by] of [
    [{ STET_PAGER: `${pager} me`, PAGER: 'none' }, 'me'],
    [{ PAGER: `${pager} pager` }, 'pager'],
    [{ STET_PAGER: 'no-such-pager' }, undefined],
    [{ STET_PAGER: 'cat;touch pwned' }, undefined],
    [{ STET_PAGER: 'cat' }, undefined],
    [{ PAGER: '' }, undefined],
    // This pager exits before it reads anything.
    [{ STET_PAGER: 'true' }, ''],
  ] as const) {
    await writeFile(shown, '')
    const { code, stdout } = await person.stet(['diff', 'mine'], '', env, { tty: onTerminal })
    expect(code).toBe(0)
    expect(stdout.includes('+Mine.')).toBe(by === undefined)
    if (by) expect(await readFile(shown, 'utf8')).toMatch(new RegExp(`^${by}\n[^]*\\+Mine\\.`))
  }
  expect(await readdir(person.folder)).not.toContain('pwned')
  const piped = await person.stet(['diff', 'mine'], '', { STET_PAGER: `${pager} me` })
  expect(piped.stdout).toContain('+Mine.')
})

test('Ctrl-C in a pager belongs to the pager', async () => {
  const person = await someone()
  await mkdir(join(person.folder, 'prompts'))
  await writeFile(join(person.folder, 'prompts', 'mine.promptl'), 'Mine.\n')
  const pager = join(person.folder, 'pager')
  // Polls for its signal: a blocking read would delay a signal that arrived just before it.
  const script = `#!/bin/sh
trap 'heard=1' INT
echo begun
until [ "$heard" ]; do sleep 0.1; done
echo heard
read line < /dev/tty
echo "read $line"
`
  await writeFile(pager, script, { mode: 0o755 })
  const terminal = person.sitDown(['diff', 'mine'], { STET_PAGER: pager })
  await terminal.shows('begun')
  terminal.type(ctrlC)
  await terminal.shows('heard')
  terminal.type(`on${enter}`)
  await terminal.shows('read on')
  expect(await terminal.ended).toBe(0)
})

test('Ctrl-C at the keyboard stops the run on the server', async () => {
  const terminal = (await someone()).sitDown(['run', 'slow'])
  await terminal.shows('Begun')
  terminal.type(ctrlC)
  expect(await terminal.ended).toBe(130)
  expect(terminal.screen).toContain('Stopped')
  const [, uuid = ''] = /conversation ([0-9a-f-]{36})/.exec(terminal.screen) ?? []
  expect(await client.conversations.get(uuid)).toMatchObject({ status: 'stopped' })
})

test('chat line by line: messages, continued lines, /messages, /save and /exit', async () => {
  const person = await someone()
  const terminal = person.sitDown(['chat', '--prompt', 'echo', '-p', 'ticket=hello'])
  await terminal.shows('/exit quits')
  terminal.type(`first line\\${enter}second line${enter}`)
  await terminal.shows('second line')
  await terminal.shows('what you asked:')
  await terminal.shows('second line')
  await terminal.shows('conversation')
  terminal.type(`/messages${enter}`)
  await terminal.shows('[assistant]')
  await terminal.shows('first line')
  terminal.type(`/save talk.json${enter}`)
  await terminal.shows('Wrote talk.json')
  terminal.type(`/stop${enter}`)
  await terminal.shows('No answer in progress')
  terminal.type(`/exit${enter}`)
  expect(await terminal.ended).toBe(0)
  const messages = JSON.parse(await readFile(join(person.folder, 'talk.json'), 'utf8'))
  expect(messages).toHaveLength(4)
  expect(messages[2]).toMatchObject({ role: 'user', content: [{ text: 'first line\nsecond line' }] })
})

test('in a chat /stop and Ctrl-C end only the answer; Ctrl-C at the prompt exits 130', async () => {
  const person = await someone()
  const log = await client.logs.create('slow', [{ role: 'user', content: 'x' }], { response: 'y' })
  const terminal = person.sitDown(['chat', log.uuid])
  await terminal.shows('> ')
  for (const end of [`/stop${enter}`, ctrlC]) {
    terminal.type(`go on${enter}`)
    await terminal.shows('Begun')
    terminal.type(end)
    await terminal.shows('Stopped')
    expect(await client.conversations.get(log.uuid)).toMatchObject({ status: 'stopped' })
    await terminal.shows('> ')
  }
  terminal.type(ctrlC)
  expect(await terminal.ended).toBe(130)
})

test('Ctrl-D ends a chat with 0', async () => {
  const log = await client.logs.create('echo', [{ role: 'user', content: 'x' }])
  const terminal = (await someone()).sitDown(['chat', log.uuid])
  await terminal.shows('> ')
  terminal.type('\x04')
  expect(await terminal.ended).toBe(0)
})
