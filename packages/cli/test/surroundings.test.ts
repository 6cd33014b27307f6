import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readLogins, writeCredentials } from '../src/settings/credentials.ts'
import { asShown } from '../src/terminal/terminal-style.ts'
import { Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { runInProcess } from './support/test-io.ts'

const red = '\x1b[31m'
const broken = 'Hi\n<user>{{ if x }}a</user>\n'

/** Has no server and one prompt that does not compile. */
async function someone(): Promise<Person> {
  const person = new Person(await temporaryFolder(), { address: 'http://127.0.0.1:1' })
  await mkdir(join(person.folder, 'prompts'))
  await writeFile(join(person.folder, 'prompts', 'open.promptl'), broken)
  return person
}

test.each([
  [{}, [], false],
  [{ CI: 'true' }, [], false],
  [{ FORCE_COLOR: '1' }, [], true],
  [{ FORCE_COLOR: '0' }, [], false],
  [{ FORCE_COLOR: '1', NO_COLOR: '1' }, [], false],
  [{ FORCE_COLOR: '1', NO_COLOR: '' }, [], true],
  [{ FORCE_COLOR: '1' }, ['--no-color'], false],
  [{}, ['--color'], true],
  [{ NO_COLOR: '1' }, ['--color'], false],
] as const)('in pipes, with %j and %j, colors: %s', async (env, flags, isColored) => {
  const { code, stdout, stderr } = await (await someone()).stet(['check', '--local', ...flags], '', env)
  expect(code).toBe(7)
  expect([stdout.includes(red), stderr.includes(red)]).toEqual([isColored, isColored])
})

test('messages on a terminal are colored, data in a pipe is not', async () => {
  const person = await someone()
  const terminal = person.sitDown(['check', '--local'], {}, '> out.txt')
  expect(await terminal.ended).toBe(7)
  expect(terminal.raw).toContain(`${red}✖`)
  expect(await readFile(join(person.folder, 'out.txt'), 'utf8')).toContain('open.promptl:2:7 error Block was left open')
})

test('a failed write of the output is an error', async () => {
  const terminal = (await someone()).sitDown(['completion', 'bash'], {}, '> /dev/full')
  expect(await terminal.ended).toBe(1)
  expect(terminal.screen).toContain('Cannot write the output: ENOSPC')
})

test("without UTF-8, stet's own symbols are ASCII, and other text stays unchanged", async () => {
  const person = await someone()
  for (const env of [{ LANG: 'C' }, { LC_ALL: 'POSIX' }, { LC_CTYPE: 'de_DE.ISO-8859-1' }]) {
    const { stderr } = await person.stet(['check', '--local'], '', env)
    expect(stderr).toBe('[x] 1 file compiled - 1 error\n')
  }
  expect(asShown('… größer · “x”', { env: { LANG: 'C' } })).toBe('... größer - “x”')
})

test('with an unwritable home, an environment key works, and a login fails with a hint', async () => {
  const cwd = await temporaryFolder()
  // A file at a folder's path blocks writing for every user, including root.
  const home = join(cwd, 'file')
  await writeFile(home, '')
  const key = 'stet_0000000000000000000000000000001o2Jge'
  const env = { STET_BASE_URL: 'http://127.0.0.1:1', XDG_CONFIG_HOME: home, XDG_STATE_HOME: home, STET_API_KEY: key }
  const reached = await runInProcess(['whoami', '--no-retry'], { cwd, env })
  expect(reached).toMatchObject({ code: 9, stderr: expect.not.stringContaining(home) })
  const login = { default: { baseUrl: 'http://x/api/v3', apiKey: key, keyName: 'k' } }
  await expect(writeCredentials(join(home, 'stet', 'credentials.json'), login)).rejects.toMatchObject({
    code: 'unexpected',
    message: expect.stringContaining('Cannot write'),
    hint: expect.stringContaining('STET_API_KEY'),
  })
  expect((await stat(home)).size).toBe(0)
  expect(await readLogins(join(home, 'stet', 'credentials.json'), () => {})).toEqual({})
})

// root can read every file.
test.runIf(process.getuid?.() !== 0)('an unreadable home counts as no login, with a warning', async () => {
  const cwd = await temporaryFolder()
  const file = join(cwd, 'credentials.json')
  await writeFile(file, '{}')
  await chmod(file, 0)
  const warnings: string[] = []
  expect(await readLogins(file, (text) => warnings.push(text))).toEqual({})
  expect(warnings).toEqual([`Cannot read ${file}: continuing without a login`])
})
