import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fileOf, pairOf, read, succeed, write } from './support/pair.ts'
import { loggedIn } from './support/shared-server.ts'
import type { Person } from './support/stet.ts'

const lines = (...words: string[]): string => `${words.join('\n')}\n`
const base = lines('one', 'two', 'three', 'four', 'five')

async function live(person: Person): Promise<Record<string, string>> {
  const bundle = join(person.folder, 'bundle.json')
  await succeed(person, 'export', '-V', 'live', '--out', bundle, '--force')
  return JSON.parse(await readFile(bundle, 'utf8'))
}

async function refused(person: Person, ...argv: string[]): Promise<{ lines: string[]; next: string }> {
  const { code, stderr } = await person.stet([...argv, '--json'])
  expect(code, `${argv.join(' ')}: ${stderr}`).toBe(6)
  return JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error
}

async function conflicts(person: Person, ...argv: string[]): Promise<void> {
  expect((await person.stet(argv)).code, argv.join(' ')).toBe(6)
}

const markers = (mine: string, theirs: string): string =>
  lines('<<<<<<< draft', mine, '=======', theirs, '>>>>>>> live')

test('every kind of publish conflict can be resolved without --force and without loss', async () => {
  const paths = ['clean', 'real', 'gone-there', 'gone-here', 'old-name']
  const prompts = Object.fromEntries(paths.map((path) => [path, base]))
  const [ana, ben] = await pairOf('all branches', prompts)

  await write(ana, 'clean', base.replace('one', 'one of ana'))
  await write(ana, 'real', base.replace('three', 'three of ana'))
  await write(ana, 'gone-there', base.replace('three', 'three of ana'))
  await rm(fileOf(ana, 'gone-here'))
  await rm(fileOf(ana, 'old-name'))
  await write(ana, 'new-name', base.replace('one', 'renamed by ana'))
  await write(ana, 'added', lines('added by ana'))
  await succeed(ana, 'push', '--delete')

  await write(ben, 'clean', base.replace('five', 'five of ben'))
  await write(ben, 'real', base.replace('three', 'three of ben'))
  await rm(fileOf(ben, 'gone-there'))
  await write(ben, 'gone-here', base.replace('two', 'two of ben'))
  await write(ben, 'old-name', base.replace('five', 'five of ben'))
  await write(ben, 'added', lines('added by ben'))
  await succeed(ben, 'push', '--delete', '--publish', '--yes')

  const conflict = await refused(ana, 'publish', '--yes')
  const conflicting = ['added', 'clean', 'gone-here', 'gone-there', 'old-name', 'real']
  expect([...conflict.lines].sort()).toEqual(conflicting)
  expect(conflict.next).toMatch(/^run stet pull to merge them, then stet push/)
  const { entries } = JSON.parse(await succeed(ana, 'status', '--json'))
  expect(entries.map(({ path, state }: { path: string; state: string }) => `${path} ${state}`)).toEqual(
    conflicting.map((path) => `${path} live-conflict`),
  )

  const pulled = await ana.stet(['pull'])
  expect(pulled).toMatchObject({ code: 6, stderr: expect.stringContaining('5 conflicts') })
  expect(pulled.stderr).toContain('stet pull gone-there --ours keeps the prompt, --theirs deletes it')
  expect(await read(ana, 'clean')).toBe(base.replace('one', 'one of ana').replace('five', 'five of ben'))
  expect(await read(ana, 'real')).toBe(base.replace('three\n', markers('three of ana', 'three of ben')))
  expect(await read(ana, 'added')).toBe(markers('added by ana', 'added by ben'))
  expect(await read(ana, 'gone-here')).toBe(base.replace('two', 'two of ben'))
  expect(await read(ana, 'old-name')).toBe(base.replace('five', 'five of ben'))
  expect((await succeed(ana, 'status')).match(/^ {2}C \S+/gm)).toEqual(['  C added', '  C real', '  C gone-there'])

  const unsettled = await refused(ana, 'push', '--delete')
  expect(unsettled.lines).toEqual(['added  (conflict markers)', 'real  (conflict markers)'])
  await write(ana, 'real', base.replace('three', 'three of ana and ben'))
  await write(ana, 'added', lines('added by ana', 'added by ben'))
  await succeed(ana, 'pull', 'gone-there', '--ours')
  // The deletion wins over live's change. The renamed prompt keeps live's change.
  await rm(fileOf(ana, 'gone-here'))
  await rm(fileOf(ana, 'old-name'))
  await write(ana, 'new-name', base.replace('one', 'renamed by ana').replace('five', 'five of ben'))
  await succeed(ana, 'push', '--delete')
  expect(JSON.parse(await succeed(ana, 'status', '--json')).entries).toEqual([])
  await succeed(ana, 'publish', '--yes')
  expect(await live(ana)).toEqual({
    added: lines('added by ana', 'added by ben'),
    clean: base.replace('one', 'one of ana').replace('five', 'five of ben'),
    'gone-there': base.replace('three', 'three of ana'),
    'new-name': base.replace('one', 'renamed by ana').replace('five', 'five of ben'),
    real: base.replace('three', 'three of ana and ben'),
  })
  await succeed(ben, 'pull', '--prune')
  expect(await read(ben, 'real')).toBe(base.replace('three', 'three of ana and ben'))
})

test('publish --merge merges changes of other lines, and publishes nothing if lines overlap', async () => {
  const [ana, ben] = await pairOf('publish --merge', { a: base, b: base })
  await write(ana, 'a', base.replace('one', 'one of ana'))
  await succeed(ana, 'push')
  await write(ben, 'a', base.replace('five', 'five of ben'))
  await succeed(ben, 'push', '--publish', '--yes')
  expect(await refused(ana, 'publish', '--yes')).toMatchObject({
    lines: ['a'],
    next: expect.stringContaining('--merge'),
  })
  expect(await refused(ana, 'publish', '--merge', '--check')).toMatchObject({ lines: ['a'] })
  await succeed(ana, 'publish', '--merge', '--yes')
  const both = base.replace('one', 'one of ana').replace('five', 'five of ben')
  expect(await live(ana)).toEqual({ a: both, b: base })
  await succeed(ana, 'pull')
  expect(await read(ana, 'a')).toBe(both)

  await write(ana, 'a', both.replace('two', 'two of ana'))
  await write(ana, 'b', base.replace('three', 'three of ana'))
  await succeed(ana, 'push')
  await succeed(ben, 'pull')
  await write(ben, 'a', both.replace('four', 'four of ben'))
  await write(ben, 'b', base.replace('three', 'three of ben'))
  await succeed(ben, 'push', '--publish', '--yes')
  const [before, conflict] = [await live(ana), await refused(ana, 'publish', '--merge', '--yes')]
  expect(conflict).toMatchObject({ lines: ['b  lines 3-7'], next: expect.stringMatching(/stet publish$/) })
  expect(await live(ana)).toEqual(before)
  await conflicts(ana, 'pull')
  expect(await read(ana, 'b')).toBe(base.replace('three\n', markers('three of ana', 'three of ben')))
})

test('if live changes again after the merge or the push, it is merged again', async () => {
  const [ana, ben] = await pairOf('again', { a: base })
  const publish = async (from: string, to: string): Promise<void> => {
    await succeed(ben, 'pull')
    await write(ben, 'a', (await read(ben, 'a')).replace(from, to))
    await succeed(ben, 'push', '--publish', '--yes')
  }
  await write(ana, 'a', base.replace('three', 'three of ana'))
  await succeed(ana, 'push')
  await publish('one', 'one of ben')
  await succeed(ana, 'pull')
  await publish('five', 'five of ben')
  const stale = await refused(ana, 'push')
  expect(stale).toMatchObject({ lines: ['a'], next: expect.stringMatching(/^run stet pull/) })
  await succeed(ana, 'pull')
  await succeed(ana, 'push')
  await publish('one of ben', 'more of ben\none of ben')
  expect(await refused(ana, 'publish', '--yes')).toMatchObject({ lines: ['a'] })
  await succeed(ana, 'pull')
  await succeed(ana, 'push')
  await succeed(ana, 'publish', '--yes')
  const all = lines('more of ben', 'one of ben', 'two', 'three of ana', 'four', 'five of ben')
  expect(await live(ana)).toEqual({ a: all })
})

test('a merge can be aborted, and resolved with either side', async () => {
  const [ana, ben] = await pairOf('aborted', { a: base, b: base })
  const [mine, theirs] = [base.replace('three', 'three of ana'), base.replace('three', 'three of ben')]
  for (const path of ['a', 'b']) {
    await write(ana, path, mine)
    await write(ben, path, theirs)
  }
  await succeed(ana, 'push')
  await succeed(ben, 'push', '--publish', '--yes')
  const merged = base.replace('three\n', markers('three of ana', 'three of ben'))
  await conflicts(ana, 'pull')
  expect([await read(ana, 'a'), await read(ana, 'b')]).toEqual([merged, merged])
  expect((await ana.stet(['pull', '--abort'])).code).toBe(2)
  expect(await read(ana, 'a')).toBe(merged)
  await succeed(ana, 'pull', '--abort', '--yes')
  expect([await read(ana, 'a'), await read(ana, 'b')]).toEqual([mine, mine])
  expect(await succeed(ana, 'status')).toContain('C a  stet pull merges it')
  await conflicts(ana, 'pull')
  await succeed(ana, 'pull', 'a', '--theirs')
  await succeed(ana, 'pull', 'b', '--ours')
  expect([await read(ana, 'a'), await read(ana, 'b')]).toEqual([theirs, mine])
  await succeed(ana, 'push')
  await succeed(ana, 'publish', '--yes')
  expect(await live(ana)).toEqual({ a: theirs, b: mine })
})

test('a pull refuses to merge unpushed edits, and a text that quotes conflict markers is not a conflict', async () => {
  const about = lines('Title', '=======', '>>>>>>> quoted', '<<<<<<< quoted', '=======')
  const [ana, ben] = await pairOf('unpushed', { a: base, about })
  await write(ana, 'a', base.replace('one', 'one of ana'))
  await write(ana, 'about', `${about}More.\n=======\n`)
  await succeed(ana, 'push')
  await write(ana, 'a', base.replace('one', 'one more of ana'))
  await write(ben, 'a', base.replace('five', 'five of ben'))
  await succeed(ben, 'push', '--publish', '--yes')
  const pulled = await ana.stet(['pull'])
  expect(pulled.stderr).toContain('a: live changed it too: run stet push, then stet pull to merge both')
  expect(await read(ana, 'a')).toBe(base.replace('one', 'one more of ana'))
  await succeed(ana, 'push')
  await succeed(ana, 'pull')
  await succeed(ana, 'push')
  await succeed(ana, 'publish', '--yes')
  expect((await live(ana))['a']).toBe(base.replace('one', 'one more of ana').replace('five', 'five of ben'))
})

test("a folder that first follows the draft during a conflict merges the draft's text too", async () => {
  const [ana, ben] = await pairOf('joined late', { clean: base, real: base, gone: base })
  const dan = await loggedIn()
  const { projectId } = JSON.parse(await readFile(join(ana.folder, 'stet.lock.json'), 'utf8'))
  await write(ana, 'clean', base.replace('one', 'one of ana'))
  await write(ana, 'real', base.replace('three', 'three of ana'))
  await write(ana, 'added', lines('added by ana'))
  const { version } = JSON.parse(await succeed(ana, 'push', '--json'))
  await succeed(dan, 'init', '--project', String(projectId), '-V', version.uuid)
  await rm(fileOf(ana, 'gone'))
  await succeed(ana, 'push', '--delete')
  await write(ben, 'clean', base.replace('five', 'five of ben'))
  await write(ben, 'real', base.replace('three', 'three of ben'))
  await write(ben, 'gone', base.replace('two', 'two of ben'))
  await write(ben, 'added', lines('added by ben'))
  await succeed(ben, 'push', '--publish', '--yes')

  const late = await loggedIn()
  await conflicts(late, 'init', '--project', String(projectId), '-V', version.uuid)
  const pulled = await dan.stet(['pull', '--prune'])
  expect(pulled.stderr).toContain('C gone: this draft deletes it and live changed it; its text was restored')
  for (const person of [late, dan]) {
    expect(await read(person, 'clean')).toBe(base.replace('one', 'one of ana').replace('five', 'five of ben'))
    expect(await read(person, 'real')).toBe(base.replace('three\n', markers('three of ana', 'three of ben')))
    expect(await read(person, 'added')).toBe(markers('added by ana', 'added by ben'))
    expect(await read(person, 'gone')).toBe(base.replace('two', 'two of ben'))
  }
  await write(dan, 'real', base.replace('three', 'three of both'))
  await write(dan, 'added', lines('added by both'))
  await succeed(dan, 'push')
  await succeed(dan, 'publish', '--yes')
  expect(await live(dan)).toEqual({
    added: lines('added by both'),
    clean: base.replace('one', 'one of ana').replace('five', 'five of ben'),
    gone: base.replace('two', 'two of ben'),
    real: base.replace('three', 'three of both'),
  })
})

test('if the base of a draft is uncertain, nothing is merged silently', async () => {
  const [ana, ben] = await pairOf('uncertain', { a: base, other: base })
  const publish = async (text: string): Promise<void> => {
    await succeed(ben, 'pull')
    await write(ben, 'a', text)
    await succeed(ben, 'push', '--publish', '--yes')
  }
  await write(ana, 'other', base.replace('one', 'one of ana'))
  const { version } = JSON.parse(await succeed(ana, 'push', '--json'))
  await publish(base.replace('five', 'five of ben'))
  await succeed(ana, 'pull')
  await write(ana, 'a', base.replace('one', 'one of ana').replace('five', 'five of ben'))
  await succeed(ana, 'push')
  await publish(base.replace('three', 'three of ben'))

  // Her lock names the base of her change. A new folder would have to guess it.
  await succeed(ana, 'pull')
  expect(await read(ana, 'a')).toBe(base.replace('one', 'one of ana').replace('three', 'three of ben'))
  const late = await loggedIn()
  const { projectId } = JSON.parse(await readFile(join(ana.folder, 'stet.lock.json'), 'utf8'))
  await conflicts(late, 'init', '--project', String(projectId), '-V', version.uuid)
  expect(await read(late, 'a')).toContain('<<<<<<< draft\n')
  expect(await read(late, 'a')).toContain('>>>>>>> live\n')
})

test('a rollback while a draft is open is part of what its changes may build on', async () => {
  const [ana, ben] = await pairOf('rolled back and forth', { a: base, other: base })
  const ofBen = base.replace('five', 'five of ben')
  await write(ben, 'a', ofBen)
  await succeed(ben, 'push', '--publish', '--yes')
  await write(ana, 'other', base.replace('one', 'one of ana'))
  const { version } = JSON.parse(await succeed(ana, 'push', '--json'))
  await succeed(ben, 'rollback', 'v1', '--yes')
  await succeed(ana, 'pull')
  await write(ana, 'a', base.replace('one', 'one of ana'))
  await succeed(ana, 'push')
  await succeed(ben, 'rollback', 'v2', '--yes')

  const late = await loggedIn()
  const { projectId } = JSON.parse(await readFile(join(ana.folder, 'stet.lock.json'), 'utf8'))
  await succeed(late, 'init', '--project', String(projectId), '-V', version.uuid)
  expect(await read(late, 'a')).toBe(ofBen.replace('one', 'one of ana'))
})

test.each([
  ['--publish', '--yes'],
  ['--for', 'pull request'],
  ['--new', '--name', 'second'],
])('push %s merges with changes of other lines in live, and refuses overlapping ones', async (...options) => {
  const [ana, ben] = await pairOf(`merge ${options[0]}`, { a: base, b: base })
  await write(ben, 'a', base.replace('five', 'five of ben'))
  await succeed(ben, 'push', '--publish', '--yes')
  await write(ana, 'a', base.replace('one', 'one of ana'))
  const { version, changes } = JSON.parse(await succeed(ana, 'push', ...options, '--json'))
  expect(changes).toMatchObject([{ path: 'a', merged: true }])
  const both = base.replace('one', 'one of ana').replace('five', 'five of ben')
  expect(await read(ana, 'a')).toBe(both)
  expect((await ana.stet(['status'])).stdout).toBe('')
  if (version.status === 'draft') await succeed(ana, 'publish', version.uuid, '--yes')
  expect(await live(ana)).toMatchObject({ a: both })

  await write(ben, 'b', base.replace('two', 'two of ben'))
  await succeed(ben, 'pull')
  await succeed(ben, 'push', '--publish', '--yes')
  await write(ana, 'b', base.replace('two', 'two of ana'))
  const { lines: named, next } = await refused(ana, 'push', ...options)
  expect(named).toEqual(['b  lines 2-6'])
  expect(next).toContain('stet pull')
})

test('a draft without changes is published only with --allow-empty', async () => {
  const [ana] = await pairOf('empty')
  await succeed(ana, 'versions', 'create', 'nothing', '--use')
  const { code, stderr } = await ana.stet(['publish', '--yes'])
  expect(code).toBe(2)
  expect(stderr).toContain('has no changes; nothing was published')
  expect(stderr).toContain('--allow-empty')
  await succeed(ana, 'publish', '--yes', '--allow-empty')
})

test('--new from a folder that follows an open draft sends what that draft changed, unless live changed it too', async () => {
  const [ana, ben] = await pairOf('new from open')
  await write(ana, 'a', 'a of ana\n')
  await write(ana, 'c', 'c of ana\n')
  await succeed(ana, 'push')
  const sent = JSON.parse(await succeed(ana, 'push', '--new', '--name', 'preview', '--json'))
  expect(sent).toMatchObject({ isNewDraft: true, version: { name: 'preview' } })
  expect(sent.changes.map(({ path, status }: { path: string; status: string }) => [path, status])).toEqual([
    ['a', 'modified'],
    ['c', 'added'],
  ])
  await write(ben, 'a', 'a of ben\n')
  await succeed(ben, 'push', '--publish', '--yes')
  const refused = await ana.stet(['push', '--new', '--json'])
  expect(refused).toMatchObject({ code: 6, stdout: '' })
  expect(JSON.parse(refused.stderr).error).toMatchObject({ code: 'conflict', lines: ['a  lines 1-5'] })
})

test('push --publish sends nothing if a prompt would be skipped for its case', async () => {
  const [ana, ben] = await pairOf('case and publication')
  await write(ana, 'hello', 'hello of ana\n')
  await succeed(ana, 'push', '--publish', '--yes')
  await write(ben, 'Hello', 'hello of ben\n')
  await write(ben, 'a', 'a of ben\n')
  const refused = await ben.stet(['push', '--publish', '--yes'])
  expect(refused).toMatchObject({ code: 6, stdout: '' })
  expect(refused.stderr).toContain('nothing was sent')
  expect(JSON.parse(await succeed(ben, 'versions', 'list', '--status', 'draft', '--json')).versions).toEqual([])
})
