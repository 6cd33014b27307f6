import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Stet } from '@stet/sdk'
import { beforeAll, expect, test } from 'vitest'
import { command as addProvider } from '../src/commands/providers/add.ts'
import { type Context, createContext } from '../src/context.ts'
import { readGlobalFlags } from '../src/settings/global-flags.ts'
import { projectWith, server } from './support/shared-server.ts'
import { Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'
import { ioIn } from './support/test-io.ts'

const keyForm = /^stet_[0-9A-Za-z]{36}$/
const token = 'sk-verysecrettokenof40characters000009x2f'

let client: Stet
let id: number
beforeAll(async () => {
  ;({ client, id } = await projectWith({ hello: 'Hello.\n', other: 'Hello.\n', unused: 'Hello.\n' }))
})

async function someone(env: Record<string, string> = {}): Promise<Person> {
  return new Person(await temporaryFolder(), server, {
    STET_API_KEY: server.adminKey,
    STET_PROJECT_ID: String(id),
    ...env,
  })
}

async function answer(person: Person, argv: readonly string[], stdin = '') {
  const { code, stdout, stderr } = await person.stet([...argv, '--json'], stdin)
  if (code !== 0) throw new Error(`${argv.join(' ')}: ${code} ${stderr}`)
  return JSON.parse(stdout)
}

test('keys: create prints only the key on standard output; it works with its scopes until it is revoked', async () => {
  const person = await someone()
  const created = await person.stet(['keys', 'create', 'ci', '--scopes', 'read,run', '--expires', '90d'])
  expect(created.code).toBe(0)
  const key = created.stdout.trim()
  expect(key).toMatch(keyForm)
  expect(created.stderr).toContain('"ci" · read, run · expires 20')
  expect(created.stderr).not.toContain(key)
  const holder = await someone({ STET_API_KEY: key })
  expect(await holder.stet(['versions', 'list'])).toMatchObject({ code: 0 })
  expect(await holder.stet(['versions', 'create', 'x'])).toMatchObject({ code: 4 })

  const { keys } = await answer(person, ['keys', 'list'])
  const { prefix, expiresAt } = keys.find(({ name }: { name: string }) => name === 'ci')
  expect(Math.round((Date.parse(expiresAt) - Date.now()) / 86_400_000)).toBe(90)
  expect((await person.stet(['keys', 'list'])).stdout).toContain(`\tci\t${prefix}\tread,run\t`)

  expect(await person.stet(['keys', 'revoke', prefix])).toMatchObject({ code: 2 })
  expect(await holder.stet(['versions', 'list'])).toMatchObject({ code: 0 })
  expect(await person.stet(['keys', 'revoke', prefix, '--yes'])).toMatchObject({ code: 0, stdout: '' })
  expect(await holder.stet(['versions', 'list'])).toMatchObject({ code: 4 })
  expect(await person.stet(['keys', 'revoke', prefix, '--yes'])).toMatchObject({ code: 5 })
  expect((await person.stet(['keys', 'list'])).stdout).toContain('revoked')
})

test.each([
  ['app', ['read', 'run']],
  ['ci', ['read', 'write']],
  ['ci-publish', ['read', 'write', 'publish']],
])('keys: create --role %s gives the scopes of the role, and --author a person', async (role, scopes) => {
  const person = await someone()
  const made = await answer(person, [
    'keys',
    'create',
    role,
    '--role',
    role,
    '--author',
    ' Ana B. < ana@example.com > ',
  ])
  expect(made.scopes).toEqual(scopes)
  expect(made.author).toMatchObject({ name: 'Ana B.', email: 'ana@example.com' })
})

test('keys: rotate creates a new key, with or without an overlap, and reports when the old one ends', async () => {
  const person = await someone()
  const first = await answer(person, [
    'keys',
    'create',
    'shop',
    '--role',
    'app',
    '--only-project',
    String(id),
    '--plan',
    'custom',
    '--limit',
    '9',
  ])
  expect(first).toMatchObject({ projectId: id, plan: 'custom', limit: 9 })
  const use = async (key: string) => (await (await someone({ STET_API_KEY: key })).stet(['versions', 'list'])).code
  const overlapped = await person.stet(['keys', 'rotate', String(first.id), '--overlap', '1h'])
  const second = overlapped.stdout.trim()
  expect(second).toMatch(keyForm)
  expect(overlapped.stderr).toContain('works for another 3600 s')
  expect([await use(first.key), await use(second)]).toEqual([0, 0])
  const third = (await answer(person, ['keys', 'rotate', second.slice(0, 9), '--yes'])).key
  expect([await use(second), await use(third)]).toEqual([4, 0])
  expect(await person.stet(['keys', 'rotate', third.slice(0, 9)])).toMatchObject({ code: 2, stdout: '' })
})

test('providers add asks for the token without showing it', async () => {
  const asked: object[] = []
  const ask: Context['ask'] = (question) => {
    asked.push(question)
    return Promise.reject(new Error('Canceled'))
  }
  const ctx = { ...createContext(ioIn({ cwd: await temporaryFolder() }), readGlobalFlags({})), ask }
  await expect(addProvider.execute({ args: ['asked'], flags: { type: 'openai' } }, ctx)).rejects.toThrow('Canceled')
  expect(asked).toEqual([expect.objectContaining({ message: 'Token', isSecret: true })])
})

test('providers: the token is read from standard input, shown masked, and can be replaced', async () => {
  const person = await someone()
  const added = await person.stet(['providers', 'add', 'mine', '--type', 'openai', '--token-stdin'], `${token}\n`)
  expect(added).toMatchObject({ code: 0, stdout: '' })
  expect(added.stderr).toContain('Provider key "mine" (openai) · token sk-********9x2f')
  expect(added.stderr).toContain('Test it:  stet providers test mine --model <model>')
  expect(await person.stet(['providers', 'add', 'mine', '--type', 'openai', '--token-stdin'], token)).toMatchObject({
    code: 6,
  })
  const updated = await answer(person, ['providers', 'update', 'MINE', '--default-model', 'm-1', '--rename', 'ours'])
  expect(updated).toMatchObject({ name: 'ours', defaultModel: 'm-1', token: 'sk-********9x2f' })
  const replaced = await answer(person, ['providers', 'update', 'ours', '--token-stdin'], `${token}aaaa`)
  expect(replaced).toMatchObject({ defaultModel: 'm-1', token: 'sk-********aaaa' })
  expect(await person.stet(['providers', 'update', 'openai', '--url', 'http://127.0.0.1:1/v1'])).toMatchObject({
    code: 6,
  })
  expect((await person.stet(['providers', 'list'])).stdout).toMatch(/^ours\topenai\tsk-\*{8}aaaa\tm-1\t-\tstored\t/m)

  expect(await person.stet(['providers', 'remove', 'ours', '--yes'])).toMatchObject({ code: 0 })
  expect(await person.stet(['providers', 'remove', 'ours', '--yes'])).toMatchObject({ code: 5 })
  expect(person.printed).not.toContain(token)
})

test('providers: test makes a call and prints what the provider answers', async () => {
  const person = await someone()
  const tested = await person.stet(['providers', 'test', 'demo', '--model', 'any'])
  expect(tested.code, tested.stderr).toBe(0)
  expect(tested.stderr).toMatch(/"demo" answered with any in \d+\.\d s, first token after \d+\.\d s/)
  expect(tested.stdout).toContain('demo provider, not a real model')
  expect(await person.stet(['providers', 'test', 'absent'])).toEqual({
    code: 5,
    stdout: '',
    stderr: '✖ No provider key "absent"\n  hint: run stet providers list\n',
  })
  // Neither this provider nor the server has a default model.
  const unnamed = await person.stet(['providers', 'test', 'openai'])
  expect(unnamed).toMatchObject({ code: 7, stdout: '' })
  expect(unnamed.stderr).toContain('"openai" has no default model\n  hint: stet providers test openai --model <model>')
})

test('conversations: erase keeps those of other projects with --only-project', async () => {
  const person = await someone()
  const { uuid } = await client.logs.create('hello', [], { customIdentifier: 'erased' })
  const erase = ['conversations', 'erase', '--custom-identifier', 'erased', '--yes']
  expect(await answer(person, [...erase, '--only-project', '1'])).toEqual({ deleted: 0, active: 0 })
  expect((await client.conversations.get(uuid)).uuid).toBe(uuid)
  expect(await answer(person, [...erase, '--only-project', String(id)])).toEqual({ deleted: 1, active: 0 })
})

test('projects: create prints the id, list shows it, update sets the retention, delete requires the project name', async () => {
  const person = await someone()
  const { stdout } = await person.stet(['projects', 'create', 'Old bot', '--default-model', 'm-2'])
  expect(stdout).toMatch(/^\d+\n$/)
  const made = stdout.trim()
  expect(await answer(person, ['projects', 'list'])).toMatchObject({ current: id })
  expect((await person.stet(['projects', 'list'])).stdout).toContain(`\t${made}\tOld bot\t-\t`)
  for (const [days, retentionDays] of [
    ['30', 30],
    ['server', null],
  ] as const)
    expect(await answer(person, ['projects', 'update', made, '--retention-days', days])).toMatchObject({
      retentionDays,
    })
  expect(await person.stet(['projects', 'update', made, '--retention-days', '0'])).toMatchObject({ code: 2 })
  expect(await person.stet(['projects', 'delete', made, '--confirm-name', 'old bot'])).toMatchObject({ code: 7 })
  expect(await person.stet(['projects', 'delete', made, '--confirm-name', 'Old bot'])).toMatchObject({ code: 0 })
})

test('logs, conversations: an external run can be recorded, listed, printed and continued', async () => {
  const person = await someone()
  const messages = JSON.stringify([{ role: 'user', content: 'Where is my order?' }])
  const piped = await person.stet(['logs', 'create', 'hello', '--messages', '-', '--response', 'On its way.'], messages)
  const uuid = piped.stdout.trim()
  expect(uuid).toMatch(/^[0-9a-f-]{36}$/)
  await writeFile(join(person.folder, 'talk.json'), messages)
  await writeFile(join(person.folder, 'answer.txt'), 'Tomorrow.')
  const customIdentifier = `after ${uuid}`
  const files = ['--messages', 'talk.json', '--response-file', 'answer.txt']
  const second = await answer(person, ['logs', 'create', 'hello', ...files, '--id', customIdentifier])
  expect(second).toMatchObject({ customIdentifier })

  const text = await person.stet(['conversations', 'get', uuid.slice(0, 8)])
  expect(text.stdout).toBe('[user]\nWhere is my order?\n\n[assistant]\nOn its way.\n')
  const markdown = await person.stet(['conversations', 'get', uuid, '--format', 'markdown'])
  expect(markdown.stdout).toBe('## user\n\nWhere is my order?\n\n## assistant\n\nOn its way.\n')
  const json = await person.stet(['conversations', 'get', uuid, '--format', 'json'])
  expect(JSON.parse(json.stdout)).toEqual(await answer(person, ['conversations', 'get', uuid]))

  const byId = await answer(person, ['conversations', 'list', '--id', customIdentifier, '--since', '1h'])
  expect(byId.conversations.map((one: { uuid: string }) => one.uuid)).toEqual([second.uuid])
  const limited = await answer(person, ['conversations', 'list', '--path', 'hello', '--limit', '1'])
  expect(limited.conversations).toHaveLength(1)
  expect((await answer(person, ['conversations', 'list', '--status', 'running'])).conversations).toEqual([])
  expect((await person.stet(['conversations', 'list', '--path', 'unused'])).stdout).toBe('')
  expect(await person.stet(['logs', 'create', 'none', '--messages', '-'], messages)).toMatchObject({ code: 5 })
  expect(await person.stet(['logs', 'create', 'hello', '--messages', '-'], '{}')).toMatchObject({ code: 2 })
})

test('evaluations and annotate: a single evaluation is the default, several are listed, and an invalid score exits 7', async () => {
  const person = await someone()
  const messages = '[{"role":"user","content":"Hi"}]'
  const log = async (path: string) =>
    (await person.stet(['logs', 'create', path, '--messages', '-'], messages)).stdout.trim()
  const uuid = await log('hello')
  const none = await person.stet(['annotate', uuid, '4'])
  expect(none.code).toBe(5)
  expect(none.stderr).toContain('stet evaluations create')
  const created = await person.stet([
    'evaluations',
    'create',
    'Helpful',
    '--metric',
    'rating',
    '--path',
    'hello',
    '--min-threshold',
    '4',
  ])
  const rating = created.stdout.trim()
  const scored = await person.stet(['annotate', uuid.slice(0, 8), '4', '--reason', 'clear, slightly long'])
  expect(scored.stderr).toContain('4 (normalized 75) · passed · evaluation "Helpful"')
  expect(await client.conversations.annotations(uuid)).toMatchObject([
    { score: 4, evaluationUuid: rating, metadata: { reason: 'clear, slightly long' } },
  ])
  const outside = await person.stet(['annotate', uuid, '6', '--json'])
  expect(outside).toMatchObject({ code: 7, stdout: '' })

  const binary = await answer(person, ['evaluations', 'create', 'Right', '--metric', 'binary', '--reverse'])
  expect(binary).toMatchObject({ documentUuid: null, configuration: { reverseScale: true } })
  const several = await person.stet(['annotate', uuid, '1', '--yes'])
  expect(several.code).toBe(2)
  expect(several.stderr).toContain(`${rating}  Helpful (rating)`)
  expect(several.stderr).toContain(`${binary.uuid}  Right (binary)`)
  const named = await answer(person, ['annotate', uuid, '1', '--evaluation', binary.uuid.slice(0, 8)])
  expect(named).toMatchObject({ evaluation: 'Right', annotation: { normalizedScore: 0, hasPassed: false } })
  expect(await person.stet(['annotate', await log('other'), '1', '--evaluation', rating])).toMatchObject({ code: 5 })

  const rule = [
    '--check',
    'contains',
    '--check',
    'regex=^Dear',
    '--check',
    '{"type":"latency","max":900,"negate":true}',
  ]
  expect(await answer(person, ['evaluations', 'create', 'Polite', ...rule, '--path', 'hello'])).toMatchObject({
    type: 'rule',
    metric: 'binary',
    checks: [{ type: 'contains' }, { type: 'regex', pattern: '^Dear' }, { type: 'latency', max: 900, negate: true }],
  })
  expect(await person.stet(['evaluations', 'create', 'x', '--check', '{"type":"odd"}'])).toMatchObject({ code: 7 })

  const forOther = await answer(person, ['evaluations', 'list', '--path', 'other'])
  expect(forOther.evaluations.map(({ name }: { name: string }) => name)).toEqual(['Right'])
  expect((await person.stet(['evaluations', 'list'])).stdout.split('\n')).toHaveLength(4)
})

test('config list: shows every setting with its origin and the profiles, without requests or secrets', async () => {
  const person = await someone({ STET_PROJECT_ID: '' })
  await writeFile(
    join(person.folder, 'stet.config.json'),
    JSON.stringify({ projectId: 12, profiles: { staging: { baseUrl: 'https://stet.staging.example' } } }),
  )
  await person.stet(['login', '--profile', 'local', '--api-key-stdin'], server.adminKey)
  const file = join(person.folder, '.config', 'stet', 'credentials.json')
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ local: { keyName: 'admin' } })
  const away = ['--base-url', 'http://127.0.0.1:1']
  const { values, profiles } = await answer(person, ['config', 'list', ...away])
  const settings = Object.fromEntries(values.map((one: { name: string }) => [one.name, one]))
  expect(settings).toMatchObject({
    baseUrl: { value: 'http://127.0.0.1:1/api/v3', origin: '--base-url' },
    apiKey: { value: `${server.adminKey.slice(0, 9)}…`, origin: 'STET_API_KEY' },
    projectId: { value: 12, origin: 'configuration' },
    promptsDir: { value: 'prompts', origin: 'configuration' },
  })
  expect(profiles).toEqual([
    { name: 'local', baseUrl: `${server.address}/api/v3`, keyName: 'admin' },
    { name: 'staging', baseUrl: 'https://stet.staging.example', keyName: null },
  ])
  const shown = await person.stet(['config', 'list', '--show-origin'])
  expect(shown.stdout).toContain('projectId\t12\tconfiguration\n')
  expect((await person.stet(['config', 'list'])).stdout).toContain('projectId\t12\n')
  expect(person.printed).not.toContain(server.adminKey)
})
