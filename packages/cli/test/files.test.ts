import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readCredentials, writeCredentials } from '../src/settings/credentials.ts'
import { formatLock, type Lock, readLockFile, writeLockFile } from '../src/settings/lock-file.ts'
import { applyPull } from '../src/sync/apply.ts'
import { hashBytes, hashText } from '../src/sync/hash.ts'
import { isWithin, problemOfPath } from '../src/sync/prompt-path.ts'
import { scanPrompts } from '../src/sync/scan.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const all = ['**/*.promptl']

test('line ends of a checkout and a byte order mark are no edit; what is sent has neither', () => {
  const stored = hashText('a\nb\n')
  for (const form of ['a\nb\n', 'a\r\nb\r\n', '\uFEFFa\r\nb\r\n']) {
    const read = hashBytes(Buffer.from(form))
    expect(read?.hashes.has(stored)).toBe(true)
    expect(read?.text).toBe('a\nb\n')
  }
  expect(hashBytes(Buffer.from('a\r\nb'))?.hashes.has(hashText('a\r\nb'))).toBe(true)
  expect(hashBytes(Uint8Array.of(0xff, 0x41))).toBeUndefined()
})

test('a scan takes what is included and not ignored, and names leftovers of conflicts', async () => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'support', '_drafts'), { recursive: true })
  const files = ['support/reply.promptl', 'support/_drafts/x.promptl', 'support/reply.promptl.remote', 'notes.md']
  for (const file of files) await writeFile(join(folder, file), 'text')
  const scan = await scanPrompts(folder, all, ['**/_drafts/**'])
  expect([...scan.prompts.keys()]).toEqual(['support/reply'])
  expect([...scan.leftovers]).toEqual(['support/reply'])
})

test('a link out of the folder, a case clash and a reserved name are refused, the rest goes on', async () => {
  const folder = await temporaryFolder()
  const outside = await temporaryFolder()
  await writeFile(join(outside, 'secret.promptl'), 'secret')
  await symlink(join(outside, 'secret.promptl'), join(folder, 'link.promptl'))
  await symlink(outside, join(folder, 'folder-link'))
  for (const name of ['Tone', 'tone', 'con', 'good']) await writeFile(join(folder, `${name}.promptl`), name)
  const scan = await scanPrompts(folder, all, [])
  expect([...scan.prompts.keys()]).toEqual(['good'])
  expect(scan.refused.map(({ path }) => path).sort()).toEqual(['Tone', 'con', 'folder-link', 'link.promptl', 'tone'])
})

test('a file that is not UTF-8 ends the scan', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'bad.promptl'), Uint8Array.of(0xc3, 0x28))
  await expect(scanPrompts(folder, all, [])).rejects.toMatchObject({ code: 'invalid' })
})

test.each(['../evil', 'a/../../evil', '/etc/x', 'a//b', 'a\\b', 'nul', 'a.', 'c:d'])(
  'path %s cannot be a file',
  (path) => {
    expect(problemOfPath(path)).toBeDefined()
  },
)

test('a pull writes nothing through a link out of the folder', async () => {
  const [folder, outside] = [await temporaryFolder(), await temporaryFolder()]
  await symlink(outside, join(folder, 'sub'))
  expect(await isWithin(folder, join(folder, 'sub', 'x.promptl'))).toBe(false)
  const one = {
    path: 'sub/x',
    state: 'remote-new' as const,
    localText: undefined,
    localHash: undefined,
    remoteText: 'text',
    remoteHash: hashText('text'),
    documentUuid: undefined,
    remoteUpdatedAt: undefined,
    hasLeftover: false,
  }
  const { entries, refused } = await applyPull(folder, [{ one, action: 'write' }], {})
  expect(refused.map(({ path }) => path)).toEqual(['sub/x'])
  expect(entries).toEqual({})
  expect(await readdir(outside)).toEqual([])
})

const lock: Lock = {
  baseUrl: 'http://127.0.0.1:8787/api/v3',
  projectId: 7,
  version: { uuid: '0b9c7b7e-4f1f-4a2b-9d1c-6a3f0d0e4c11', status: 'draft', name: 'tone' },
  prompts: { b: { hash: '2' }, a: { hash: '1', documentUuid: 'd', theirs: '3' } },
}

test('the lock comes back as written, sorted, and a write leaves no temporary file', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'stet.lock.json')
  await writeLockFile(file, lock)
  expect(await readLockFile(file)).toEqual(lock)
  expect(formatLock(lock).indexOf('"a"')).toBeLessThan(formatLock(lock).indexOf('"b"'))
  expect(await readdir(folder)).toEqual(['stet.lock.json'])
})

test('a write of the lock that fails leaves the old one whole', async () => {
  const folder = await temporaryFolder()
  // A folder in its place makes the rename fail at the last moment.
  const file = join(folder, 'stet.lock.json')
  await mkdir(join(file, 'full'), { recursive: true })
  await expect(writeLockFile(file, lock)).rejects.toThrow()
  expect(await readdir(folder)).toEqual(['stet.lock.json'])
})

test('marks of an unfinished merge in the lock are a conflict with advice', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'stet.lock.json')
  await writeFile(file, `<<<<<<< HEAD\n${formatLock(lock)}=======\n>>>>>>> other\n`)
  await expect(readLockFile(file)).rejects.toMatchObject({ code: 'conflict', hint: expect.stringContaining('pull') })
})

test('logins are kept with mode 0600, and a wider mode is corrected with a warning', async () => {
  const file = join(await temporaryFolder(), 'stet', 'credentials.json')
  const credentials = { default: { baseUrl: 'http://x/api/v3', apiKey: 'stet_x', keyName: 'k' } }
  await writeCredentials(file, credentials)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect((await stat(join(file, '..'))).mode & 0o777).toBe(0o700)
  await chmod(file, 0o644)
  const warnings: string[] = []
  expect(await readCredentials(file, (text) => warnings.push(text))).toEqual(credentials)
  expect(warnings).toHaveLength(1)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readFile(file, 'utf8')).toContain('stet_x')
})
