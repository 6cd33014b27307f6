import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isInteractive } from '../src/io.ts'
import { parseConfig, schemaSeenFrom } from '../src/settings/config-file.ts'
import { isWellFormedApiKey } from '../src/settings/credentials.ts'
import { matcherOf } from '../src/settings/glob.ts'
import { readGlobalFlags } from '../src/settings/global-flags.ts'
import { formatLock } from '../src/settings/lock-file.ts'
import { normalizeAddress, resolveSettings, type Settings } from '../src/settings/resolve.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { ioIn } from './support/test-io.ts'

// Valid by the server's rule: 30 characters, then the CRC32 of `stet_` plus those characters.
const key = 'stet_0000000000000000000000000000001o2Jge'

async function resolveIn(
  folder: string,
  options: Record<string, unknown> = {},
  env: Record<string, string> = {},
): Promise<Settings> {
  return resolveSettings({
    io: ioIn({ cwd: folder, env: { XDG_CONFIG_HOME: join(folder, '.config'), ...env } }),
    flags: readGlobalFlags(options),
    warn: () => {},
    say: () => {},
  })
}

test('settings resolve in the order flag, variable, configuration, lock, login, default', async () => {
  const folder = await temporaryFolder()
  const write = (name: string, value: unknown) => writeFile(join(folder, name), JSON.stringify(value))
  const origin = async (options = {}, env = {}) => {
    const { baseUrl } = await resolveIn(folder, options, env)
    return `${baseUrl.value} ${baseUrl.origin}`
  }
  await mkdir(join(folder, '.git'))
  expect(await origin()).toBe('http://127.0.0.1:8787/api/v3 default')
  await mkdir(join(folder, '.config', 'stet'), { recursive: true })
  await write('.config/stet/credentials.json', {
    default: { baseUrl: 'http://login/api/v3', apiKey: key, keyName: 'k' },
  })
  expect(await origin()).toBe('http://login/api/v3 profile default')
  const version = { uuid: 'u', status: 'draft' as const, name: 'n' }
  const lock = { baseUrl: 'http://lock/api/v3', projectId: 3, version, prompts: {} }
  await writeFile(join(folder, 'stet.lock.json'), formatLock(lock))
  expect(await origin()).toBe('http://lock/api/v3 lock file')
  await write('stet.config.json', {
    baseUrl: 'http://config',
    projectId: 4,
    profiles: { other: { baseUrl: 'http://other' } },
  })
  expect(await origin()).toBe('http://config/api/v3 configuration')
  expect(await origin({ profile: 'other' })).toBe('http://other/api/v3 configuration')
  expect(await origin({}, { STET_BASE_URL: 'http://variable' })).toBe('http://variable/api/v3 STET_BASE_URL')
  const flagged = await origin({ baseUrl: 'http://flag' }, { STET_BASE_URL: 'http://variable' })
  expect(flagged).toBe('http://flag/api/v3 --base-url')
})

test('a saved key is sent only to its own address', async () => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, '.git'))
  await mkdir(join(folder, '.config', 'stet'), { recursive: true })
  const credentials = { default: { baseUrl: 'http://mine/api/v3', apiKey: key, keyName: 'k' } }
  await writeFile(join(folder, '.config', 'stet', 'credentials.json'), JSON.stringify(credentials))
  expect((await resolveIn(folder)).apiKey?.value).toBe(key)
  await writeFile(join(folder, 'stet.config.json'), JSON.stringify({ baseUrl: 'http://stranger' }))
  const { apiKey, withheld } = await resolveIn(folder)
  expect(apiKey).toBeUndefined()
  expect(withheld?.message).toBe('The stored key belongs to http://mine/api/v3, not to http://stranger/api/v3')
})

test('the environment overrides an --env-file', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'vars'), 'STET_PROJECT_ID=5\nSTET_BASE_URL=http://file\n')
  const { projectId, baseUrl } = await resolveIn(folder, { envFile: 'vars' }, { STET_PROJECT_ID: '6' })
  expect(projectId?.value).toBe(6)
  expect(baseUrl.value).toBe('http://file/api/v3')
})

test('$schema names the installed schema, up to the root of the checkout', async () => {
  const root = await temporaryFolder()
  const app = join(root, 'apps', 'bot')
  await mkdir(join(root, '.git'))
  await mkdir(app, { recursive: true })
  expect(schemaSeenFrom(app)).toBeUndefined()
  await mkdir(join(root, 'node_modules', '@stet', 'cli', 'schema'), { recursive: true })
  await writeFile(join(root, 'node_modules', '@stet', 'cli', 'schema', 'config.json'), '{}')
  expect(schemaSeenFrom(root)).toBe('./node_modules/@stet/cli/schema/config.json')
  expect(schemaSeenFrom(app)).toBe('../../node_modules/@stet/cli/schema/config.json')
  await mkdir(join(app, '.git'))
  expect(schemaSeenFrom(app)).toBeUndefined()
})

test('an unknown configuration key suggests the nearest one', () => {
  expect(() => parseConfig({ promtsDir: 'x' }, 'stet.config.json')).toThrow('unknown key "promtsDir"')
  try {
    parseConfig({ promtsDir: 'x' }, 'stet.config.json')
  } catch (error) {
    expect(error).toMatchObject({ code: 'usage', hint: 'did you mean "promptsDir"?' })
  }
})

test('the published configuration schema lists exactly the keys that are read', async () => {
  const schema: { properties: Record<string, unknown> } = JSON.parse(
    await readFile(new URL('../schema/config.json', import.meta.url), 'utf8'),
  )
  const samples: Record<string, unknown> = { types: {}, projectId: 1, include: [], ignore: [], profiles: {} }
  for (const name of Object.keys(schema.properties)) {
    expect(() => parseConfig({ [name]: samples[name] ?? 'text' }, 'f'), name).not.toThrow()
  }
  const read = Object.keys(parseConfig({ baseUrl: 'http://x', projectId: 1 }, 'f'))
  expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(read))
})

test('addresses get their prefix once, and cannot contain a password', () => {
  expect(normalizeAddress('http://x:1/')).toBe('http://x:1/api/v3')
  expect(normalizeAddress('https://x/stet/api/v3/')).toBe('https://x/stet/api/v3')
  for (const bad of ['x', 'ftp://x', 'http://a:b@x']) expect(() => normalizeAddress(bad)).toThrow()
})

test('a key is validated by its form and checksum', () => {
  expect(isWellFormedApiKey(key)).toBe(true)
  for (const bad of [`${key}0`, key.replace('stet_0', 'stet_1'), 'stet_', 'sk-abc', key.slice(5)]) {
    expect(isWellFormedApiKey(bad), bad).toBe(false)
  }
})

test.each([
  ['**/*.promptl', ['a.promptl', 'a/b/c.promptl'], ['a.md', 'a.promptl.remote']],
  ['support/*.promptl', ['support/a.promptl'], ['support/a/b.promptl', 'a.promptl']],
  ['**/_drafts/**', ['_drafts/a', 'x/_drafts/y/z'], ['drafts/a']],
  ['a?.promptl', ['ab.promptl'], ['a.promptl', 'a/.promptl']],
  ['{a,b}/**', ['a/x.promptl', 'b/c/x.promptl'], ['c/x.promptl']],
  ['[d]rafts/**', ['drafts/x.promptl'], ['rafts/x.promptl']],
  ['./drafts/**', ['drafts/x.promptl', 'drafts/a/x.promptl'], ['a/drafts/x.promptl']],
  ['drafts/', ['drafts/x.promptl', 'drafts/a/x.promptl'], ['drafts.promptl', 'a/drafts/x.promptl']],
  ['**/*.promptl', ['.hidden/x.promptl', '.x.promptl'], []],
  // As negation, this pattern would match every other path.
  ['!keep/**', [], ['keep/x', 'other/x']],
  ['+(a*)b', [], [`${'a'.repeat(200)}c`]],
])('pattern %s', (pattern, taken, left) => {
  const matches = matcherOf([pattern])
  for (const path of taken) expect(matches(path), path).toBe(true)
  for (const path of left) expect(matches(path), path).toBe(false)
})

test.each([
  ['stars of one name', '*a'.repeat(40)],
  ['braces', '{a,a}'.repeat(40)],
])('a pattern with too many %s is refused', (_, pattern) => {
  expect(() => matcherOf([pattern])).toThrow('too complex')
})

test.each([
  ['folders', `${'**/a/'.repeat(40)}b`, 'a/'.repeat(120)],
  ['stars of many names', `${'*a*a*a/'.repeat(40)}b`, 'aaaa/'.repeat(50)],
])('a pattern with many %s is matched without backtracking', (_, pattern, path) => {
  expect(matcherOf([pattern])(path)).toBe(false)
})

test('questions need three terminals, no CI and no --json', () => {
  const io = { env: {}, tty: { stdin: true, stdout: true, stderr: true } }
  const ask = (changes: object, wanted = { json: false, input: true }) =>
    isInteractive({ ...io, ...changes } as Parameters<typeof isInteractive>[0], wanted)
  expect(ask({})).toBe(true)
  for (const value of ['', '0', 'false']) expect(ask({ env: { CI: value } }), value).toBe(true)
  for (const env of [{ CI: '1' }, { CI: 'true' }, { STET_NO_INPUT: '1' }, { TERM: 'dumb' }])
    expect(ask({ env })).toBe(false)
  for (const end of ['stdin', 'stdout', 'stderr']) expect(ask({ tty: { ...io.tty, [end]: false } })).toBe(false)
  expect(ask({}, { json: true, input: true })).toBe(false)
  expect(ask({}, { json: false, input: false })).toBe(false)
})
