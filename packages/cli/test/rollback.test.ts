import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Change, Stet } from '@stet/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startProxy, type Way } from './support/proxy.ts'
import { personIn, projectWith, server } from './support/shared-server.ts'
import { Person } from './support/stet.ts'

let proxy: Way
beforeAll(async () => {
  proxy = await startProxy(server.address)
})
afterAll(() => proxy.stop())

/** Creates a project, and a person who selects it by environment variables. */
async function project(): Promise<{ person: Person; client: Stet; id: number }> {
  const { client, id } = await projectWith({})
  return { person: await personIn(id), client, id }
}

const write = (path: string, content: string): Change => ({ path, content, status: 'modified' })

async function publish(client: Stet, changes: readonly Change[]): Promise<string> {
  const draft = await client.versions.create('change')
  await client.versions.push(draft.uuid, changes)
  return (await client.versions.publish(draft.uuid)).uuid
}

async function live(client: Stet): Promise<Record<string, string>> {
  const prompts = await client.prompts.list({ versionUuid: 'live' })
  return Object.fromEntries(prompts.map(({ path, content }) => [path, content]))
}

/** Publishes three versions, in which one prompt is edited, one added and one deleted. */
async function history(client: Stet): Promise<string[]> {
  return [
    await publish(client, [write('tone', 'Be short.\n'), write('old', 'Old.\n')]),
    await publish(client, [write('tone', 'Be kind.\n'), write('new', 'New.\n')]),
    await publish(client, [write('tone', 'Be loud.\n'), { path: 'old', status: 'deleted' }]),
  ]
}

test('rollback shows the changes, and live serves the release before again in one call', async () => {
  const { person, client } = await project()
  const [first, second] = await history(client)
  const asked = await person.stet(['rollback'])
  expect(asked).toMatchObject({ code: 2, stdout: '' })
  expect(asked.stderr).toContain('--yes')
  const dry = await person.stet(['rollback', '--dry-run', '--json'])
  expect(JSON.parse(dry.stdout)).toMatchObject({
    target: { seq: 2, version: { number: 2 } },
    release: null,
    changes: [
      { path: 'old', status: 'added' },
      { path: 'tone', status: 'modified' },
    ],
  })
  const before = await client.versions.list()

  const done = await person.stet(['rollback', '--yes', '--reason', 'too loud'])
  expect(done).toMatchObject({ code: 0, stdout: '' })
  expect(done.stderr).toContain('-Be loud.\n+Be kind.')
  expect(done.stderr).toContain('Live serves v2 again')
  expect(await live(client)).toEqual({ tone: 'Be kind.\n', old: 'Old.\n', new: 'New.\n' })
  expect(await client.versions.get('live')).toMatchObject({ uuid: second, version: 2 })
  const { items } = await client.environments.releases('live')
  expect(items[0]).toMatchObject({ kind: 'rollback', reason: 'too loud' })
  expect(await person.stet(['rollback', '--yes'])).toMatchObject({ code: 0 })
  expect((await client.versions.get('live')).uuid).toBe(first)
  expect((await client.versions.list()).map(({ uuid }) => uuid)).toEqual(before.map(({ uuid }) => uuid))
})

test('rollback takes a release, a version or a revision, and refuses what live has not served', async () => {
  const { person, client } = await project()
  const [first = '', second = '', third = ''] = await history(client)
  const to = async (ref: string) => JSON.parse((await person.stet(['rollback', ref, '--yes', '--json'])).stdout)
  expect(await to('1')).toMatchObject({ release: { version: { uuid: first } } })
  expect(await live(client)).toEqual({ tone: 'Be short.\n', old: 'Old.\n' })
  expect(await to(first.slice(0, 8))).toMatchObject({ release: null, changes: [] })
  expect(await to('v2')).toMatchObject({ release: { version: { uuid: second } } })
  await client.prompts.createOrUpdate('tone', { versionUuid: second, prompt: 'Be odd.\n', force: true })
  expect(await to(third)).toMatchObject({ release: { version: { uuid: third } } })
  const restored = await person.stet(['rollback', 'v2@0', '--yes'])
  expect(restored.stderr).toContain('-Be loud.\n+Be kind.')
  expect(restored.stderr).toContain('Live is now v4, with the texts of v2')
  expect(await live(client)).toEqual({ tone: 'Be kind.\n', old: 'Old.\n', new: 'New.\n' })
  expect(await to('v2@1')).toMatchObject({ release: { version: { uuid: second, revision: 1 } } })
  expect(await live(client)).toMatchObject({ tone: 'Be odd.\n' })
  const draft = await client.versions.create('never published')
  expect(await to(second.slice(0, 8).toUpperCase())).toMatchObject({ release: null })
  for (const ref of [draft.uuid, '99', 'v99', 'v2@7', 'v2@', 'v3@', 'v3@0x0', '1@0', 'x'])
    expect(await person.stet(['rollback', ref, '--yes']), ref).toMatchObject({ code: 5 })
})

test('rollback refuses the beginning of two uuids', async () => {
  const { client, id } = await project()
  const [first = '', second = ''] = await history(client)
  const person = await personIn(id, proxy)
  const begin = first.slice(0, 8)
  const isReleases = (url: string): boolean => url.includes('/releases')
  const alike = (text: string): string => text.replaceAll(second.slice(0, 8), begin)
  proxy.collects = (url) => (isReleases(url) ? { hasLength: true, change: alike } : undefined)
  const refused = await person.stet(['rollback', begin, '--yes'])
  proxy.collects = undefined
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(first) })
  expect(await live(client)).toMatchObject({ tone: 'Be loud.\n' })
  expect(await person.stet(['rollback', begin, '--yes'])).toMatchObject({ code: 0 })
})

test('rollback skips a version that was rolled back before the newest publication', async () => {
  const { person, client } = await project()
  const first = await publish(client, [write('tone', 'Be short.\n')])
  await publish(client, [write('tone', 'Be bad.\n')])
  await client.environments.rollback('live')
  await publish(client, [write('tone', 'Be kind.\n')])
  expect(await person.stet(['rollback', '--yes'])).toMatchObject({ code: 0 })
  expect(await client.versions.get('live')).toMatchObject({ uuid: first, version: 1 })
  expect(await live(client)).toEqual({ tone: 'Be short.\n' })
})

test('rollback in a project with one version, or none, reports that there is no earlier one', async () => {
  const { person, client } = await project()
  expect(await person.stet(['rollback', '--yes'])).toMatchObject({ code: 5 })
  await publish(client, [write('tone', 'Be short.\n')])
  const { code, stderr } = await person.stet(['rollback', '--yes'])
  expect(code).toBe(5)
  expect(stderr).toContain('Live has no earlier version')
})

test('rollback exits 6 if a colleague publishes after the diff was shown', async () => {
  const { person, client, id } = await project()
  await history(client)
  proxy.before = async (line) => {
    if (!line.endsWith('/rollback')) return
    proxy.before = undefined
    await publish(client, [write('tone', 'Be new.\n')])
  }
  const racer = new Person(person.folder, proxy, { STET_API_KEY: server.adminKey, STET_PROJECT_ID: String(id) })
  expect(await racer.stet(['rollback', '--yes'])).toMatchObject({ code: 6 })
  expect(await live(client)).toMatchObject({ tone: 'Be new.\n' })
})

test('revert drops some or all changes of a draft; files stay until a pull', async () => {
  const { person, client, id } = await project()
  await publish(client, [write('tone', 'Be short.\n'), write('old', 'Old.\n')])
  await mkdir(join(person.folder, '.git'))
  await person.stet(['init', '--project', String(id)])
  const file = join(person.folder, 'prompts', 'tone.promptl')
  await writeFile(file, 'Be kind.\n')
  await writeFile(join(person.folder, 'prompts', 'new.promptl'), 'New.\n')
  const { version } = JSON.parse((await person.stet(['push', '--json'])).stdout)
  const texts = async () =>
    Object.fromEntries((await client.prompts.list({ versionUuid: version.uuid })).map((one) => [one.path, one.content]))

  const asked = await person.stet(['revert', 'tone'])
  expect(asked).toMatchObject({ code: 2 })
  expect(asked.stderr).toContain('--yes')
  expect(await texts()).toMatchObject({ tone: 'Be kind.\n' })
  const byFile = await person.stet(['revert', 'prompts/tone.promptl', '--yes', '--json'])
  expect(JSON.parse(byFile.stdout)).toMatchObject({ reverted: [{ path: 'tone', action: 'reset' }] })
  expect(await texts()).toEqual({ tone: 'Be short.\n', old: 'Old.\n', new: 'New.\n' })
  expect(await readFile(file, 'utf8')).toBe('Be kind.\n')
  expect(await person.stet(['revert', 'tone', '--yes'])).toMatchObject({ code: 5 })

  const all = await person.stet(['revert', '--yes'])
  expect(all.stderr).toContain('removed  new')
  expect(await texts()).toEqual({ tone: 'Be short.\n', old: 'Old.\n' })
  expect((await person.stet(['revert', '--yes'])).stderr).toContain('no changes')
  await person.stet(['pull'])
  expect(await readFile(file, 'utf8')).toBe('Be short.\n')
  expect(await person.stet(['revert', '--yes', '-V', 'live'])).toMatchObject({ code: 6 })
})

test('init --from-latitude takes project, folder and draft, and the first push needs no further step', async () => {
  const { person, client, id } = await project()
  await publish(client, [write('tone', 'Be short.\n')])
  const draft = await client.versions.create('half done')
  await mkdir(join(person.folder, '.git'))
  const stet = (argv: string[]) => person.stet(argv, '', { STET_PROJECT_ID: '' })
  expect(await stet(['init', '--from-latitude'])).toMatchObject({ code: 5 })
  const lock = { projectId: id, rootFolder: 'src/prompts', version: draft.uuid }
  await writeFile(join(person.folder, 'latitude-lock.json'), JSON.stringify(lock))
  const hinted = await stet(['init'])
  expect(hinted.code).toBe(2)
  expect(hinted.stderr).toContain('--from-latitude')
  await mkdir(join(person.folder, 'src/prompts'), { recursive: true })
  await writeFile(join(person.folder, 'src/prompts/tone.promptl'), 'Be short.\n')
  await writeFile(join(person.folder, 'src/prompts/added.promptl'), 'Added.\n')
  const init = await stet(['init', '--from-latitude', '--json'])
  expect(JSON.parse(init.stdout)).toMatchObject({ project: { id }, version: { uuid: draft.uuid } })
  const pushed = JSON.parse((await stet(['push', '--json'])).stdout)
  expect(pushed).toMatchObject({ version: { uuid: draft.uuid }, changes: [{ path: 'added', status: 'added' }] })
  expect(JSON.parse(await readFile(join(person.folder, 'stet.config.json'), 'utf8'))).toMatchObject({
    projectId: id,
    promptsDir: 'src/prompts',
  })
})

test('a lock of the discontinued service without a project is refused by name', async () => {
  const { person } = await project()
  await writeFile(join(person.folder, 'latitude-lock.json'), '{"rootFolder":"prompts"}')
  const { code, stderr } = await person.stet(['init', '--from-latitude'])
  expect(code).toBe(2)
  expect(stderr).toContain('latitude-lock.json')
})
