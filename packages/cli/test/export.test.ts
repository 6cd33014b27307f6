import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loggedIn } from './support/shared-server.ts'
import type { Person } from './support/stet.ts'

const texts = { 'support/reply': 'Answer {{ ticket }}.\n', 'support/tone': 'Be kind.\n', other: 'Other.\n' }

async function personWithPrompts(name: string): Promise<Person> {
  const person = await loggedIn()
  await mkdir(join(person.folder, 'prompts/support'), { recursive: true })
  for (const [path, text] of Object.entries(texts))
    await writeFile(join(person.folder, `prompts/${path}.promptl`), text)
  expect(await person.stet(['init', '--create', name])).toMatchObject({ code: 0 })
  expect(await person.stet(['push', '--publish', '--yes'])).toMatchObject({ code: 0 })
  return person
}

test('exports all or some prompts to a folder or a file, which can be imported again', async () => {
  const person = await personWithPrompts('exported')
  expect(await person.stet(['export', '--out', 'backup'])).toMatchObject({
    code: 0,
    stdout: 'backup/other.promptl\nbackup/support/reply.promptl\nbackup/support/tone.promptl\n',
  })
  for (const [path, text] of Object.entries(texts)) {
    expect(await readFile(join(person.folder, `backup/${path}.promptl`), 'utf8')).toBe(text)
  }
  expect(await person.stet(['export', '--out', 'all.json', '--json'])).toMatchObject({ code: 0 })
  expect(JSON.parse(await readFile(join(person.folder, 'all.json'), 'utf8'))).toEqual(texts)
  expect(await person.stet(['export', 'support', '--local', '--out', 'part.json'])).toMatchObject({ code: 0 })
  const part = JSON.parse(await readFile(join(person.folder, 'part.json'), 'utf8'))
  expect(Object.keys(part)).toEqual(['support/reply', 'support/tone'])
  const back = await person.stet(['import', 'latitude', 'backup', '--strict', '--dir', 'again'])
  expect(back).toMatchObject({ code: 0 })
  expect(await readFile(join(person.folder, 'again/support/reply.promptl'), 'utf8')).toBe(texts['support/reply'])
})

test('export overwrites different files only with --force', async () => {
  const person = await personWithPrompts('kept')
  await mkdir(join(person.folder, 'backup'))
  await writeFile(join(person.folder, 'backup/other.promptl'), 'mine\n')
  const refused = await person.stet(['export', '--out', 'backup'])
  expect(refused).toMatchObject({ code: 6, stdout: '', stderr: expect.stringContaining('backup/other.promptl') })
  await expect(readFile(join(person.folder, 'backup/support/reply.promptl'))).rejects.toThrow()
  expect(await person.stet(['export', '--out', 'backup', '--force'])).toMatchObject({ code: 0 })
  expect(await readFile(join(person.folder, 'backup/other.promptl'), 'utf8')).toBe(texts.other)
  expect(await person.stet(['export', 'nowhere', '--out', 'x'])).toMatchObject({ code: 5 })
})
