import { chmod, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readCredentials, writeCredentials } from '../src/settings/credentials.ts'
import { formatLock, type Lock, readLockFile, writeLockFile } from '../src/settings/lock-file.ts'
import { isWithin, readFormerText, writeFileAtomically, writeNamedFile } from '../src/settings/write-file.ts'
import { applyPull } from '../src/sync/apply.ts'
import type { Compared } from '../src/sync/compare.ts'
import { hashBytes, hashText } from '../src/sync/hash.ts'
import { problemOfPath, promptPathsOf } from '../src/sync/prompt-path.ts'
import { isLeftOut, scanPrompts } from '../src/sync/scan.ts'
import { comparedWith } from './support/compared.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const all = ['**/*.promptl']

test('CRLF and a byte order mark are not edits, and are not sent', () => {
  const stored = hashText('a\nb\n')
  for (const form of ['a\nb\n', 'a\r\nb\r\n', '\uFEFFa\r\nb\r\n']) {
    const read = hashBytes(Buffer.from(form))
    expect(read?.hashes.has(stored)).toBe(true)
    expect(read?.text).toBe('a\nb\n')
  }
  expect(hashBytes(Buffer.from('a\r\nb'))?.hashes.has(hashText('a\r\nb'))).toBe(true)
  expect(hashBytes(Uint8Array.of(0xff, 0x41))).toBeUndefined()
})

test('a scan finds included files that are not ignored', async () => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'support', '_drafts'), { recursive: true })
  const files = ['support/reply.promptl', 'support/_drafts/x.promptl', 'support/reply.promptl.orig', 'notes.md']
  for (const file of files) await writeFile(join(folder, file), 'text')
  const scan = await scanPrompts(folder, all, ['**/_drafts/**'])
  expect([...scan.prompts.keys()]).toEqual(['support/reply'])
})

test('links to files outside, case clashes and reserved names are skipped, and the scan continues', async () => {
  const folder = await temporaryFolder()
  const outside = await temporaryFolder()
  await writeFile(join(outside, 'secret.promptl'), 'secret')
  await symlink(join(outside, 'secret.promptl'), join(folder, 'link.promptl'))
  await symlink(outside, join(folder, 'folder-link'))
  await symlink('round.promptl', join(folder, 'round.promptl'))
  await symlink('/etc/hostname', join(folder, 'note.md'))
  for (const name of ['Tone', 'tone', 'con', 'good']) await writeFile(join(folder, `${name}.promptl`), name)
  const scan = await scanPrompts(folder, all, [])
  expect([...scan.prompts.keys()]).toEqual(['good'])
  expect(scan.refused.map(({ path }) => path).sort()).toEqual(['Tone', 'con', 'folder-link/', 'link', 'round', 'tone'])
  // Skipped paths behind a link must not count as deleted.
  for (const path of ['link', 'folder-link/a', 'tone']) expect(isLeftOut(path, scan.refused)).toBe(true)
  for (const path of ['good', 'link/a', 'folder-linked']) expect(isLeftOut(path, scan.refused)).toBe(false)
})

const [composed, decomposed] = ['caf\u00e9', 'cafe\u0301']

test('a name in another Unicode form is the same prompt, whose file a pull changes; two such files are refused', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, `${decomposed}.promptl`)
  await writeFile(file, 'old')
  const found = (await scanPrompts(folder, all, [])).prompts.get(composed)
  const withText = (text: string) => ({ ...remoteNew(composed), localFile: found?.file, localHash: hashText(text) })
  await applyPull(folder, [{ one: withText('old'), action: 'write' }], {})
  expect(await readFile(file, 'utf8')).toBe('text')
  await applyPull(folder, [{ one: withText('text'), action: 'merge', text: 'merged' }], {})
  expect(await readdir(folder)).toEqual([`${decomposed}.promptl`])
  expect(await readFile(file, 'utf8')).toBe('merged')
  await writeFile(join(folder, `${composed}.promptl`), 'other')
  const scan = await scanPrompts(folder, all, [])
  expect(scan.refused).toEqual([
    { path: composed, reason: 'matches two files whose names differ only in Unicode form' },
  ])
  expect(scan.prompts.size).toBe(0)
  await applyPull(folder, [{ one: withText('merged'), action: 'delete' }], {})
  expect(await readdir(folder)).not.toContain(`${decomposed}.promptl`)
})

test('a file that is not UTF-8 ends the scan', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'bad.promptl'), Uint8Array.of(0xc3, 0x28))
  await expect(scanPrompts(folder, all, [])).rejects.toMatchObject({ code: 'invalid' })
})

test.each([
  '../evil',
  'a/../../evil',
  '/etc/x',
  'a//b',
  'a\\b',
  'nul',
  'a.',
  'c:d',
  'a b',
  'a!',
  '😀',
  'x'.repeat(248),
  `${'y/'.repeat(256)}y`,
])('path %s cannot be a prompt and a file', (path) => {
  expect(problemOfPath(path)).toBeDefined()
})

test('a pull writes nothing through a link out of the folder', async () => {
  const [folder, outside] = [await temporaryFolder(), await temporaryFolder()]
  await symlink(outside, join(folder, 'sub'))
  expect(await isWithin(folder, join(folder, 'sub', 'x.promptl'))).toBe(false)
  const { entries, refused } = await applyPull(folder, [{ one: remoteNew('sub/x'), action: 'write' }], {})
  expect(refused.map(({ path }) => path)).toEqual(['sub/x'])
  expect(entries).toEqual({})
  expect(await readdir(outside)).toEqual([])
})

test('a pull continues after a name that is not a valid file name here', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'a'), 'no folder')
  await mkdir(join(folder, 'b.promptl'))
  const paths = ['a/x', 'b', 'l'.repeat(247)]
  const steps = paths.map((path) => ({ one: remoteNew(path), action: 'write' as const }))
  const { entries, refused } = await applyPull(folder, steps, {})
  expect(refused).toEqual([
    { path: 'a/x', reason: 'has a file where a folder is needed' },
    { path: 'b', reason: 'is a folder' },
  ])
  expect(Object.keys(entries)).toEqual(['l'.repeat(247)])
})

test('a failed write names its file, and a folder that cannot be created does not hang', async () => {
  const nowhere = '/proc/stet/x.json'
  await expect(writeFileAtomically(nowhere, 'x')).rejects.toMatchObject({
    code: 'unexpected',
    message: `Cannot write ${nowhere}: no such file or directory`,
  })
  await expect(writeCredentials('/proc/stet/credentials.json', {})).rejects.toMatchObject({ code: 'unexpected' })
})

test('a named file is written through a link, a device is never replaced, and the mode stays', async () => {
  const folder = await temporaryFolder()
  const [device, file, link] = ['device', 'file', 'link'].map((name) => join(folder, name)) as [string, string, string]
  await symlink('/dev/null', device)
  await writeNamedFile(device, 'x')
  expect(await readlink(device)).toBe('/dev/null')
  expect(await readFormerText('/dev/null')).toBeUndefined()
  await writeFile(file, 'old', { mode: 0o600 })
  await symlink(file, link)
  await writeNamedFile(link, 'new')
  expect(await readlink(link)).toBe(file)
  expect(await readFormerText(file)).toBe('new')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})

test.each([
  ['reply', '.', ['reply']],
  ['prompts/support/reply.promptl', '.', ['support/reply', 'prompts/support/reply']],
  ['prompts/support', '.', ['prompts/support', 'support']],
  ['./prompts/support/', '.', ['support', './prompts/support']],
  ['.', '.', ['', '.']],
  ['.', 'prompts/support', ['support', '.']],
  ['reply', 'prompts/support', ['reply', 'support/reply']],
  ['reply.promptl', 'prompts/support', ['support/reply', 'reply']],
  [`prompts/${decomposed}.promptl`, '.', [composed, `prompts/${composed}`]],
  ['../elsewhere/a.promptl', '.', ['../elsewhere/a']],
])('%s in %s means %j', (name, cwd, expected) => {
  expect(promptPathsOf(name, '/project/prompts', join('/project', cwd))).toEqual(expected)
})

const remoteNew = (path: string): Compared =>
  comparedWith({ path, state: 'remote-new', remoteText: 'text', remoteHash: hashText('text') })

const lock: Lock = {
  baseUrl: 'http://127.0.0.1:8787/api/v3',
  projectId: 7,
  version: { uuid: '0b9c7b7e-4f1f-4a2b-9d1c-6a3f0d0e4c11', status: 'draft', name: 'tone' },
  prompts: { b: { hash: '2' }, a: { hash: '1', documentUuid: 'd', mine: '3', base: '4' } },
}

test('the lock is read back as written, sorted, and writing leaves no temporary file', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'stet.lock.json')
  await writeLockFile(file, lock)
  expect(await readLockFile(file)).toEqual(lock)
  expect(formatLock(lock).indexOf('"a"')).toBeLessThan(formatLock(lock).indexOf('"b"'))
  expect(await readdir(folder)).toEqual(['stet.lock.json'])
})

test('a failed write of the lock keeps the old one', async () => {
  const folder = await temporaryFolder()
  // A folder at the lock's path makes the final rename fail.
  const file = join(folder, 'stet.lock.json')
  await mkdir(join(file, 'full'), { recursive: true })
  await expect(writeLockFile(file, lock)).rejects.toThrow()
  expect(await readdir(folder)).toEqual(['stet.lock.json'])
})

test('merge markers in the lock are a conflict with a hint', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'stet.lock.json')
  await writeFile(file, `<<<<<<< HEAD\n${formatLock(lock)}=======\n>>>>>>> other\n`)
  await expect(readLockFile(file)).rejects.toMatchObject({ code: 'conflict', hint: expect.stringContaining('pull') })
})

test('logins are saved with mode 0600, and a wider mode is corrected with a warning', async () => {
  const file = join(await temporaryFolder(), 'stet', 'credentials.json')
  const credentials = { default: { baseUrl: 'http://x/api/v3', apiKey: 'stet_x', keyName: 'k' } }
  await writeCredentials(file, credentials)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect((await stat(join(file, '..'))).mode & 0o777).toBe(0o700)
  await chmod(file, 0o644)
  await chmod(join(file, '..'), 0o755)
  const warnings: string[] = []
  expect(await readCredentials(file, (text) => warnings.push(text))).toEqual(credentials)
  expect(warnings).toHaveLength(2)
  expect((await stat(join(file, '..'))).mode & 0o777).toBe(0o700)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readFile(file, 'utf8')).toContain('stet_x')
})
