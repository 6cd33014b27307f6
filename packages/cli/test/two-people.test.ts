import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pairOf, succeed, write } from './support/pair.ts'

const twoPeople = (name: string) => pairOf(name)

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
