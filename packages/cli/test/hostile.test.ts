import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Stet } from '@stet/sdk'
import { beforeAll, expect, test } from 'vitest'
import { installServer } from './support/fake-server.ts'
import { escapes, mark, rawEscapes, startEvilServer, startThief } from './support/hostile.ts'
import { account, projectWith, server } from './support/shared-server.ts'
import { onTerminal, Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

let client: Stet
let id: string
beforeAll(async () => {
  const front = '---\nprovider: demo\nmodel: demo\n---\n'
  const made = await projectWith({
    echo: `${front}<user>${mark}</user>\n`,
    other: `${front}<user>${mark} again</user>\n`,
    'OUTSIDE/x': 'stolen\n',
  })
  client = made.client
  id = String(made.id)
  await account.projects.create(`${mark} project`)
  await client.apiKeys.create({ name: `${mark} key` })
  await client.evaluations.create({ name: `${mark} evaluation`, metric: 'binary' })
  await client.versions.create(`${mark} draft`)
  await client.prompts.run('echo', { stream: false })
})

/** The key is in the environment, and the checkout is untrusted. */
async function victim(files: Record<string, string>, env: Record<string, string> = {}): Promise<Person> {
  const folder = await temporaryFolder()
  await mkdir(join(folder, '.git'))
  await mkdir(join(folder, 'prompts'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return new Person(folder, { address: '' }, { STET_API_KEY: server.adminKey, ...env })
}

const commands = [
  ['status'],
  ['pull'],
  ['push', '--yes'],
  ['publish', 'live', '--yes'],
  ['whoami'],
  ['run', 'a'],
  ['versions', 'list'],
  ['doctor'],
  ['types', 'generate'],
  ['keys', 'list'],
]

test('a key from the environment is never sent to an address that only a checkout file names', async () => {
  const thief = await startThief()
  const version = { uuid: '0b9c7b7e-4f1f-4a2b-9d1c-6a3f0d0e4c11', status: 'draft', name: 'n' }
  const lock = { lockfileVersion: 1, baseUrl: `${thief.address}/api/v3`, projectId: 1, version, prompts: {} }
  const config = { baseUrl: thief.address, projectId: 1 }
  const profiles = { default: { baseUrl: thief.address, projectId: 1 } }
  for (const [files, tried] of [
    [{ 'stet.config.json': JSON.stringify(config) }, commands],
    [{ 'stet.lock.json': JSON.stringify(lock) }, commands.slice(0, 2)],
    [{ 'stet.config.json': JSON.stringify({ profiles }) }, commands.slice(0, 2)],
  ] as const) {
    const person = await victim(files)
    await Promise.all(
      tried.map(async (argv) => {
        const { code, stdout, stderr } = await person.stet([...argv, '--no-retry'])
        expect(code, `${argv.join(' ')}: ${stderr}`).toBe(argv[0] === 'doctor' ? 1 : 4)
        expect(stdout + stderr).toContain('is not sent to')
        expect(stdout + stderr).toContain(`--base-url ${thief.address}`)
      }),
    )
    const login = await person.stet(['login', '--api-key-stdin'], `${server.adminKey}\n`)
    expect(login).toMatchObject({ code: 2, stderr: expect.stringContaining(`--base-url ${thief.address}`) })
  }
  // The reachability check sends no key.
  for (const request of thief.received) expect(request).not.toContain(server.adminKey)
})

test('the same address is accepted by flag, by variable, or after a login', async () => {
  const person = await victim({ 'stet.config.json': JSON.stringify({ baseUrl: server.address, projectId: 1 }) })
  expect(await person.stet(['status', '--allow-empty'])).toMatchObject({ code: 4 })
  expect(await person.stet(['status', '--allow-empty', '--base-url', server.address])).toMatchObject({ code: 0 })
  expect(await person.stet(['status', '--allow-empty'], '', { STET_BASE_URL: server.address })).toMatchObject({
    code: 0,
  })
  const login = ['login', '--api-key-stdin', '--base-url', server.address]
  expect(await person.stet(login, `${server.adminKey}\n`)).toMatchObject({ code: 0 })
  expect(await person.stet(['status', '--allow-empty'])).toMatchObject({ code: 0 })
})

test('at a terminal login shows the address of the checkout before it asks for a key', async () => {
  const thief = await startThief()
  const person = await victim({ 'stet.config.json': JSON.stringify({ baseUrl: thief.address }) }, { STET_API_KEY: '' })
  const terminal = person.sitDown(['login'])
  await terminal.shows('Server')
  await terminal.shows(thief.address)
  terminal.type('\x03')
  expect(await terminal.ended).toBe(2)
  expect(thief.received).toEqual([])
})

test.each([
  ['promptsDir', '../outside'],
  ['promptsDir', 'link'],
  ['promptsDir', 'link/deeper'],
  ['promptsDir', '.git/prompts'],
  ['types.out', '../outside/x.d.ts'],
  ['types.out', 'link/x.d.ts'],
  ['types.out', 'dead'],
  ['types.out', '.git/hooks/post-checkout'],
  ['types.out', '.GIT/config'],
  ['types.out', 'hooks/post-checkout'],
])('%s of a configuration cannot point outside the project: %s', async (key, path) => {
  const outside = await temporaryFolder()
  await writeFile(join(outside, 'kept.promptl'), 'kept\n')
  const config = key === 'promptsDir' ? { promptsDir: path } : { types: { out: path } }
  const files = { 'stet.config.json': JSON.stringify({ projectId: 1, ...config }) }
  const person = await victim(files, { STET_BASE_URL: server.address })
  await symlink(outside, join(person.folder, 'link'))
  await symlink(join(outside, 'dead.d.ts'), join(person.folder, 'dead'))
  await symlink(join(person.folder, '.git', 'hooks'), join(person.folder, 'hooks'))
  await mkdir(join(person.folder, '.git', 'hooks'))
  for (const argv of [
    ['pull', '--yes'],
    ['types', 'generate'],
    ['push', '--yes'],
    ['check', '--local'],
  ]) {
    const { code, stdout, stderr } = await person.stet(argv)
    expect({ code, stdout }, argv.join(' ')).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(`"${key}" is outside the project: ${path}`)
  }
  expect(await readdir(outside)).toEqual(['kept.promptl'])
})

test('without a configuration, a linked prompts folder cannot point outside the checkout either', async () => {
  const outside = await temporaryFolder()
  await writeFile(join(outside, 'kept.promptl'), 'kept\n')
  const version = { uuid: '0b9c7b7e-4f1f-4a2b-9d1c-6a3f0d0e4c11', status: 'merged', name: 'n', ref: 'live' }
  const lock = { lockfileVersion: 1, baseUrl: `${server.address}/api/v3`, projectId: 1, version, prompts: {} }
  const person = await victim({ 'stet.lock.json': JSON.stringify(lock) }, { STET_BASE_URL: server.address })
  await rm(join(person.folder, 'prompts'), { recursive: true })
  await symlink(outside, join(person.folder, 'prompts'))
  for (const argv of [
    ['pull', '--yes'],
    ['push', '--yes'],
  ]) {
    const { code, stderr } = await person.stet(argv)
    expect({ code, stderr }, argv.join(' ')).toEqual({
      code: 2,
      stderr: expect.stringContaining('is outside the project: prompts'),
    })
  }
  expect(await readdir(outside)).toEqual(['kept.promptl'])
})

test('without a configuration, an import does not follow a linked prompts folder', async () => {
  const outside = await temporaryFolder()
  const person = await victim({ 'prompts.json': JSON.stringify([{ name: 'a', instructions: 'Hi' }]) })
  await rm(join(person.folder, 'prompts'), { recursive: true })
  await symlink(outside, join(person.folder, 'prompts'))
  const { code, stderr } = await person.stet(['import', 'openai', 'prompts.json'])
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('is outside the project: prompts'),
  })
  expect(await readdir(outside)).toEqual([])
  const named = await person.stet(['import', 'openai', 'prompts.json', '--dir', 'prompts'])
  expect(named).toMatchObject({ code: 0 })
})

test("serve escapes the server's output before and after its start", async () => {
  const person = await victim({})
  const lines = [`early ${escapes}\n`, 'stet listening on http://127.0.0.1:1\n', `late ${escapes}`].map((line) =>
    JSON.stringify(line),
  )
  await installServer(
    person,
    `process.stderr.write(${lines[0]}); process.stdout.write(${lines[0]} + ${lines[1]}, () => process.stderr.write(${lines[2]}))`,
  )
  for (const io of [{ tty: onTerminal }, {}]) {
    const { stderr } = await person.stet(['serve'], '', {}, io)
    expect(stderr).toContain(String.raw`early \u001b[2J`)
    expect(stderr).toContain(String.raw`late \u001b[2J`)
    expect(stderr).not.toMatch(rawEscapes)
  }
})

test("git's own folder has no prompts, neither from a server nor from files", async () => {
  const made = await projectWith({ '.git/hooks/pre-commit': 'x\n', 'sub/.Git/x': 'x\n', fine: 'x\n' })
  const config = { projectId: made.id, promptsDir: '.' }
  const person = await victim({ 'stet.config.json': JSON.stringify(config) }, { STET_BASE_URL: server.address })
  await writeFile(join(person.folder, '.git', 'branch.promptl'), 'a hash\n')
  const { code, stderr } = await person.stet(['pull'])
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('.git/hooks/pre-commit is a name that git reserves: not written'),
  })
  expect((await readdir(join(person.folder, '.git'))).sort()).toEqual(['branch.promptl'])
  const pushed = JSON.parse((await person.stet(['push', '--delete', '--dry-run', '--json'])).stdout)
  expect(pushed).toMatchObject({ changes: [], refused: [] })
})

test('a server path outside the folder is refused by name and not written', async () => {
  const address = await startEvilServer(server.address)
  const person = await victim({}, { STET_BASE_URL: address, STET_PROJECT_ID: id })
  const { code, stderr } = await person.stet(['pull'])
  expect(code).toBe(1)
  expect(stderr).toContain('../../outside/x is outside the folder: not written')
  expect((await readdir(join(person.folder, '..'))).sort()).toEqual(['.git', 'work'])
})

const shown = [
  ['projects', 'list'],
  ['versions', 'list'],
  ['versions', 'show', 'DRAFT'],
  ['keys', 'list'],
  ['evaluations', 'list'],
  ['diff', 'echo'],
  ['run', 'echo'],
  ['run', 'echo', '--no-stream', '--show', 'messages'],
  ['conversations', 'get', 'CONVERSATION'],
  ['runs', 'show', 'CONVERSATION', '--messages'],
  ['publish', 'DRAFT', '--check'],
  ['check', '--local'],
  ['run', `no-such-${escapes}`],
]

// The text of an answer is data. `--json` and `--format json` contain the characters as JSON allows them.
const exact = [
  ['run', 'echo'],
  ['run', 'echo', '--no-stream'],
  ['attach', 'CONVERSATION'],
  ['chat', 'CONVERSATION', '-m', escapes],
  ['conversations', 'get', 'CONVERSATION', '--format', 'json'],
]

test('names, prompts, errors and answers are escaped on terminals and in pipes, except where exact bytes are the point', async () => {
  const address = await startEvilServer(server.address)
  const files = { 'prompts/bad.promptl': `${escapes} {{ if x }}\n`, 'prompts/echo.promptl': `mine ${escapes}\n` }
  const person = await victim(files, { STET_BASE_URL: address, STET_PROJECT_ID: id, STET_PAGER: 'cat' })
  const [conversation] = (await client.conversations.list()).items
  const draft = (await client.versions.list({ status: 'draft' })).find(({ title }) => title.startsWith(mark))
  const places: Record<string, string> = { CONVERSATION: conversation?.uuid ?? '', DRAFT: draft?.uuid ?? '' }
  const inPipes = { stdin: false, stdout: false, stderr: false }
  const isExact = (words: readonly string[]): boolean => exact.some((one) => one.join() === words.join())
  for (const [tty, list] of [
    [onTerminal, [...shown, ...exact.filter((words) => !words.includes('json'))]],
    [inPipes, shown.filter((words) => !isExact(words))],
  ] as const) {
    for (const words of list) {
      const argv = words.map((word) => places[word] ?? word)
      const { stdout, stderr } = await person.stet(argv, '', {}, { tty })
      expect(stdout + stderr, argv.join(' ')).not.toMatch(rawEscapes)
      expect(stdout + stderr, argv.join(' ')).toContain(String.raw`\u001b[2J\u0007\u009b2J`)
    }
  }
  for (const words of exact) {
    const argv = words.map((word) => places[word] ?? word)
    const { stdout, stderr } = await person.stet(argv)
    expect(stdout, argv.join(' ')).toContain(argv.includes('json') ? '\u009b2J' : escapes)
    expect(stderr, argv.join(' ')).not.toMatch(rawEscapes)
  }
})

test('questions and pagers get no escape sequences either', async () => {
  const address = await startEvilServer(server.address)
  const person = await victim({ 'prompts/echo.promptl': 'mine\n' }, { STET_BASE_URL: address })
  const terminal = person.sitDown(['init'])
  await terminal.shows('Which project?')
  await terminal.shows(String.raw`\u009b2J project`)
  terminal.type('\x03')
  await terminal.ended
  const env = { STET_PROJECT_ID: id, STET_PAGER: `tee ${join(person.folder, 'paged')}` }
  await person.stet(['diff', 'echo'], '', env, { tty: onTerminal })
  const paged = await readFile(join(person.folder, 'paged'), 'utf8')
  expect(paged).toContain(String.raw`\u009b2J</user>`)
  for (const text of [terminal.raw, paged]) expect(text).not.toMatch(/\x1b\]|\x1b\[2J|\x07|[\x80-\x9f]|owned/)
})

test('--json means the same on a terminal and in a pipe', async () => {
  const address = await startEvilServer(server.address)
  const person = await victim({}, { STET_BASE_URL: address, STET_PROJECT_ID: id })
  const piped = await person.stet(['projects', 'list', '--json'])
  const shown = await person.stet(['projects', 'list', '--json'], '', {}, { tty: onTerminal })
  expect(shown.stdout).not.toMatch(/[\x80-\x9f]|\x1b/)
  // JSON has the same escapes, so the document stays equal. Other files may add projects to the server in between.
  const ownIn = ({ stdout }: { stdout: string }) =>
    (JSON.parse(stdout) as { projects: { id: number }[] }).projects.find((project) => String(project.id) === String(id))
  expect(ownIn(shown)).toEqual(ownIn(piped))
  expect(ownIn(shown)).toBeDefined()
  expect(piped.stdout).toContain('\u009b')
})

test('a pattern that matches nothing is a warning', async () => {
  const config = { ignore: ['drafts/', 'gone/**', `${escapes}/**`] }
  const person = await victim({ 'stet.config.json': JSON.stringify(config) })
  await mkdir(join(person.folder, 'prompts', 'drafts'))
  await writeFile(join(person.folder, 'prompts', 'drafts', 'bad.promptl'), '{{ if x }}\n')
  await writeFile(join(person.folder, 'prompts', 'good.promptl'), 'Good.\n')
  const { code, stderr } = await person.stet(['check', '--local'])
  expect(code).toBe(0)
  expect(stderr).toContain('ignore: the pattern "gone/**" matches no prompt file')
  expect(stderr).not.toContain('"drafts/"')
  expect(await readFile(join(person.folder, 'prompts', 'drafts', 'bad.promptl'), 'utf8')).toBe('{{ if x }}\n')
})
