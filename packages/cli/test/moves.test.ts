import { existsSync } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Stet } from '@stet/sdk'
import { expect, test } from 'vitest'
import { fileOf, pairOf, read, succeed, write } from './support/pair.ts'
import { server } from './support/shared-server.ts'
import type { Person } from './support/stet.ts'

const poem = 'Write a poem.\nIt has two lines.\nThey rhyme.\nNo title.\nNo comment.\n'
const letter = 'Write a letter.\nIt is long.\nSay hello.\nSay goodbye.\nSign it.\n'

const isThere = (person: Person, path: string): boolean => existsSync(fileOf(person, path))
const moveFile = (person: Person, from: string, to: string) => rename(fileOf(person, from), fileOf(person, to))

async function lockOf(person: Person) {
  return JSON.parse(await readFile(join(person.folder, 'stet.lock.json'), 'utf8'))
}

/** Returns the uuids and texts of a version, by path. */
async function servedTo(person: Person, versionUuid = 'live'): Promise<Record<string, [uuid: string, text: string]>> {
  const stet = new Stet({
    apiKey: server.adminKey,
    baseUrl: server.address,
    projectId: (await lockOf(person)).projectId,
  })
  const prompts = await stet.prompts.list({ versionUuid })
  return Object.fromEntries(prompts.map(({ path, documentUuid, content }) => [path, [documentUuid, content]]))
}

const draftOf = async (person: Person): Promise<string> => (await lockOf(person)).version.uuid

test('a renamed and edited file is one move, which a colleague with edits of the file pulls', async () => {
  const [ana, ben] = await pairOf('renamed', { a: poem, other: letter })
  const [uuid] = (await servedTo(ana))['a'] ?? []
  await moveFile(ana, 'a', 'b')
  await write(ana, 'b', poem.replace('poem', 'song'))
  const status = await ana.stet(['status'])
  expect(status.stdout).toBe('  R a → b  +1 −1\n')
  expect(JSON.parse(await succeed(ana, 'status', '--json')).entries).toMatchObject([
    { path: 'b', from: 'a', state: 'local-move', lines: { added: 1, removed: 1 } },
  ])
  expect((await ana.stet(['diff'])).stdout).toMatch(/^--- server {2}a {2}.*\n\+\+\+ local {3}prompts\/b.promptl\n/)
  const planned = await ana.stet(['push', '--dry-run'])
  expect(planned.stderr).toContain('R a → b  +1 −1\n')
  const pushed = JSON.parse(await succeed(ana, 'push', '--json'))
  expect(pushed.changes).toMatchObject([{ path: 'b', from: 'a', status: 'moved', lines: '+1 −1' }])
  expect((await lockOf(ana)).prompts['b']).toMatchObject({ documentUuid: uuid, movedFrom: 'a' })
  expect((await ana.stet(['status'])).stdout).toBe('')
  const published = await ana.stet(['publish', '--yes', '--json'])
  expect(JSON.parse(published.stdout).changes).toEqual([{ path: 'b', from: 'a', status: 'moved', conflict: false }])
  expect(await servedTo(ana)).toMatchObject({ b: [uuid, poem.replace('poem', 'song')] })
  expect((await lockOf(ana)).prompts['b']).not.toHaveProperty('movedFrom')

  await write(ben, 'a', `${poem}Bye.\n`)
  expect((await ben.stet(['status'])).stdout).toMatch(/^ {2}C a → b/)
  expect(await ben.stet(['push'])).toMatchObject({ code: 6, stderr: expect.stringContaining('stet pull') })
  const pulled = await ben.stet(['pull'])
  expect(pulled).toMatchObject({ code: 0, stderr: expect.stringContaining('R a → b  merged') })
  expect(isThere(ben, 'a')).toBe(false)
  expect(await read(ben, 'b')).toBe(`${poem.replace('poem', 'song')}Bye.\n`)
  expect(Object.keys((await lockOf(ben)).prompts)).toEqual(['b', 'other'])
  await succeed(ben, 'push', '--publish', '--yes')
  expect(await servedTo(ben)).toMatchObject({ b: [uuid, `${poem.replace('poem', 'song')}Bye.\n`] })
})

test('--no-moves makes it a deleted and a new prompt', async () => {
  const [ana] = await pairOf('no moves')
  const uuid = (await servedTo(ana))['a']?.[0]
  await moveFile(ana, 'a', 'c')
  expect((await ana.stet(['status', '--no-moves'])).stdout).toBe('  D a\n  A c  +1\n')
  const { projectId } = await lockOf(ana)
  const stet = new Stet({ apiKey: server.adminKey, baseUrl: server.address, projectId })
  const [documentUuid = ''] = (await servedTo(ana))['a'] ?? []
  await stet.examples.create({ documentUuid, name: 'n', parameters: {} })
  const warned = await ana.stet(['push', '--no-moves', '--delete', '--dry-run'])
  expect(warned.stderr).toContain('1 example of a will stay with the deleted prompt; stet mv keeps them')
  const pushed = JSON.parse(await succeed(ana, 'push', '--no-moves', '--delete', '--json'))
  expect(pushed.changes.map(({ path, status }: { path: string; status: string }) => [path, status])).toEqual([
    ['c', 'added'],
    ['a', 'deleted'],
  ])
  expect((await servedTo(ana, await draftOf(ana)))['c']?.[0]).not.toBe(uuid)
})

test('a folder of 200 prompts moves in one push, and the files of a colleague follow', async () => {
  const names = Array.from({ length: 200 }, (_, index) => `prompt-${index}`)
  const [ana, ben] = await pairOf('folder', Object.fromEntries(names.map((name) => [`old/${name}`, `${name}\n`])))
  const before = await servedTo(ana)
  expect((await ana.stet(['mv', 'old', 'new/deep'])).stderr).toContain('200 files moved')
  expect(existsSync(join(ana.folder, 'prompts/old'))).toBe(false)
  const pushed = JSON.parse(await succeed(ana, 'push', '--publish', '--yes', '--json'))
  expect(pushed.published.changes).toHaveLength(200)
  expect(pushed.published.changes[0]).toMatchObject({ from: 'old/prompt-0', status: 'moved' })
  const after = await servedTo(ana)
  for (const name of names) expect(after[`new/deep/${name}`]).toEqual(before[`old/${name}`])
  const pulled = JSON.parse(await succeed(ben, 'pull', '--json'))
  expect(pulled.counts).toMatchObject({ updated: 200, conflicts: 0 })
  expect(existsSync(join(ben.folder, 'prompts/old'))).toBe(false)
  expect(await succeed(ben, 'status', '--check')).toBe('')
})

test('two files that swap are two moves, also in a repeated push --for and for a colleague', async () => {
  const [ana, ben] = await pairOf('swap', { a: poem, b: letter })
  const before = await servedTo(ana)
  await write(ana, 'a', letter)
  await write(ana, 'b', poem)
  expect((await ana.stet(['status'])).stdout).toBe('  R b → a\n  R a → b\n')
  expect((await ana.stet(['status', '--offline'])).stdout).toBe('  R b → a\n  R a → b\n')
  await succeed(ana, 'push', '--for', 'swap')
  expect(await servedTo(ana, await draftOf(ana))).toEqual({ a: before['b'], b: before['a'] })
  // Without the notes in the lock, this would be two edits.
  await write(ana, 'a', `${letter}P.S.\n`)
  await succeed(ana, 'push', '--for', 'swap')
  const swapped = { a: [before['b']?.[0], `${letter}P.S.\n`], b: before['a'] }
  expect(await servedTo(ana, await draftOf(ana))).toEqual(swapped)
  await succeed(ana, 'publish', '--yes')
  expect(await servedTo(ana)).toEqual(swapped)
  await write(ben, 'a', `${poem}Bye.\n`)
  await succeed(ben, 'pull')
  expect([await read(ben, 'a'), await read(ben, 'b')]).toEqual([`${letter}P.S.\n`, `${poem}Bye.\n`])
  const pushed = JSON.parse(await succeed(ben, 'push', '--json'))
  expect(pushed.changes).toMatchObject([{ path: 'b', status: 'modified' }])
})

test('a prompt that takes the path of a moved one is another prompt', async () => {
  const [ana] = await pairOf('replaced', { a: poem })
  const [uuid] = (await servedTo(ana))['a'] ?? []
  await succeed(ana, 'mv', 'a', 'b')
  await write(ana, 'a', letter)
  expect((await ana.stet(['status'])).stdout).toBe('  A a  +5\n  R a → b\n')
  await succeed(ana, 'push', '--publish', '--yes')
  const served = await servedTo(ana)
  expect(served).toMatchObject({ a: [expect.any(String), letter], b: [uuid, poem] })
  expect(served['a']?.[0]).not.toBe(uuid)
  expect(await succeed(ana, 'status', '--check')).toBe('')
})

test.each([
  ['b', 'a'],
  ['a', 'b'],
])('a repeated push --for keeps the move from %s to %s beside a new prompt at the old path', async (from, to) => {
  const [ana] = await pairOf(`replaced again from ${from}`, { [from]: poem })
  const [uuid] = (await servedTo(ana))[from] ?? []
  await succeed(ana, 'mv', from, to)
  await write(ana, from, letter)
  await succeed(ana, 'push', '--for', 'replaced')
  await write(ana, to, `${poem}Bye.\n`)
  await succeed(ana, 'push', '--for', 'replaced')
  const served = await servedTo(ana, await draftOf(ana))
  expect(served).toEqual({ [from]: [expect.not.stringMatching(uuid ?? ''), letter], [to]: [uuid, `${poem}Bye.\n`] })
})

test('a move that is skipped for its case holds back every change that needs its old path', async () => {
  const [ana, ben] = await pairOf('skipped move', { a: poem, b: letter, c: 'first c\n' })
  await write(ana, 'Hello', 'hello of ana\n')
  await succeed(ana, 'push', '--publish', '--yes')
  const before = await servedTo(ana)
  await succeed(ben, 'mv', 'a', 'hello')
  await succeed(ben, 'mv', 'b', 'a')
  await write(ben, 'b', 'another b\n')
  await write(ben, 'c', 'second c\n')
  const pushed = await ben.stet(['push', '--name', 'skipped', '--json'])
  expect(pushed.code).toBe(1)
  expect(JSON.parse(pushed.stdout)).toMatchObject({
    changes: [{ path: 'c', status: 'modified' }],
    refused: [{ path: 'hello' }, { path: 'a' }, { path: 'b' }],
  })
  const c = [before['c']?.[0], 'second c\n']
  expect(await servedTo(ana, await draftOf(ben))).toEqual({ ...before, c })
})

test('stet mv is remembered until the push: rewritten texts, a second move, and the way back', async () => {
  const [ana] = await pairOf('noted', { 'x/a': poem, b: letter })
  const [uuid] = (await servedTo(ana))['x/a'] ?? []
  expect(JSON.parse(await succeed(ana, 'mv', 'prompts/x/a.promptl', 'prompts/x/c.promptl', '--json'))).toEqual({
    moved: [{ from: 'x/a', to: 'x/c' }],
  })
  await succeed(ana, 'mv', 'x/c', 'y/')
  expect((await lockOf(ana)).prompts['x/a']).toMatchObject({ documentUuid: uuid, movedTo: 'y/c' })
  await succeed(ana, 'mv', 'y/c', 'x/a')
  expect(await succeed(ana, 'status', '--check')).toBe('')
  expect((await lockOf(ana)).prompts['x/a']).not.toHaveProperty('movedTo')
  await succeed(ana, 'mv', 'x', 'z')
  await write(ana, 'z/a', 'Nothing is left.\n')
  expect((await ana.stet(['status', '--offline'])).stdout).toBe('  R x/a → z/a\n')
  await succeed(ana, 'push')
  expect(await servedTo(ana, await draftOf(ana))).toMatchObject({ 'z/a': [uuid, 'Nothing is left.\n'] })
  const refusals: [from: string, to: string, code: number, reason: string][] = [
    ['nowhere', 'q', 5, 'No prompt or folder nowhere'],
    ['b', 'z/a', 2, 'z/a exists'],
    ['b', 'Z/A', 2, 'only in case'],
    ['b', 'con', 2, 'reserved'],
    ['b', 'with space', 2, 'characters'],
    ['b', '../out', 2, 'outside'],
    ['.', 'q', 5, 'No prompt or folder .'],
  ]
  for (const [from, to, code, reason] of refusals) {
    expect(await ana.stet(['mv', from, to]), to).toMatchObject({ code, stderr: expect.stringContaining(reason) })
  }
  expect(await read(ana, 'b')).toBe(letter)
})

test('a move and an edit of the same prompt in one draft meet in the moved file', async () => {
  const [ana, ben] = await pairOf('both', { a: poem })
  await write(ana, 'a', `${poem}One.\n`)
  await succeed(ana, 'push', '-m', 'shared')
  const draft = await draftOf(ana)
  await succeed(ben, 'versions', 'use', draft, '--pull')
  await write(ana, 'a', `${poem.replace('title', 'name')}One.\n`)
  await succeed(ana, 'push')
  // The edit is in another line than ben's, whose push the server merges.
  await moveFile(ben, 'a', 'b')
  await write(ben, 'b', `Please.\n${poem}One.\n`)
  const merged = `Please.\n${poem.replace('title', 'name')}One.\n`
  expect((await ben.stet(['push'])).stderr).toContain('R a → b')
  expect(await read(ben, 'b')).toBe(merged)
  expect(await servedTo(ben, draft)).toMatchObject({ b: [expect.any(String), merged] })
  // Ana has edited the same line meanwhile.
  await write(ana, 'a', `Now.\n${poem.replace('title', 'name')}One.\n`)
  const pulled = await ana.stet(['pull'])
  expect(pulled).toMatchObject({ code: 6, stderr: expect.stringContaining('R a → b') })
  expect(await read(ana, 'b')).toContain('<<<<<<< file\nNow.\n=======\nPlease.\n>>>>>>> draft\n')
  await write(ana, 'b', `Now, please.\n${poem}`)
  await succeed(ana, 'push')
  expect((await servedTo(ana, draft))['b']?.[1]).toBe(`Now, please.\n${poem}`)
})

test('a change of live is merged into the file of the prompt that the draft moves', async () => {
  const [ana, ben] = await pairOf('live', { a: poem, b: letter })
  await succeed(ana, 'mv', 'a', 'c')
  await write(ana, 'c', `${poem}Bye.\n`)
  await succeed(ana, 'push')
  await write(ben, 'a', poem.replace('poem', 'song'))
  await succeed(ben, 'push', '--publish', '--yes')
  expect((await ana.stet(['status'])).stdout).toContain('C c  stet pull merges it')
  expect(await ana.stet(['publish', '--yes'])).toMatchObject({ code: 6 })
  expect(await ana.stet(['pull'])).toMatchObject({ code: 0, stderr: expect.stringContaining('M c  merged') })
  const merged = `${poem.replace('poem', 'song')}Bye.\n`
  expect(await read(ana, 'c')).toBe(merged)
  expect(isThere(ana, 'a')).toBe(false)
  await succeed(ana, 'push')
  await succeed(ana, 'publish', '--yes')
  expect(Object.keys(await servedTo(ana))).toEqual(['b', 'c'])
  expect((await servedTo(ana))['c']?.[1]).toBe(merged)
})

test('a draft with a move that is reverted or deleted leaves the files of the folder as they should be', async () => {
  const [ana, ben] = await pairOf('undone', { a: poem, b: letter })
  const before = await servedTo(ana)
  await succeed(ana, 'mv', 'a', 'c')
  await write(ana, 'c', `${poem}Bye.\n`)
  await succeed(ana, 'push', '-m', 'undone')
  await succeed(ben, 'versions', 'use', await draftOf(ana), '--pull')
  expect(await read(ben, 'c')).toBe(`${poem}Bye.\n`)
  await succeed(ana, 'versions', 'delete', 'undone', '--yes')
  // The folder keeps its change, which is still a move.
  expect((await ana.stet(['status'])).stdout).toBe('  R a → c  +1\n')
  await succeed(ana, 'push', '-m', 'again')
  expect(await servedTo(ana, await draftOf(ana))).toMatchObject({ c: [before['a']?.[0], `${poem}Bye.\n`] })
  await succeed(ana, 'revert', 'c', '--yes')
  expect((await ana.stet(['status'])).stdout).toMatch(/^ {2}R c → a/)
  await succeed(ana, 'pull')
  expect([isThere(ana, 'c'), await read(ana, 'a')]).toEqual([false, poem])
  expect((await lockOf(ana)).prompts['a']).not.toHaveProperty('movedFrom')
})

test('prompts that refer to the old path are named, and block the publication', async () => {
  const [ana] = await pairOf('references', { a: poem, user: '<prompt path="a" />\n' })
  await moveFile(ana, 'a', 'b')
  const pushed = JSON.parse(await succeed(ana, 'push', '--json'))
  expect(pushed.errors).toMatchObject([{ path: 'user' }])
  expect(await ana.stet(['publish', '--yes'])).toMatchObject({ code: 7 })
  await write(ana, 'user', '<prompt path="b" />\n')
  await succeed(ana, 'push')
  await succeed(ana, 'publish', '--yes')
})

test('a pull moves no file onto another one, and all files of prompts that change places together', async () => {
  const [ana, ben] = await pairOf('taken', { a: poem, b: letter })
  await succeed(ana, 'mv', 'b', 'c')
  await succeed(ana, 'mv', 'a', 'b')
  await succeed(ana, 'push', '--publish', '--yes')
  const part = await ben.stet(['pull', 'a'])
  expect(part).toMatchObject({ code: 1, stderr: expect.stringContaining('has a file of another prompt') })
  expect([await read(ben, 'a'), await read(ben, 'b')]).toEqual([poem, letter])
  await succeed(ben, 'pull')
  expect([isThere(ben, 'a'), await read(ben, 'b'), await read(ben, 'c')]).toEqual([false, poem, letter])
  // A new file at the path is not overwritten either.
  await succeed(ana, 'mv', 'c', 'd')
  await succeed(ana, 'push', '--publish', '--yes')
  await write(ben, 'd', 'My own.\n')
  expect(await ben.stet(['pull'])).toMatchObject({ code: 6 })
  expect(await read(ben, 'd')).toContain('My own.\n')
  expect(await read(ben, 'c')).toBe(letter)
})

test('a checkout that has a published move already, with the lock from before, is in step', async () => {
  const [ana, ben] = await pairOf('checkout', { a: poem })
  await succeed(ana, 'mv', 'a', 'b')
  await write(ana, 'b', letter)
  await succeed(ana, 'push', '--publish', '--yes')
  await rm(fileOf(ben, 'a'))
  await writeFile(fileOf(ben, 'b'), letter)
  expect(await succeed(ben, 'status', '--check')).toBe('')
  await succeed(ben, 'pull')
  expect(Object.keys((await lockOf(ben)).prompts)).toEqual(['b'])
})
