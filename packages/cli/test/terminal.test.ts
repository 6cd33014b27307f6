import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Stet } from '@stet/sdk'
import { beforeAll, expect, test } from 'vitest'
import { personIn, projectWith, server } from './support/shared-server.ts'
import { Person } from './support/stet.ts'
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

test.each([
  [{ CI: '1' }, ['run', 'echo']],
  [{ STET_NO_INPUT: '1' }, ['run', 'echo']],
  [{ TERM: 'dumb' }, ['run', 'echo']],
  [{}, ['run', 'echo', '--no-input']],
  [{}, ['run', 'echo', '--json']],
] as const)('nothing is asked with %j %j: exit 2 names the flag', async (env, argv) => {
  const terminal = (await someone()).sitDown(argv, env)
  expect(await terminal.ended).toBe(2)
  expect(terminal.screen).toContain('-p ticket=')
})

test('CI=false does not count as CI', async () => {
  const terminal = (await someone()).sitDown(['run', 'echo'], { CI: 'false' })
  await terminal.shows('ticket')
  terminal.type(`x${enter}`)
  expect(await terminal.ended).toBe(0)
})

test('prints colors on a terminal, none with NO_COLOR, and ASCII symbols without UTF-8', async () => {
  const person = await someone()
  const colored = person.sitDown(['run', 'echo', '-p', 'ticket=x'])
  expect(await colored.ended).toBe(0)
  expect(colored.raw).toContain('\x1b[32m✔')
  const plain = person.sitDown(['run', 'echo', '-p', 'ticket=x'], { NO_COLOR: '1' })
  expect(await plain.ended).toBe(0)
  expect(plain.raw).toContain('✔ stop')
  expect(plain.raw).not.toContain('\x1b[3')
  const ascii = person.sitDown(['run', 'echo', '-p', 'ticket=x'], { LANG: 'C' })
  expect(await ascii.ended).toBe(0)
  expect(ascii.screen).toContain('[ok] stop')
})

test('a table has a header on a terminal', async () => {
  const terminal = (await someone()).sitDown(['versions', 'list'])
  expect(await terminal.ended).toBe(0)
  expect(terminal.screen).toMatch(/STATUS {2,}NAME {2,}VERSION/)
  expect(terminal.screen).toMatch(/merged +Initial version +1 live/)
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

test('providers add asks for the token without showing it', async () => {
  const token = 'sk-anothersecrettoken0000000000009x2f'
  const terminal = (await someone()).sitDown(['providers', 'add', 'asked', '--type', 'openai'])
  await terminal.shows('Token')
  terminal.type(`${token}${enter}`)
  expect(await terminal.ended).toBe(0)
  expect(terminal.screen).toContain('sk-********9x2f')
  expect(terminal.screen).not.toContain(token)
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
  const pager = join(person.folder, 'pager')
  await writeFile(pager, '#!/bin/sh\necho "shown by $1"\ncat > /dev/null\n', { mode: 0o755 })
  for (const [env, shown] of [
    [{ STET_PAGER: `${pager} me`, PAGER: 'none' }, 'shown by me'],
    [{ PAGER: `${pager} pager` }, 'shown by pager'],
    [{ STET_PAGER: 'no-such-pager' }, '+Mine.'],
    [{ STET_PAGER: 'cat;touch pwned' }, '+Mine.'],
    [{ STET_PAGER: 'cat' }, '+Mine.'],
    [{ PAGER: '' }, '+Mine.'],
    // This pager exits before it reads anything.
    [{ STET_PAGER: 'true' }, ''],
  ] as const) {
    const terminal = person.sitDown(['diff', 'mine'], env)
    expect(await terminal.ended).toBe(0)
    expect(terminal.screen).toContain(shown)
    expect(terminal.screen.includes('+Mine.')).toBe(shown === '+Mine.')
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

test('annotate offers a choice of evaluations', async () => {
  const person = await someone()
  for (const name of ['First', 'Second']) await client.evaluations.create({ name, metric: 'binary' })
  const log = await client.logs.create('echo', [{ role: 'user', content: 'x' }])
  const terminal = person.sitDown(['annotate', log.uuid, '1'])
  await terminal.shows('Which evaluation?')
  terminal.type(enter)
  expect(await terminal.ended).toBe(0)
  expect(await client.conversations.annotations(log.uuid)).toHaveLength(1)
})

test('Ctrl-C at the keyboard stops the run on the server', async () => {
  const terminal = (await someone()).sitDown(['run', 'slow'])
  await terminal.shows('Begun')
  terminal.type(ctrlC)
  expect(await terminal.ended).toBe(130)
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
