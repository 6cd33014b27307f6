import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pairOf, read, succeed, write } from './support/pair.ts'
import { startProxy } from './support/proxy.ts'
import { account, personIn, projectWith, server } from './support/shared-server.ts'
import { Person } from './support/stet.ts'

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

test('push --force --publish asks whether to overwrite live, and publishes no conflict markers', async () => {
  const [ana, ben] = await pairOf('forced and published')
  await write(ben, 'a', 'a of ben\n')
  await succeed(ben, 'push', '--publish', '--yes')
  await write(ana, 'a', 'a of ana\n')
  const asked = await ana.stet(['push', '--force', '--publish'])
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringMatching(/Overwrite [^?]* in live\?\n {2}a\n/) })
  expect(await ana.stet(['pull'])).toMatchObject({ code: 6 })
  const refused = await ana.stet(['push', '--force', '--publish', '--yes'])
  expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining('a  (conflict markers)') })
  await write(ana, 'a', 'a of both\n')
  await succeed(ana, 'push', '--publish', '--yes')
  await succeed(ben, 'pull')
  expect(await read(ben, 'a')).toBe('a of both\n')
})

test('no command sends a text to a published version', async () => {
  const proxy = await startProxy(server.address)
  const { client, id } = await projectWith({ a: 'first\n' })
  const { folder } = await personIn(id)
  const person = new Person(folder, proxy, { STET_API_KEY: server.adminKey, STET_PROJECT_ID: String(id) })
  await mkdir(join(folder, '.git'), { recursive: true })
  await succeed(person, 'pull')
  const live = await client.versions.get('live')
  await client.prompts.createOrUpdate('a', { versionUuid: live.uuid, prompt: 'of a colleague\n', force: true })
  const edited = await client.versions.get('live')
  await write(person, 'a', 'pushed\n')
  await succeed(person, 'push', '--force', '--yes')
  await succeed(person, 'publish', '--yes')
  await succeed(person, 'rollback', '--yes')
  await write(person, 'a', 'pushed again\n')
  await succeed(person, 'push', '--force', '--publish', '--yes', '-V', 'live')
  await proxy.stop()
  const writes = proxy.seen.filter((line) => !line.startsWith('GET'))
  expect(writes.filter((line) => /\/publish$|\/rollback$|\/versions$/.test(line))).toHaveLength(4)
  // Only these routes take the text of a single prompt, and only they edit a published version.
  expect(writes.filter((line) => line.includes('/documents'))).toEqual([])
  expect((await client.versions.get(live.uuid)).forcedEdits).toEqual(edited.forcedEdits)
})
