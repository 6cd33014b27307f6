import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fileOf, pairOf, read, succeed, write } from './support/pair.ts'
import { type RunningServer, startServer } from './support/server.ts'

let server: RunningServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.stop())

const twoPeople = (name: string) => pairOf(name, server)

test('--new from a folder that follows an open draft sends what that draft changed, unless live changed it too', async () => {
  const [ana, ben] = await twoPeople('new from open')
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
  expect(JSON.parse(refused.stderr).error).toMatchObject({ code: 'conflict', lines: ['a'] })
})

test('push --publish sends nothing if a prompt would be skipped for its case', async () => {
  const [ana, ben] = await twoPeople('case and publication')
  await write(ana, 'hello', 'hello of ana\n')
  await succeed(ana, 'push', '--publish', '--yes')
  await write(ben, 'Hello', 'hello of ben\n')
  await write(ben, 'a', 'a of ben\n')
  const refused = await ben.stet(['push', '--publish', '--yes'])
  expect(refused).toMatchObject({ code: 6, stdout: '' })
  expect(refused.stderr).toContain('nothing was sent')
  expect(JSON.parse(await succeed(ben, 'versions', 'list', '--status', 'draft', '--json')).versions).toEqual([])
})

test('A pulls, B pushes and publishes, A pushes: the conflict names the prompt, and nothing is lost', async () => {
  const [ana, ben] = await twoPeople('conflict')
  await write(ben, 'a', 'a of ben\n')
  await succeed(ben, 'push', '--publish', '--yes')
  await write(ana, 'a', 'a of ana\n')
  await write(ana, 'b', 'b of ana\n')
  const pushed = await ana.stet(['push', '--json'])
  expect(pushed).toMatchObject({ code: 6, stdout: '' })
  expect(JSON.parse(pushed.stderr).error).toMatchObject({ code: 'conflict', lines: ['a'] })
  expect(JSON.parse(await succeed(ana, 'versions', 'list', '--status', 'draft', '--json')).versions).toEqual([])

  expect((await ana.stet(['pull'])).stderr).toContain('1 conflict')
  expect(await read(ana, 'a')).toBe('a of ana\n')
  expect(await readFile(`${fileOf(ana, 'a')}.remote`, 'utf8')).toBe('a of ben\n')
  expect(await ana.stet(['push'])).toMatchObject({ code: 6 })

  await write(ana, 'a', 'a of ben and ana\n')
  await rm(`${fileOf(ana, 'a')}.remote`)
  await succeed(ana, 'push', '--publish', '--yes')
  await succeed(ben, 'pull')
  expect(await read(ben, 'a')).toBe('a of ben and ana\n')
  expect(await read(ben, 'b')).toBe('b of ana\n')
})

test("a pull writes the colleague's changes and keeps the user's", async () => {
  const [ana, ben] = await twoPeople('apart')
  await write(ben, 'a', 'a of ben\n')
  await write(ben, 'new', 'new of ben\n')
  await succeed(ben, 'push', '--publish', '--yes')
  await write(ana, 'b', 'b of ana\n')
  const pushed = await ana.stet(['push', '--json'])
  expect(JSON.parse(pushed.stdout).changes.map(({ path }: { path: string }) => path)).toEqual(['b'])
  await succeed(ana, 'pull')
  expect([await read(ana, 'a'), await read(ana, 'b'), await read(ana, 'new')]).toEqual([
    'a of ben\n',
    'b of ana\n',
    'new of ben\n',
  ])
  await succeed(ana, 'publish', '--yes')
  await succeed(ben, 'pull')
  expect(await read(ben, 'b')).toBe('b of ana\n')
})

test("a colleague's push between comparison and push is a conflict, and nothing is applied", async () => {
  const [ana, ben] = await twoPeople('race')
  const draft = (await succeed(ana, 'versions', 'create', 'shared', '--use')).trim()
  await succeed(ben, 'versions', 'use', draft)
  for (const person of [ana, ben]) {
    await write(person, 'a', `a of ${person.folder}\n`)
    await write(person, 'b', `b of ${person.folder}\n`)
  }
  const ended = await Promise.all([ana.stet(['push']), ben.stet(['push'])])
  expect(ended.map(({ code }) => code).sort()).toEqual([0, 6])
  const winner = ended[0].code === 0 ? ana : ben
  const bundle = join(winner.folder, 'bundle.json')
  await succeed(winner, 'pull', '--bundle', bundle)
  expect(JSON.parse(await readFile(bundle, 'utf8'))).toEqual({
    a: `a of ${winner.folder}\n`,
    b: `b of ${winner.folder}\n`,
  })
})

test('the file of a deleted prompt stays until --prune, and an edited one always', async () => {
  const [ana, ben] = await twoPeople('prune')
  await rm(fileOf(ben, 'a'))
  await rm(fileOf(ben, 'b'))
  await succeed(ben, 'push', '--delete', '--publish', '--yes')
  await write(ana, 'b', 'b of ana\n')
  await succeed(ana, 'pull')
  expect((await readdir(join(ana.folder, 'prompts'))).sort()).toEqual(['a.promptl', 'b.promptl'])
  await succeed(ana, 'pull', '--prune')
  expect(await readdir(join(ana.folder, 'prompts'))).toEqual(['b.promptl'])
  expect(await ana.stet(['push'])).toMatchObject({ code: 6 })
  await succeed(ana, 'pull', '--ours')
  await succeed(ana, 'push')
})
