import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pairOf, succeed, write } from './support/pair.ts'
import { account } from './support/shared-server.ts'

test('push --force sends its text to a draft, and no published version changes', async () => {
  const [ana, ben] = await pairOf('forced')
  const { projectId } = JSON.parse(await readFile(join(ana.folder, 'stet.config.json'), 'utf8'))
  const client = account.project(projectId)
  const first = await client.versions.get('live')
  await write(ben, 'a', 'a of ben\n')
  await succeed(ben, 'push', '--publish', '--yes')
  const second = await client.versions.get('live')
  const textIn = async (versionUuid: string): Promise<string> =>
    (await client.prompts.get('a', { versionUuid })).content
  const published = async () => [await textIn(first.uuid), await textIn(second.uuid)]

  await write(ana, 'a', 'a of ana\n')
  await write(ana, 'c', 'c of ana\n')
  const unasked = await ana.stet(['push', '--force'])
  expect(unasked).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--yes') })
  expect(unasked.stderr).toMatch(/Overwrite the text of these prompts in the draft\?\n {2}a\n(?! {2}c\n)/)
  const merged = await ana.stet(['push', '--force', '--yes', '--draft', 'live'])
  expect(merged).toMatchObject({ code: 6, stderr: expect.stringContaining('already published') })
  expect(await client.versions.list({ status: 'draft' })).toEqual([])

  const { version, isNewDraft } = JSON.parse(await succeed(ana, 'push', '--force', '--yes', '--json'))
  expect({ isNewDraft, status: version.status }).toEqual({ isNewDraft: true, status: 'draft' })
  expect(await textIn(version.uuid)).toBe('a of ana\n')
  expect(await published()).toEqual(['first a\n', 'a of ben\n'])
  expect((await client.versions.get(second.uuid)).forcedEdits).toEqual(second.forcedEdits)
  await succeed(ana, 'publish', '--yes')
  expect(await textIn('live')).toBe('a of ana\n')
  expect(await published()).toEqual(['first a\n', 'a of ben\n'])
})

test('a folder that follows live or an older version opens a draft for push --force', async () => {
  const [ana, ben] = await pairOf('forced in live')
  const { projectId } = JSON.parse(await readFile(join(ana.folder, 'stet.config.json'), 'utf8'))
  const client = account.project(projectId)
  const first = await client.versions.get('live')
  await write(ben, 'a', 'a of ben\n')
  await succeed(ben, 'push', '--publish', '--yes')
  const second = await client.versions.get('live')
  for (const place of [[], ['-V', first.uuid]]) {
    await write(ben, 'a', `a of ben ${place.length}\n`)
    const { version } = JSON.parse(await succeed(ben, 'push', '--force', '--yes', '--json', ...place))
    expect(version).toMatchObject({ status: 'draft' })
    for (const { uuid } of [first, second]) {
      const { content } = await client.prompts.get('a', { versionUuid: uuid })
      expect(content).toBe(uuid === first.uuid ? 'first a\n' : 'a of ben\n')
    }
    await succeed(ben, 'versions', 'use', 'live', '--force')
  }
})
