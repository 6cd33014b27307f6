import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { CreateExampleBody } from '@stet/contract/vocabulary'
import { Stet } from '@stet/sdk'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { sha256 } from '../src/commands/projects/archive/project-archive.ts'
import { readArchive } from '../src/commands/projects/archive/read-archive.ts'
import { packArchive } from '../src/commands/projects/archive/write-archive.ts'
import { startProxy } from './support/proxy.ts'
import { type RunningServer, startServer } from './support/server.ts'
import { account, server } from './support/shared-server.ts'
import { onTerminal, Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const isLong = process.env['STET_TEST_LONG'] === '1'

const source = account
let there: RunningServer
let target: Stet
let person: Person
let other: Person
let projectId: number
/** The archive of the project, and what it contains, before a test changes the project. */
let archive: Buffer
let original: Awaited<ReturnType<typeof contentOf>>

beforeAll(async () => {
  there = await startServer()
  target = new Stet({ baseUrl: there.address, apiKey: there.adminKey })
  projectId = await makeProject(source)
  original = await contentOf(source, projectId)
})
afterAll(() => there.stop())
beforeEach(async () => {
  person = new Person(await temporaryFolder(), server, { STET_API_KEY: server.adminKey })
  other = new Person(await temporaryFolder(), there, { STET_API_KEY: there.adminKey })
  archive ??= await exportNow()
  for (const { id, name } of await target.projects.list())
    if (name !== 'default') await target.projects.delete(id, { name })
})

/**
 * A project with edits, deletions, moves, notes, an old draft that was published late, forced edits of live and of
 * older versions, rollbacks, and two drafts.
 */
async function makeProject(client: Stet): Promise<number> {
  const { project, version: first } = await client.projects.create('Support', {
    defaultModel: 'demo',
    retentionDays: 90,
  })
  const at = { projectId: project.id }
  const push = (uuid: string, texts: Record<string, string | null>) =>
    client.versions.push(
      uuid,
      Object.entries(texts).map(([path, content]) =>
        content === null ? { path, status: 'deleted' } : { path, status: 'modified', content },
      ),
      at,
    )
  await push(first.uuid, { 'support/reply': 'One', 'support/größe': 'Größe 🎉', gone: 'Gone', forced: 'Before' })
  await client.versions.publish(first.uuid, { ...at, title: 'First', description: 'Notes\nin two lines' })
  const late = await client.versions.create('late', at)
  const conflicting = await client.versions.create('conflicting', at)
  await push(conflicting.uuid, { 'support/reply': 'Contested', 'draft/new': 'New', gone: null })
  const second = await client.versions.create('second', at)
  await push(second.uuid, { 'support/reply': 'Two', gone: null, tone: '<prompt path="support/reply" />' })
  await client.versions.publish(second.uuid, at)
  await push(late.uuid, { late: 'Late', empty: '' })
  await client.versions.publish(late.uuid, at)
  const edit = (path: string, prompt: string, { uuid: versionUuid } = first) =>
    client.prompts.createOrUpdate(path, { ...at, versionUuid, prompt, force: true })
  await edit('forced', 'After')
  await edit('tone', 'Edited in v3', late)
  await client.environments.rollback('live', { ...at, to: second.uuid })
  await edit('support/reply', 'Edited while live', second)
  await edit('hotfix', 'Added by an edit', second)
  const fourth = await client.versions.create('fourth', at)
  await push(fourth.uuid, { tone: 'Four' })
  // A chain, whose last path is free after the others have left.
  const moves = [
    { path: 'forced', from: 'support/größe', status: 'moved' },
    { path: 'strict', from: 'forced', status: 'moved', content: 'Stricter' },
  ] as const
  await client.versions.push(fourth.uuid, moves, at)
  await client.versions.publish(fourth.uuid, at)
  await edit('hotfix', '', fourth)
  await client.environments.rollback('live', { ...at, to: second.uuid, reason: 'Too many complaints' })
  await edit('forced', 'Edited after the rollback', second)
  const open = await client.versions.create('open', at)
  await push(open.uuid, { tone: 'Plain', 'support/größe': null })
  const { documentUuid } = await client.prompts.get('tone', at)
  await client.evaluations.create({ name: 'All', metric: 'binary' }, at)
  await client.evaluations.create(
    { name: 'Tone', metric: 'rating', documentUuid, description: 'd', configuration: { minThreshold: 3 } },
    at,
  )
  for (const [name, parameters] of [
    ['Größe', { ticket: 'Wo ist mein Paket? 🎉', order: { id: 12 }, none: null }],
    ['Alone', {}],
  ] as const)
    await client.examples.create({ documentUuid, name, parameters }, at)
  const drafted = await client.prompts.get('draft/new', { ...at, versionUuid: conflicting.uuid })
  const messages: CreateExampleBody['messages'] = [{ role: 'user', content: [{ type: 'text', text: 'Again' }] }]
  const expected = { z: 1, a: ['é', null] }
  const toolResults = { find: [{ args: { b: 1 }, result: null }] }
  const row = { messages, expected, toolResults, checks: [{ type: 'latency', max: 5 } as const], tags: ['must'] }
  await client.examples.create({ documentUuid: drafted.documentUuid, name: 'Chat', parameters: { a: 1 }, ...row }, at)
  return project.id
}

/** The examples of a prompt as far as an archive keeps them. */
async function examplesOf(client: Stet, at: { projectId: number; versionUuid?: string }, path: string) {
  const { documentUuid } = await client.prompts.get(path, at)
  const examples = await client.examples.list(documentUuid, { projectId: at.projectId })
  return examples.map(({ name, parameters, messages, expected, checks, toolResults, tags }) => {
    return { name, parameters, messages, expected, checks, toolResults, tags }
  })
}

/** Everything about a project that an import can keep. */
async function contentOf(client: Stet, id: number) {
  const at = { projectId: id }
  const versions = await client.versions.list(at)
  const described = []
  for (const version of versions) {
    // An archive does not name the rows and the people of the server that it comes from.
    const { id: _, projectId, authorId, userId, updatedAt, publishedBy, forcedEdits, ...kept } = version
    const textsAt = async (versionUuid: string) =>
      (await client.prompts.list({ ...at, versionUuid })).map(({ path, content, contentHash }) => ({
        ...{ path, content, contentHash },
      }))
    const { changes } = await client.versions.diff(version.uuid, at)
    const revisions = []
    for (let revision = 0; revision < version.revision; revision += 1)
      revisions.push(await textsAt(`${version.uuid}@${revision}`))
    described.push({
      ...kept,
      changes: changes.map(({ documentUuid: _, ...change }) => change),
      texts: await textsAt(version.uuid),
      revisions,
      edits: forcedEdits.map(({ author: { name, email }, ...edit }) => ({ ...edit, name, email })),
    })
  }
  const paths = new Map((await client.prompts.list(at)).map(({ documentUuid, path }) => [documentUuid, path]))
  const evaluations = (await client.evaluations.list(at)).map(
    ({ name, description, metric, configuration, documentUuid }) => {
      return { name, description, metric, configuration, path: documentUuid && paths.get(documentUuid) }
    },
  )
  const conflicting = versions.find(({ title }) => title === 'conflicting')?.uuid ?? ''
  const examples = [
    ...(await examplesOf(client, at, 'tone')),
    ...(await examplesOf(client, { ...at, versionUuid: conflicting }, 'draft/new')),
  ]
  const project = (await client.projects.list()).find((one) => one.id === id)
  const { name, defaultProvider, defaultModel, retentionDays } = project ?? {}
  return { name, defaultProvider, defaultModel, retentionDays, versions: described, evaluations, examples }
}

async function exportNow(): Promise<Buffer> {
  const made = await person.stet(['projects', 'export', String(projectId), 'support.stet.gz'])
  expect(made).toMatchObject({ code: 0, stdout: 'support.stet.gz\n' })
  return readFile(join(person.folder, 'support.stet.gz'))
}
const importInto = async (bytes: Uint8Array, ...args: string[]) => {
  await writeFile(join(other.folder, 'a.stet.gz'), bytes)
  return other.stet(['projects', 'import', 'a.stet.gz', ...args])
}
const projectNames = async () => (await target.projects.list()).map(({ name }) => name).sort()

test('a project with its whole history moves to another server', async () => {
  const imported = await importInto(archive)
  expect(imported, imported.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\n$/) })
  const content = await contentOf(target, Number(imported.stdout))
  expect(content).toEqual(original)
  expect(content.versions.map(({ status, changes }) => [status, changes.map(({ conflict }) => conflict)])).toEqual([
    ['draft', [false, false]],
    ['draft', [false, true]],
    ...Array.from({ length: 4 }, () => ['merged', expect.any(Array)]),
  ])
  expect(content.examples.map(({ name }) => name)).toEqual(['Größe', 'Alone', 'Chat'])
  expect(await projectNames()).toEqual(['Support', 'default'])
  const again = await other.stet(['projects', 'export', imported.stdout.trim(), 'again.stet.gz'])
  expect(again.code).toBe(0)
  const back = await readFile(join(other.folder, 'again.stet.gz'))
  expect(withoutEvaluations(back)).toEqual(withoutEvaluations(archive))
})

test('only an archive with forced edits or a rollback has a version that earlier releases refuse', async () => {
  const { project, version } = await target.projects.create('plain')
  await target.versions.push(version.uuid, [{ path: 'a', status: 'added', content: 'A' }], { projectId: project.id })
  await target.versions.publish(version.uuid, { projectId: project.id })
  const headerOf = async (file: string) => {
    expect(await other.stet(['projects', 'export', String(project.id), file])).toMatchObject({ code: 0 })
    return JSON.parse(firstLine(await readFile(join(other.folder, file))))
  }
  const plain = await headerOf('1.stet.gz')
  expect(plain).toMatchObject({ version: 1 })
  expect(plain).not.toHaveProperty('live')
  const edited = { projectId: project.id, versionUuid: 'live', prompt: 'B', force: true }
  await target.prompts.createOrUpdate('a', edited)
  expect(await headerOf('2.stet.gz')).toMatchObject({ version: 2, live: 1 })
})

test('moved prompts keep their examples and evaluations, in versions and in drafts', async () => {
  const { project, version: first } = await target.projects.create('Moves')
  const at = { projectId: project.id }
  const texts = ['a', 'b', 'c', 'd', 'e'].map((path) => ({ path, status: 'added' as const, content: `text ${path}` }))
  await target.versions.push(first.uuid, texts, at)
  await target.versions.publish(first.uuid, at)
  const swap = [
    { path: 'a', from: 'b', status: 'moved' },
    { path: 'b', from: 'a', status: 'moved' },
  ] as const
  const contested = await target.versions.create('contested', at)
  await target.versions.push(contested.uuid, [...swap, { path: 'f', from: 'e', status: 'moved' }], at)
  const second = await target.versions.create('second', at)
  await target.prompts.delete('d', { ...at, versionUuid: second.uuid })
  const moved = { path: 'd', from: 'c', status: 'moved', content: 'edited' } as const
  const again = { path: 'c', status: 'added', content: 'text c' } as const
  await target.versions.push(second.uuid, [moved, again, { path: 'e', status: 'modified', content: 'live' }], at)
  const { documentUuid } = await target.prompts.get('d', { ...at, versionUuid: second.uuid })
  await target.examples.create({ documentUuid, name: 'Moved', parameters: {} }, at)
  await target.evaluations.create({ name: 'Moved', metric: 'binary', documentUuid }, at)
  const drafted = await target.prompts.get('f', { ...at, versionUuid: contested.uuid })
  await target.examples.create({ documentUuid: drafted.documentUuid, name: 'Drafted', parameters: {} }, at)
  await target.versions.publish(second.uuid, at)
  const swapped = await target.versions.create('swapped', at)
  await target.versions.push(swapped.uuid, swap, at)
  await target.versions.publish(swapped.uuid, at)
  const shown = async (projectId: number) => {
    const diffs = []
    for (const { uuid, title, changeCount } of await target.versions.list({ projectId })) {
      const { changes } = await target.versions.diff(uuid, { projectId })
      diffs.push([title, changeCount, changes.map(({ documentUuid: _, ...change }) => change)])
    }
    const named = async (path: string) => (await examplesOf(target, { projectId }, path)).map(({ name }) => name)
    const [evaluation] = await target.evaluations.list({ projectId })
    const { documentUuid } = await target.prompts.get('d', { projectId })
    expect(evaluation?.documentUuid).toBe(documentUuid)
    return { diffs, examples: [await named('d'), await named('e'), await named('c')] }
  }
  const before = await shown(project.id)
  expect(before.examples).toEqual([['Moved'], ['Drafted'], []])
  expect(await other.stet(['projects', 'export', String(project.id), 'm.stet.gz'])).toMatchObject({ code: 0 })
  const packed = await readFile(join(other.folder, 'm.stet.gz'))
  expect(JSON.parse(firstLine(packed))).toMatchObject({ version: 3 })
  await target.projects.delete(project.id, { name: 'Moves' })
  const imported = await importInto(packed)
  expect(imported.code, imported.stderr).toBe(0)
  expect(await shown(Number(imported.stdout))).toEqual(before)
})

test('a draft that moves prompts which live has moved or deleted since can be imported, as new prompts', async () => {
  const { project, version: first } = await target.projects.create('Moved in live')
  const at = { projectId: project.id }
  const texts = ['a', 'b', 'c'].map((path) => ({ path, status: 'added' as const, content: `text ${path}` }))
  await target.versions.push(first.uuid, texts, at)
  await target.versions.publish(first.uuid, at)
  const { documentUuid } = await target.prompts.get('b', at)
  await target.examples.create({ documentUuid, name: 'Ada', parameters: {} }, at)
  const open = await target.versions.create('open', at)
  const moves = ['a', 'b', 'c'].map((from) => ({ path: `${from}-open`, from, status: 'moved' as const }))
  await target.versions.push(open.uuid, [...moves, { path: 'c', status: 'added', content: 'new c' }], at)
  const second = await target.versions.create('published', at)
  await target.versions.push(second.uuid, [{ path: 'a-live', from: 'a', status: 'moved' }], at)
  for (const path of ['b', 'c']) await target.prompts.delete(path, { ...at, versionUuid: second.uuid })
  await target.versions.publish(second.uuid, at)
  const textsOf = async (projectId: number, versionUuid: string) => {
    const prompts = await target.prompts.list({ projectId, versionUuid })
    return Object.fromEntries(prompts.map(({ path, content }) => [path, content]))
  }
  const before = [await textsOf(project.id, 'live'), await textsOf(project.id, open.uuid)]
  expect(await other.stet(['projects', 'export', String(project.id), 'm.stet.gz'])).toMatchObject({ code: 0 })
  const packed = await readFile(join(other.folder, 'm.stet.gz'))
  await target.projects.delete(project.id, { name: 'Moved in live' })
  const imported = await importInto(packed)
  expect(imported.code, imported.stderr).toBe(0)
  const id = Number(imported.stdout)
  expect([await textsOf(id, 'live'), await textsOf(id, open.uuid)]).toEqual(before)
  const there = await target.prompts.get('b-open', { projectId: id, versionUuid: open.uuid })
  expect(await target.examples.list(there.documentUuid, { projectId: id })).toMatchObject([{ name: 'Ada' }])
})

test('an archive of an unchanged project has the same bytes, and overwrites a file only with --force', async () => {
  expect((await exportNow()).equals(archive)).toBe(true)
  const argv = ['projects', 'export', String(projectId), 'support.stet.gz']
  expect(await person.stet(argv)).toMatchObject({ code: 6, stderr: expect.stringContaining('--force') })
  expect(await person.stet([...argv, '--force'])).toMatchObject({ code: 0 })
  const shown = await person.stet([...argv, '--force'], '', {}, { tty: onTerminal })
  expect(shown.stderr).toMatch(/^\r\x1b\[K1 of \d+ versions read/)
})

test('an import refuses an existing project, and makes a copy under another name with new uuids', async () => {
  await writeFile(join(person.folder, 'b.stet.gz'), archive)
  const refused = await person.stet(['projects', 'import', 'b.stet.gz'])
  expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining('A project "Support" already exists') })
  const taken = await person.stet(['projects', 'import', 'b.stet.gz', '--name', 'Copy'])
  expect(taken).toMatchObject({ code: 6, stderr: expect.stringContaining('--new-uuids') })
  const left = (await source.projects.list()).filter(({ name }) => /^(Support|Copy)( \(|$)/.test(name))
  expect(left.map(({ name }) => name)).toEqual(['Support'])
  const copied = await person.stet(['projects', 'import', 'b.stet.gz', '--name', 'Copy', '--new-uuids'])
  expect(copied.code, copied.stderr).toBe(0)
  const id = Number(copied.stdout)
  const copy = await contentOf(source, id)
  const textsOf = ({ versions }: typeof copy) =>
    versions.map(({ title, mergedAt, texts }) => ({ title, mergedAt, texts }))
  expect(textsOf(copy)).toEqual(textsOf(original))
  const uuids = new Set(original.versions.map(({ uuid }) => uuid))
  expect(copy.versions.filter(({ uuid }) => uuids.has(uuid))).toEqual([])
  await source.projects.delete(id, { name: 'Copy' })
})

test('--into continues a project that has the first versions, and refuses another history', async () => {
  const id = Number((await importInto(archive)).stdout)
  const draft = await source.versions.create('later', { projectId })
  await source.versions.push(draft.uuid, [{ path: 'later', status: 'added', content: 'Later' }], { projectId })
  await source.versions.publish(draft.uuid, { projectId })
  const later = await exportNow()
  const continued = await importInto(later, '--into', String(id), '--json')
  expect(continued.code, continued.stderr).toBe(0)
  expect(JSON.parse(continued.stdout)).toMatchObject({ project: { id }, isContinued: true, versions: 1, drafts: 2 })
  const [there, here] = [await contentOf(target, id), await contentOf(source, projectId)]
  expect({ ...there, evaluations: here.evaluations }).toEqual(here)
  expect((await target.evaluations.list({ projectId: id })).map(({ name }) => name)).toEqual(['Tone', 'All'])
  const { project } = await target.projects.create('empty')
  expect((await importInto(later, '--into', String(project.id), '--new-uuids')).code).toBe(0)
  const refused = await importInto(later, '--into', String(project.id))
  expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining('not in the archive') })
})

test('an import that was killed is continued by the next one', async () => {
  const proxy = await startProxy(there.address)
  try {
    const viaProxy = new Person(await temporaryFolder(), proxy, { STET_API_KEY: there.adminKey })
    await writeFile(join(viaProxy.folder, 'a.stet.gz'), archive)
    const args = ['projects', 'import', 'a.stet.gz']
    const child = viaProxy.spawn(args)
    const ended = once(child, 'close')
    let writes = 0
    proxy.before = async (line) => {
      if (!line.startsWith('GET')) writes += 1
      if (writes < 9) return
      proxy.held = /./
      child.kill('SIGKILL')
    }
    expect((await ended)[1]).toBe('SIGKILL')
    ;[proxy.held, proxy.before] = [undefined, undefined]
    expect(await projectNames()).toEqual(['Support (import not finished)', 'default'])
    const continued = await viaProxy.stet(args)
    expect(continued.code, continued.stderr).toBe(0)
    expect(await contentOf(target, Number(continued.stdout))).toEqual(original)
    await target.projects.delete(Number(continued.stdout), { name: 'Support' })
  } finally {
    await proxy.stop()
  }
})

/** The content without uuids, which an import with --new-uuids replaces. A parent is the number of its version. */
function withoutUuids({ versions, ...content }: typeof original) {
  const place = new Map(versions.map(({ uuid, version }) => [uuid, version]))
  const anonymous = versions.map(({ uuid: _, parentCommitUuid, baseVersionUuid, ...version }) => ({
    ...version,
    parent: place.get(parentCommitUuid ?? ''),
    base: place.get(baseVersionUuid ?? ''),
  }))
  return { ...content, versions: anonymous }
}

test.each([[[]], [['--new-uuids']]])(
  'an import %j that was interrupted at any write says how to go on, and is continued',
  async (more) => {
    const key = await target.apiKeys.create({ name: 'fast', scopes: ['admin'], plan: 'custom', limit: 100_000 })
    const proxy = await startProxy(there.address)
    const viaProxy = new Person(await temporaryFolder(), proxy, { STET_API_KEY: key.key })
    await writeFile(join(viaProxy.folder, 'a.stet.gz'), archive)
    const args = ['projects', 'import', 'a.stet.gz', ...more]
    let isOver = false
    try {
      for (let interruptedAt = isLong ? 2 : 11; !isOver; interruptedAt += 1) {
        let writes = 0
        const running = viaProxy.start(args)
        proxy.before = async (line) => {
          if (!line.startsWith('GET')) writes += 1
          if (writes < interruptedAt) return
          proxy.held = /./
          running.interrupt('SIGINT')
        }
        const { code, stdout, stderr } = await running.ended
        ;[proxy.held, proxy.before] = [undefined, undefined]
        isOver = code === 0
        if (isOver) {
          expect(interruptedAt).toBeGreaterThan(15)
          await target.projects.delete(Number(stdout), { name: 'Support' })
          continue
        }
        expect(code).toBe(130)
        const [said = '', rest] = stderr.split('\n')
        const [, id = ''] = /stet projects delete (\d+) to remove it/.exec(said) ?? []
        expect(said).toContain(`Interrupted: project ${id} "Support (import not finished)" has`)
        expect(said).toContain('run the command again to continue')
        expect(rest).toBe('')
        // A draft with changes that the import has not made stays as it is.
        const at = { projectId: Number(id) }
        const foreign = await target.versions.create('late', at)
        await target.versions.push(foreign.uuid, [{ path: 'mine', status: 'added', content: 'Mine' }], at)
        const continued = await viaProxy.stet(args)
        expect(continued.code, `write ${interruptedAt}: ${continued.stderr}`).toBe(0)
        expect(continued.stdout.trim()).toBe(id)
        const { changes } = await target.versions.diff(foreign.uuid, at)
        expect(changes.map(({ path, after }) => [path, after?.content])).toEqual([['mine', 'Mine']])
        const content = await contentOf(target, Number(id))
        const versions = content.versions.filter(({ uuid }) => uuid !== foreign.uuid)
        expect(withoutUuids({ ...content, versions }), `write ${interruptedAt}`).toEqual(withoutUuids(original))
        const kept = versions.filter(({ uuid }) => original.versions.some((version) => version.uuid === uuid))
        expect(kept).toHaveLength(more.length === 0 ? versions.length : 0)
        await target.projects.delete(Number(id), { name: 'Support' })
        isOver = !isLong
      }
    } finally {
      await proxy.stop()
    }
  },
)

test('an interrupted import with --into names the project and does not offer to delete it', async () => {
  const proxy = await startProxy(there.address)
  const viaProxy = new Person(await temporaryFolder(), proxy, { STET_API_KEY: there.adminKey })
  await writeFile(join(viaProxy.folder, 'a.stet.gz'), archive)
  const { project } = await target.projects.create('mine')
  const running = viaProxy.start(['projects', 'import', 'a.stet.gz', '--into', String(project.id), '--new-uuids'])
  proxy.before = async (line) => {
    if (!line.endsWith('/import')) return
    proxy.held = /./
    running.interrupt('SIGTERM')
  }
  const { code, stderr } = await running.ended
  await proxy.stop()
  expect(code).toBe(143)
  expect(stderr).toContain(`project ${project.id} has 0 of 6 versions; run the command again to continue`)
  expect(stderr).not.toContain('delete')
})

test('an import without a connection says how to continue', async () => {
  const proxy = await startProxy(there.address)
  const viaProxy = new Person(await temporaryFolder(), proxy, { STET_API_KEY: there.adminKey })
  await writeFile(join(viaProxy.folder, 'a.stet.gz'), archive)
  proxy.before = async (line) => {
    if (line.endsWith('/import')) await proxy.stop()
  }
  const { code, stderr } = await viaProxy.stet(['projects', 'import', 'a.stet.gz'])
  expect(code).toBe(1)
  expect(stderr).toContain('The import did not finish')
  expect(stderr).toMatch(/run the command again to continue project \d+, or run stet projects delete \d+/)
  expect(await projectNames()).toEqual(['Support (import not finished)', 'default'])
})

test('an import needs an admin key and creates nothing without one', async () => {
  const { key } = await target.apiKeys.create({ name: 'writer', scopes: ['read', 'write', 'publish'] })
  await writeFile(join(other.folder, 'a.stet.gz'), archive)
  const refused = await other.stet(['projects', 'import', 'a.stet.gz'], '', { STET_API_KEY: key })
  expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining('scope admin') })
  expect(await projectNames()).toEqual(['default'])
})

test.runIf(isLong)('a version with more prompts than one push may have is imported', async () => {
  const paths = Array.from({ length: 1_001 }, (_, index) => `p/${String(index).padStart(4, '0')}`)
  const large = edited(archive, (lines) => {
    const [head = {}] = lines
    const [version = {}] = versionsIn(lines)
    const changes = paths.map((path) => ({ ...changeIn(lines), path, hash: sha256(path) }))
    Object.assign(head, { live: 1 })
    Object.assign(head['counts'] ?? {}, { versions: 1, texts: paths.length, evaluations: 0, examples: 0 })
    const texts = paths.map((path) => ({ text: { hash: sha256(path), content: path } }))
    lines.splice(0, lines.length, head, ...texts, { version: { ...version, changes, revisions: undefined } })
  })
  const imported = await importInto(large)
  expect(imported.code, imported.stderr).toBe(0)
  const texts = await target.prompts.list({ projectId: Number(imported.stdout) })
  expect(texts.map(({ path, content }) => [path, content])).toEqual(paths.map((path) => [path, path]))
})

test('an export that no import would read is refused', () => {
  const changes = Array.from({ length: 100_000 }, (_, index) => ({
    ...{ path: `${'folder/'.repeat(9)}${index}`, status: 'added' as const, hash: sha256(''), conflict: false },
  }))
  const version = { uuid: '', number: 1, title: '', description: null, parent: null, createdAt: '', mergedAt: '' }
  const project = { name: '', defaultProvider: null, defaultModel: null, retentionDays: null }
  const versions = [{ ...version, author: { name: '', email: '' }, changes }]
  const texts = new Map([[sha256(''), '']])
  expect(() => packArchive({ project, live: 1, versions, evaluations: [], examples: [], texts })).toThrow(
    'The project does not fit into an archive: line 3 is longer than 16 MB',
  )
})

type Line = Record<string, unknown>
/** Changes the lines of an archive, which gets a valid checksum again. */
function edited(packed: Buffer, edit: (lines: Line[]) => unknown): Buffer {
  const lines = gunzipSync(packed)
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
  lines.pop()
  edit(lines)
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  return gzipSync(`${body}${JSON.stringify({ end: { sha256: sha256(body) } })}\n`)
}
const versionsIn = (lines: Line[]) =>
  lines.flatMap(({ version }) => (typeof version === 'object' ? [version as { changes: Line[] } & Line] : []))
const changeIn = (lines: Line[]) => versionsIn(lines)[0]?.changes[0] ?? {}
const editIn = (lines: Line[]) => (versionsIn(lines)[0]?.['revisions'] as Line[] | undefined)?.[0] ?? {}
const countTexts = (lines: Line[], by: number) => {
  const counts = lines[0]?.['counts'] as { texts: number }
  counts.texts += by
}
const withoutOne = (lines: Line[], kind: string) => {
  const at = lines.findLastIndex((line) => typeof line[kind] === 'object')
  return lines.splice(at, 1)
}
/** Replaces the examples. */
const withExamples = (edit: (examples: Line[]) => Line[]) => (lines: Line[]) => {
  const found = lines.flatMap(({ example }) => (typeof example === 'object' ? [example as Line] : []))
  const next = edit(found).map((example) => ({ example }))
  lines.splice(0, lines.length, ...lines.filter(({ example }) => example === undefined), ...next)
  Object.assign(lines[0]?.['counts'] ?? {}, { examples: next.length })
}
const many = (count: number, parameters: Line) =>
  Array.from({ length: count }, (_, at) => ({ path: 'tone', name: `n${at}`, parameters, messages: [] }))
const megabyte = 1024 * 1024
const firstLine = (packed: Buffer) => /^.*\n/.exec(textIn(packed))?.[0] ?? ''
const bomb = (packed: Buffer, line: string, times: number, end = '\n') => {
  const part = gzipSync(line + end)
  return Buffer.concat([gzipSync(firstLine(packed)), ...Array.from({ length: times }, () => part)])
}
const textIn = (packed: Buffer) => gunzipSync(packed).toString()

test.each<[what: string, make: (packed: Buffer) => Uint8Array, message: string]>([
  ['truncated', (packed) => packed.subarray(0, packed.length - 20), 'truncated, damaged'],
  ['another file', () => Buffer.from('hello'), 'truncated, damaged'],
  ['another gzip', () => gzipSync('hello\n'), 'line 1 is not JSON'],
  ['empty', () => Buffer.alloc(0), 'truncated, damaged'],
  ['empty inside', () => gzipSync(''), 'not a valid project archive'],
  ['another format', () => gzipSync('{"format":"x"}\n{}\n'), 'a different kind of file'],
  ['without its end', (packed) => gzipSync(textIn(packed).replace(/[^\n]+\n$/, '')), 'ends early'],
  ['with one changed byte', (packed) => gzipSync(textIn(packed).replace('One', 'Own')), 'checksum'],
  ['a zip bomb', (packed) => bomb(packed, ' '.repeat(megabyte - 1), 257), 'larger than 256 MB'],
  [
    'a long line',
    (packed) => gzipSync(`${firstLine(packed)}"${'x'.repeat(3 * megabyte)}"\n`),
    'line 2 is longer than 2 MB',
  ],
  ['a line without an end', (packed) => bomb(packed, '[]'.repeat(megabyte / 2), 17, ''), 'line 2 is longer than 2 MB'],
  [
    'deep brackets',
    (packed) => gzipSync(`${firstLine(packed)}{"version":${'['.repeat(megabyte)}\n`),
    'deeper than 72 levels',
  ],
  [
    'many values',
    (packed) => bomb(packed, `{"version":[${'[],'.repeat(2_100_000)}[]]}`, 1),
    'more than 4000000 values',
  ],
])('a bad archive is refused: %s', (_, make, message) => expectRefusal(make(archive), message))

test.each<[what: string, edit: (lines: Line[]) => unknown, message: string]>([
  ['a later version', ([head]) => Object.assign(head ?? {}, { version: 5 }), 'has format version 5'],
  [
    'a move from nowhere',
    (lines) => Object.assign(changeIn(lines), { from: 'nowhere' }),
    'from a path without a prompt',
  ],
  ['other text', (lines) => Object.assign(lines[1]?.['text'] ?? {}, { content: 'x' }), 'does not match its hash'],
  ['a missing text', (lines) => [lines.splice(1, 1), countTexts(lines, -1)], 'is missing'],
  [
    'an unused text',
    (lines) => [lines.push({ text: { hash: sha256('x'), content: 'x' } }), countTexts(lines, 1)],
    'no version uses',
  ],
  ['a path out of the project', (lines) => Object.assign(changeIn(lines), { path: '../etc/passwd' }), 'invalid path'],
  ['an absolute path', (lines) => Object.assign(changeIn(lines), { path: '/etc/passwd' }), 'invalid path'],
  ['an edit of a path out of the project', (lines) => Object.assign(editIn(lines), { path: '../x' }), 'invalid path'],
  ['an edit of another text', (lines) => Object.assign(editIn(lines), { oldHash: sha256('x') }), 'does not follow'],
  ['a gap in the revisions', (lines) => Object.assign(editIn(lines), { revision: 2 }), 'does not follow'],
  ['an edit to a missing text', (lines) => Object.assign(editIn(lines), { hash: sha256('x') }), 'is missing'],
  ['an edit by nobody', (lines) => Object.assign(editIn(lines), { author: null }), 'malformed'],
  ['revisions that are no list', (lines) => Object.assign(versionsIn(lines)[0] ?? {}, { revisions: {} }), 'not a list'],
  [
    'an edited draft',
    (lines) => Object.assign(versionsIn(lines).at(-1) ?? {}, { revisions: [editIn(lines)] }),
    'a draft has revisions',
  ],
  ['a later base', (lines) => Object.assign(versionsIn(lines)[1] ?? {}, { base: { number: 3, revision: 0 } }), 'base'],
  [
    'an unknown base',
    (lines) => Object.assign(versionsIn(lines)[1] ?? {}, { base: { number: 1, revision: 9 } }),
    'base',
  ],
  ['a missing live', ([head]) => Object.assign(head ?? {}, { live: 9 }), 'no version 9'],
  ['a path twice', (lines) => versionsIn(lines)[0]?.changes.push(changeIn(lines)), 'twice'],
  ['a gap in the numbers', (lines) => Object.assign(versionsIn(lines)[1] ?? {}, { number: 7 }), 'does not follow'],
  ['a foreign base', (lines) => Object.assign(changeIn(lines), { status: 'modified' }), 'does not match the version'],
  ['a version less', (lines) => withoutOne(lines, 'version'), 'versions'],
  ['an example of no prompt', withExamples(([one]) => [{ ...one, path: '../etc/passwd' }]), 'is missing'],
  ['an example twice', withExamples(([one]) => [{ ...one }, { ...one }]), 'appears twice'],
  ['a large example', withExamples(() => many(1, { x: 'x'.repeat(262_144) })), 'more than 262144 bytes'],
  ['too many examples', withExamples(() => many(1_001, {})), 'more than 1000 examples'],
  ['too many bytes', withExamples(() => many(65, { x: 'x'.repeat(260_000) })), 'more than 16777216 bytes'],
  ['checks that are no list', withExamples(([one]) => [{ ...one, checks: {} }]), 'checks of an example are not a list'],
  ['tags that are no texts', withExamples(([one]) => [{ ...one, tags: [1] }]), 'tags of an example'],
  ['results of tools as a list', withExamples(([one]) => [{ ...one, toolResults: [] }]), 'malformed'],
  ['an example without values', withExamples(([one]) => [{ ...one, parameters: [] }]), 'malformed'],
  ['an example without messages', withExamples(([one]) => [{ ...one, messages: 'none' }]), 'not a list'],
  ['an example with a NUL', withExamples(([one]) => [{ ...one, name: 'a\0' }]), '"name" is not valid text'],
  ['no count of examples', (lines) => Object.assign(lines[0]?.['counts'] ?? {}, { examples: undefined }), 'examples'],
  ['fewer examples than it says', (lines) => withoutOne(lines, 'example'), 'of 3 examples'],
  ['a line of another kind', (lines) => lines.push({ secret: {} }), 'unknown kind'],
  ['an uuid that is none', (lines) => Object.assign(versionsIn(lines)[0] ?? {}, { uuid: 'x' }), '"uuid"'],
])('an archive with a valid checksum is refused: %s', (_, edit, message) =>
  expectRefusal(edited(archive, edit), message),
)

async function expectRefusal(bytes: Uint8Array, message: string): Promise<void> {
  const file = join(other.folder, 'bad.stet.gz')
  await writeFile(file, bytes)
  const refused = { code: 'invalid', message: expect.stringContaining(message) }
  await expect(readArchive(file)).rejects.toMatchObject(refused)
}

test.each<[what: string, edit: (lines: Line[]) => unknown, message: string]>([
  ['a bad archive', (lines) => lines.push({ secret: {} }), 'unknown kind'],
  // Only the server can check the form of a message and its limits.
  ['a message of no form', withExamples(([one]) => [{ ...one, messages: [{ role: 'boss' }] }]), 'messages'],
  [
    'a long name',
    (lines) => Object.assign(versionsIn(lines)[1] ?? {}, { author: { name: 'x'.repeat(300), email: '' } }),
    'authorName',
  ],
])('a refused import exits 7 and leaves no project: %s', async (_, edit, message) => {
  const refused = await importInto(edited(archive, edit))
  expect(refused).toMatchObject({ code: 7, stdout: '', stderr: expect.stringContaining(message) })
  expect(await projectNames()).toEqual(['default'])
})

test('an archive without examples is imported', async () => {
  const imported = await importInto(
    edited(
      archive,
      withExamples(() => []),
    ),
  )
  expect(imported, imported.stderr).toMatchObject({ code: 0 })
  expect(await contentOf(target, Number(imported.stdout))).toEqual({ ...original, examples: [] })
})

test('an import into a project keeps its examples and adds those with other names', async () => {
  const id = Number((await importInto(archive)).stdout)
  const { documentUuid } = await target.prompts.get('tone', { projectId: id })
  for (const { uuid, name } of await target.examples.list(documentUuid, { projectId: id })) {
    if (name === 'Alone') await target.examples.delete(uuid, { projectId: id })
    else await target.examples.update(uuid, { parameters: { mine: true } }, { projectId: id })
  }
  const continued = await importInto(archive, '--into', String(id), '--json')
  expect(JSON.parse(continued.stdout), continued.stderr).toMatchObject({ examples: 1 })
  const kept = await examplesOf(target, { projectId: id }, 'tone')
  expect(kept.map(({ name, parameters }) => [name, parameters])).toEqual([
    ['Größe', { mine: true }],
    ['Alone', {}],
  ])
})

/** Evaluations have other uuids on another server. */
function withoutEvaluations(packed: Buffer): string[] {
  return textIn(packed)
    .split('\n')
    .filter((line) => !line.startsWith('{"evaluation"') && !line.startsWith('{"end"'))
}
