import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { succeed, write } from './support/pair.ts'
import { startProxy, type Way } from './support/proxy.ts'
import { projectWith, server } from './support/shared-server.ts'
import { Person } from './support/stet.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

let proxy: Way
beforeAll(async () => {
  proxy = await startProxy(server.address)
})
afterEach(() => {
  proxy.collects = undefined
  proxy.lacks = undefined
})
afterAll(() => proxy.stop())

/** Follows a project with one prompt, and has an edit of it that is not pushed. */
async function someone(): Promise<Person> {
  const { id } = await projectWith({ a: 'first a\n' })
  const person = new Person(await temporaryFolder(), proxy, { STET_API_KEY: server.adminKey })
  await mkdir(join(person.folder, '.git'))
  await succeed(person, 'init', '--project', String(id))
  await write(person, 'a', 'second a\n')
  return person
}

/** Changes the JSON of the responses of an address. */
function answers(ending: string, change: (text: string) => string): void {
  proxy.collects = (url) => (url.endsWith(ending) ? { hasLength: true, change } : undefined)
}

const withoutReleases = (text: string): string => text.replace(/,?"releases"/, '')
const unpublished = (text: string): string => text.replace(/^(\{.*?"status":)"merged"/, '$1"draft"')

test('a command sends nothing to a server that would ignore what it does not know', async () => {
  const person = await someone()
  const refuse = async (...argv: string[]) => {
    answers('/me', withoutReleases)
    proxy.seen.length = 0
    const { code, stdout, stderr } = await person.stet([...argv, '--json'])
    expect([code, stdout], argv.join(' ')).toEqual([1, ''])
    const { error } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '')
    expect(error).toMatchObject({
      message: expect.stringContaining('releases'),
      next: expect.stringContaining('upgrade'),
    })
    expect(proxy.seen.filter((line) => !line.startsWith('GET '))).toEqual([])
    proxy.collects = undefined
  }
  await refuse('push', '--name', 'one')
  await refuse('push', '--for', 'one')
  await refuse('push', '--publish', '--yes', '--name', 'one')
  await succeed(person, 'mv', 'a', 'b')
  await refuse('push', '--name', 'one')
  await succeed(person, 'mv', 'b', 'a')
  await refuse('rollback', '1', '--yes')
  await succeed(person, 'push', '--name', 'one')
  await write(person, 'a', 'third a\n')
  await refuse('push')
  await succeed(person, 'push')
  await refuse('publish', '--merge', '--yes')
})

test('a command asks once what the server can do', async () => {
  const person = await someone()
  await succeed(person, 'push', '--name', 'one')
  await write(person, 'a', 'third a\n')
  proxy.seen.length = 0
  await succeed(person, 'push', '--publish', '--yes')
  expect(proxy.seen.filter((line) => line.endsWith('/me'))).toHaveLength(1)
})

test('a publication whose response is still a draft fails', async () => {
  const person = await someone()
  answers('/versions', unpublished)
  const atOnce = await person.stet(['push', '--publish', '--yes', '--name', 'one'])
  expect(atOnce).toMatchObject({ code: 1, stderr: expect.stringContaining('did not publish "one"') })
  proxy.collects = undefined
  await succeed(person, 'pull')
  await write(person, 'a', 'third a\n')
  await succeed(person, 'push', '--name', 'two')
  const before = await readFile(join(person.folder, 'stet.lock.json'), 'utf8')
  answers('/publish', unpublished)
  const published = await person.stet(['publish', '--yes'])
  expect(published).toMatchObject({ code: 1, stderr: expect.stringContaining('did not publish "two"') })
  expect(await readFile(join(person.folder, 'stet.lock.json'), 'utf8')).toBe(before)
})

test('a server that cannot check drafts checks them only while it publishes', async () => {
  const person = await someone()
  await succeed(person, 'push', '--name', 'one')
  proxy.lacks = /\/checks(\?|$)/
  const checked = await person.stet(['publish', '--check', '--json'])
  expect(checked).toMatchObject({ code: 1, stdout: '' })
  expect(JSON.parse(checked.stderr).error).toMatchObject({
    message: expect.stringContaining('nothing was checked'),
    next: expect.stringContaining('upgrade'),
  })
  const draft = await readFile(join(person.folder, 'stet.lock.json'), 'utf8')
  await succeed(person, 'versions', 'use', 'live')
  await write(person, 'a', 'a of live\n')
  await succeed(person, 'push', '--publish', '--yes', '--force')
  const { uuid } = JSON.parse(draft).version
  proxy.seen.length = 0
  const conflicting = await person.stet(['publish', uuid, '--yes', '--json'])
  expect(conflicting).toMatchObject({ code: 6, stdout: '' })
  expect(JSON.parse(conflicting.stderr).error).toMatchObject({ lines: ['a'] })
  expect(proxy.seen.filter((line) => !line.startsWith('GET '))).toEqual([])
  await succeed(person, 'publish', uuid, '--yes', '--force')
})
