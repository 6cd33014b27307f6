import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Stet, Version } from '@stet/sdk'
import { expect, onTestFinished, test } from 'vitest'
import { fileOf, pairOf, read, succeed, write } from './support/pair.ts'
import { startProxy } from './support/proxy.ts'
import { account, personIn, projectWith, server } from './support/shared-server.ts'
import type { Person } from './support/stet.ts'

async function clientOf(person: Person): Promise<Stet> {
  const { projectId } = JSON.parse(await readFile(join(person.folder, 'stet.config.json'), 'utf8'))
  return account.project(projectId)
}

const draftsOf = (client: Stet): Promise<Version[]> => client.versions.list({ status: 'draft' })

async function changesOf(client: Stet, { uuid }: Version): Promise<Record<string, string | null>> {
  const { changes } = await client.versions.diff(uuid)
  return Object.fromEntries(changes.map(({ path, after }) => [path, after?.content ?? null]))
}

test('push --for fills one draft with exactly the changes of the folder, at every push', async () => {
  const [ana] = await pairOf('for')
  const client = await clientOf(ana)
  expect(JSON.parse(await succeed(ana, 'push', '--for', 'pr-1', '--json'))).toMatchObject({ changes: [] })
  expect(await draftsOf(client)).toEqual([])

  await write(ana, 'a', 'a of ana\n')
  await write(ana, 'c', 'c of ana\n')
  const first = await ana.stet(['push', '--for', 'pr-1'])
  expect(first.stderr).toMatch(/^\+ created draft "pr-1" \(\w{8}\)\n/)
  await rm(fileOf(ana, 'c'))
  await write(ana, 'a', 'a of ana again\n')
  await rm(fileOf(ana, 'b'))
  const again = JSON.parse(await succeed(ana, 'push', '--for', 'pr-1', '--delete', '--json'))
  const [draft, ...others] = await draftsOf(client)
  if (!draft) throw new Error('no draft')
  expect(others).toEqual([])
  expect(again).toMatchObject({ isNewDraft: false, version: { uuid: draft.uuid, name: 'pr-1' } })
  expect(await changesOf(client, draft)).toEqual({ a: 'a of ana again\n', b: null })

  // Without changes, the draft loses those of the push before.
  await write(ana, 'b', 'first b\n')
  await write(ana, 'a', 'first a\n')
  expect(JSON.parse(await succeed(ana, 'push', '--for', 'pr-1', '--json')).version.uuid).toBe(draft.uuid)
  expect(await changesOf(client, draft)).toEqual({})
})

test('push --for of a folder that follows another draft sends its changes against live', async () => {
  const [ana] = await pairOf('for from open')
  const client = await clientOf(ana)
  await write(ana, 'a', 'a of ana\n')
  await succeed(ana, 'push', '--name', 'open')
  await write(ana, 'b', 'b of ana\n')
  await succeed(ana, 'push', '--for', 'pr-2')
  const [draft, open] = await draftsOf(client)
  if (!draft || !open) throw new Error('two drafts expected')
  expect([draft.title, open.title]).toEqual(['pr-2', 'open'])
  expect(await changesOf(client, draft)).toEqual({ a: 'a of ana\n', b: 'b of ana\n' })
  expect(await changesOf(client, open)).toEqual({ a: 'a of ana\n' })
})

test('push --for before the first publication sends all prompts, also those of the draft that the folder follows', async () => {
  const [ana] = await pairOf('other project')
  await write(ana, 'a', 'a\n')
  const { project } = JSON.parse(await succeed(ana, 'init', '--force', '--create', 'nothing live', '--json'))
  const client = account.project(project.id)
  await succeed(ana, 'push')
  const { version } = JSON.parse(await succeed(ana, 'push', '--for', 'pr-3', '--json'))
  expect(await changesOf(client, version)).toEqual({ a: 'a\n', b: 'first b\n' })
})

test('two pushes for one draft at the same time end with the changes of one of them', async () => {
  const [ana, ben] = await pairOf('for at once')
  const client = await clientOf(ana)
  await write(ana, 'a', 'a of ana\n')
  await write(ben, 'b', 'b of ben\n')
  await Promise.all([ana, ben].map((person) => succeed(person, 'push', '--for', 'pr-4')))
  const [draft, ...others] = await draftsOf(client)
  if (!draft) throw new Error('no draft')
  expect([draft.title, others]).toEqual(['pr-4', []])
  expect([{ a: 'a of ana\n' }, { b: 'b of ben\n' }]).toContainEqual(await changesOf(client, draft))

  // Each folder has texts that the other one's push replaced. Live is their base, so both can push again.
  await write(ana, 'b', 'b of ana\n')
  await succeed(ana, 'push', '--for', 'pr-4')
  await write(ben, 'a', 'a of ben\n')
  await succeed(ben, 'push', '--for', 'pr-4')
  await write(ana, 'a', 'a of ana again\n')
  await succeed(ana, 'push', '--for', 'pr-4')
  expect(await changesOf(client, draft)).toEqual({ a: 'a of ana again\n', b: 'b of ana\n' })
})

test("a push does not take a colleague's text as base that arrives while it ends", async () => {
  const proxy = await startProxy(server.address)
  onTestFinished(() => proxy.stop())
  const { client, id } = await projectWith({ a: 'first a\n', b: 'first b\n' })
  const ana = await personIn(id, proxy)
  await mkdir(join(ana.folder, '.git'))
  await succeed(ana, 'init')
  await succeed(ana, 'versions', 'create', 'open', '--use')
  const [draft] = await draftsOf(client)
  if (!draft) throw new Error('no draft')
  await write(ana, 'a', 'a of ana\n')
  proxy.before = async (line) => {
    if (!line.startsWith('GET') || !proxy.seen.some((one) => one.endsWith('/push'))) return
    proxy.before = undefined
    await client.versions.push(draft.uuid, [{ path: 'b', status: 'modified', content: 'b of ben\n' }])
  }
  await succeed(ana, 'push')
  await write(ana, 'a', 'a of ana again\n')
  await succeed(ana, 'push')
  expect(await changesOf(client, draft)).toEqual({ a: 'a of ana again\n', b: 'b of ben\n' })
})

test("push --for drops no change of another author, and none of live's", async () => {
  const [ana, ben] = await pairOf('for of two')
  const client = await clientOf(ana)
  await write(ana, 'a', 'a of ana\n')
  await succeed(ana, 'push', '--for', 'pr-5')
  const [draft] = await draftsOf(client)
  if (!draft) throw new Error('no draft')
  const asLeo = { STET_API_KEY: (await account.apiKeys.create({ name: 'Leo', scopes: ['read', 'write'] })).key }
  await write(ben, 'b', 'b of ben\n')
  const others = await ben.stet(['push', '--for', 'pr-5', '--json'], '', asLeo)
  expect(others).toMatchObject({ code: 6, stdout: '' })
  expect(JSON.parse(others.stderr).error).toMatchObject({ lines: ['a'] })
  expect(await changesOf(client, draft)).toEqual({ a: 'a of ana\n' })

  await write(ben, 'a', 'a of ben\n')
  await succeed(ben, 'push', '--publish', '--yes')
  const stale = await ana.stet(['push', '--for', 'pr-5', '--json'])
  expect(JSON.parse(stale.stderr.trim().split('\n').at(-1) ?? '').error).toMatchObject({
    exitCode: 6,
    lines: ['a  lines 1-5'],
  })
})

test('a draft is renamed, deleted and restored by its name or uuid', async () => {
  const [ana] = await pairOf('names')
  const client = await clientOf(ana)
  const { version } = JSON.parse(await succeed(ana, 'versions', 'create', 'tone', '--json'))
  const twins = [await client.versions.create('twin'), await client.versions.create('twin')]
  await succeed(ana, 'versions', 'rename', 'tone', 'warm tone')
  expect(await client.versions.get(version.uuid)).toMatchObject({ title: 'warm tone' })

  const unasked = await ana.stet(['versions', 'delete', 'warm tone'])
  expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
  const deleted = await ana.stet(['versions', 'delete', 'warm tone', '--yes'])
  expect(deleted.stderr).toContain(`stet versions restore ${version.uuid.slice(0, 8)}`)
  for (const [argv, code] of [
    [['warm tone', '--yes'], 5],
    [['warm tone', '--yes', '--if-exists'], 0],
    [['twin', '--yes'], 2],
    [['twin', '--yes', '--if-exists'], 2],
    [['live', '--yes'], 5],
    [['', '--yes'], 5],
  ] as const) {
    expect(await ana.stet(['versions', 'delete', ...argv]), argv.join(' ')).toMatchObject({ code })
  }
  await succeed(ana, 'versions', 'delete', twins[0]?.uuid.slice(0, 8) ?? '', '--yes')
  expect((await draftsOf(client)).map(({ uuid }) => uuid)).toEqual([twins[1]?.uuid])
  await succeed(ana, 'versions', 'restore', 'warm tone')
  const absent = await ana.stet(['versions', 'restore', 'warm tone'])
  expect(absent).toMatchObject({ code: 5, stderr: expect.stringContaining('stet versions list --deleted') })
  expect(await client.versions.get(version.uuid)).toMatchObject({ title: 'warm tone', deletedAt: null })
})

test('if several deleted drafts have one name, the one deleted last is restored', async () => {
  const [ana] = await pairOf('deleted names')
  const client = await clientOf(ana)
  const first = await client.versions.create('tone')
  const second = await client.versions.create('tone')
  await client.versions.delete(second.uuid)
  // `--if-exists` takes a branch, which may be the beginning of a uuid.
  await succeed(ana, 'versions', 'delete', first.uuid.slice(0, 8), '--if-exists', '--yes')
  expect(await draftsOf(client)).toHaveLength(1)
  await client.versions.delete(first.uuid)
  const { versions } = JSON.parse(await succeed(ana, 'versions', 'list', '--deleted', '--json'))
  expect(versions.map(({ uuid }: Version) => uuid).sort()).toEqual([first.uuid, second.uuid].sort())
  await succeed(ana, 'versions', 'restore', 'tone')
  expect((await draftsOf(client)).map(({ uuid }) => uuid)).toEqual([first.uuid])
  expect(await succeed(ana, 'versions', 'list', '--deleted')).toMatch(/deleted\ttone/)
})

test('a folder whose draft was deleted follows live, and still has its changes', async () => {
  const [ana, ben] = await pairOf('deleted under it')
  const client = await clientOf(ana)
  await write(ana, 'a', 'a of ana\n')
  await write(ana, 'c', 'c of ana\n')
  const { version } = JSON.parse(await succeed(ana, 'push', '--for', 'pr-6', '--json'))
  await succeed(ben, 'versions', 'use', version.uuid, '--pull')
  await succeed(ben, 'versions', 'delete', 'pr-6', '--yes')
  expect(await ana.stet(['pull'])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('The draft "pr-6" was deleted; following live'),
  })
  expect([await read(ana, 'a'), await read(ana, 'c')]).toEqual(['a of ana\n', 'c of ana\n'])
  await succeed(ana, 'push', '--publish', '--yes')
  const prompts = await client.prompts.list({ versionUuid: 'live' })
  expect(prompts.map(({ content }) => content)).toEqual(['a of ana\n', 'first b\n', 'c of ana\n'])
  // Ben changed nothing, so his files become live's.
  await succeed(ben, 'pull', '--prune')
  await succeed(ben, 'status', '--check')
})

async function lockOf(
  person: Person,
): Promise<{ version: { uuid: string }; prompts: Record<string, { hash: string; live?: string }> }> {
  return JSON.parse(await readFile(join(person.folder, 'stet.lock.json'), 'utf8'))
}

test.each([
  ['pull', ['versions', 'use', '--pull'], 'noted', 'a of ben\n'],
  ['push', ['versions', 'use'], 'noted', 'a of ben\n'],
  [
    'an older lock',
    ['versions', 'use', '--pull'],
    'absent',
    '<<<<<<< file\na of ben\n=======\nfirst a\n>>>>>>> live\n',
  ],
])("a deleted draft leaves an edit on top of a colleague's: base of %s", async (name, [...use], note, text) => {
  const [ana, ben] = await pairOf(`edit of two, ${name}`)
  await write(ana, 'a', 'a of ana\n')
  const { version } = JSON.parse(await succeed(ana, 'push', '--json'))
  await succeed(ben, ...use.slice(0, 2), version.uuid, ...use.slice(2))
  await write(ben, 'a', 'a of ben\n')
  if (use.length > 2) await succeed(ben, 'push')
  else await succeed(ben, 'push', '--force', '--yes')
  const lock = await lockOf(ben)
  expect(lock.prompts['a']?.live).toBeDefined()
  if (note === 'absent') {
    delete lock.prompts['a']?.live
    await writeFile(join(ben.folder, 'stet.lock.json'), JSON.stringify(lock))
  }
  await succeed(ben, 'versions', 'delete', version.uuid, '--yes')
  expect((await ben.stet(['pull'])).code).toBe(note === 'absent' ? 6 : 0)
  expect(await read(ben, 'a')).toBe(text)
})

test('a prompt that was not pulled from a deleted draft gets what was published since', async () => {
  const [ana, ben] = await pairOf('not pulled')
  const client = await clientOf(ana)
  await write(ana, 'a', 'second a\n')
  await succeed(ana, 'push', '--publish', '--yes')
  const draft = await client.versions.create('open')
  await client.versions.push(draft.uuid, [{ path: 'a', status: 'modified', content: 'a of the draft\n' }])
  await succeed(ben, 'versions', 'use', draft.uuid)
  await succeed(ben, 'pull', 'b')
  await client.versions.delete(draft.uuid)
  await succeed(ben, 'pull')
  expect(await read(ben, 'a')).toBe('second a\n')
})

test('after a colleague merged live into a draft, a pull does not undo what live changes then', async () => {
  const text = (first: string, last: string): string => `${first}\n2\n3\n4\n${last}\n`
  const [ana, ben] = await pairOf('live merged by another', { a: text('1', '5') })
  const client = await clientOf(ana)
  const publish = async (first: string): Promise<void> => {
    const changes = [{ path: 'a', status: 'modified', content: text(first, '5') } as const]
    const { uuid } = await client.versions.create('live', { changes })
    await client.versions.publish(uuid)
  }
  const draft = await client.versions.create('open')
  await client.versions.push(draft.uuid, [{ path: 'a', status: 'modified', content: text('1', '5 of the draft') }])
  await succeed(ben, 'versions', 'use', draft.uuid, '--pull')
  await publish('1 for a time')
  await client.versions.updateFromEnvironment(draft.uuid)
  expect(await changesOf(client, draft)).toEqual({ a: text('1 for a time', '5 of the draft') })
  await publish('1')
  await succeed(ben, 'pull')
  expect(await read(ben, 'a')).toBe(text('1', '5 of the draft'))
})

test('before the first publication, a folder whose draft was deleted continues with another draft, or a new one', async () => {
  const [ana] = await pairOf('other folder')
  await write(ana, 'a', 'a of ana\n')
  const { project } = JSON.parse(await succeed(ana, 'init', '--force', '--create', 'deleted first', '--json'))
  const client = account.project(project.id)
  await succeed(ana, 'push')
  const [first] = await draftsOf(client)
  if (!first) throw new Error('no draft')
  await client.versions.delete(first.uuid)
  expect((await ana.stet(['status'])).stderr).toContain('was deleted\n')
  await succeed(ana, 'pull')
  expect(await read(ana, 'a')).toBe('a of ana\n')
  const { version } = JSON.parse(await succeed(ana, 'push', '--json'))
  expect(await changesOf(client, version)).toEqual({ a: 'a of ana\n', b: 'first b\n' })

  const other = await client.versions.create('other')
  await client.versions.delete(version.uuid)
  await succeed(ana, 'pull')
  expect((await lockOf(ana)).version.uuid).toBe(other.uuid)
  await succeed(ana, 'push')
  expect(await changesOf(client, other)).toEqual({ a: 'a of ana\n', b: 'first b\n' })
})

test('a push whose new name is refused is in the lock', async () => {
  const [ana] = await pairOf('refused name')
  await write(ana, 'a', 'a of ana\n')
  await succeed(ana, 'push')
  const before = await lockOf(ana)
  await write(ana, 'a', 'a of ana again\n')
  expect((await ana.stet(['push', '--name', 'x'.repeat(10_000)])).code).not.toBe(0)
  const after = await lockOf(ana)
  expect(after.version).toEqual(before.version)
  expect(after.prompts['a']?.hash).not.toBe(before.prompts['a']?.hash)
  await write(ana, 'a', 'a of ana at last\n')
  await succeed(ana, 'push', '--name', 'renamed')
  expect((await lockOf(ana)).version).toMatchObject({ name: 'renamed' })
})

test('versions show --diff prints the lines that a draft changes, a move with its earlier path', async () => {
  const { client, id } = await projectWith({ a: 'one\ntwo\n', b: 'b\n', old: 'old one\nold two\n' })
  const draft = await client.versions.create('shown')
  await client.versions.push(draft.uuid, [
    { path: 'a', content: 'one\nTWO\n', status: 'modified' },
    { path: 'b', status: 'deleted' },
    { path: 'new', from: 'old', content: 'old one\nnew two\n', status: 'moved' },
  ])
  const ana = await personIn(id)
  const short = draft.uuid.slice(0, 8)
  expect((await succeed(ana, 'versions', 'show', short, '--diff')).split(/(?=^--- )/m)).toEqual([
    `--- before  a\n+++ ${short}  a\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n`,
    '--- before  b\n+++ /dev/null\n@@ -1,1 +1,0 @@\n-b\n',
    `--- before  old\n+++ ${short}  new\n@@ -1,2 +1,2 @@\n old one\n-old two\n+new two\n`,
  ])
  const empty = await client.versions.create('empty')
  expect(await ana.stet(['versions', 'show', empty.uuid, '--diff'])).toMatchObject({ code: 0, stdout: '' })
})
