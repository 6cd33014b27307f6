import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { step } from '@stet/template'
import { expect } from 'vitest'
import { parse } from 'yaml'
import { Person } from './stet.ts'
import { temporaryFolder } from './temporary-folder.ts'

export const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))
interface Imported {
  files: { path: string; file: string; action: string }[]
  losses: { path: string; source: string | null; message: string }[]
}

/** Has no server, and files to import. */
export async function personWith(files: Record<string, string | Uint8Array> = {}): Promise<Person> {
  const person = new Person(await temporaryFolder(), { address: 'http://127.0.0.1:1' })
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(person.folder, name)), { recursive: true })
    await writeFile(join(person.folder, name), text)
  }
  return person
}

/** Imports a source, or the folder or file `in` of these files. */
export async function importFrom(kind: string, given: string | Record<string, string>, stdin = '', ...flags: string[]) {
  const person = await personWith(typeof given === 'string' ? {} : given)
  const source = typeof given === 'string' ? given : (Object.keys(given)[0] ?? '').replace(/\/.*/, '')
  const ended = await person.stet(['import', kind, source, ...flags, '--json'], stdin)
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  const data: Imported = JSON.parse(ended.stdout)
  const read = (path: string) => readFile(join(person.folder, 'prompts', `${path}.promptl`), 'utf8')
  const losses = (path: string) => data.losses.filter((loss) => loss.path === path).map(({ message }) => message)
  return { person, data, read, losses, paths: data.files.map(({ path }) => path) }
}

/** Renders the first step of an imported prompt. */
export async function renderParts(
  content: string,
  parameters: Record<string, unknown>,
  documents: Record<string, string> = {},
) {
  const source = { path: 'support/imported', content, documents }
  return (await step(source, { parameters, now: '2026-01-01T00:00:00.000Z' })).added
}

/** Parts become their text, or JSON. */
export async function render(...given: Parameters<typeof renderParts>) {
  return (await renderParts(...given)).map(({ role, content }) => ({
    role,
    text: content.map((part) => (typeof part['text'] === 'string' ? part['text'] : JSON.stringify(part))).join(' '),
  }))
}

export function inSupport(documents: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(documents).map(([path, text]) => [`support/${path}`, text]))
}

export function frontOf(text: string): Record<string, unknown> {
  return parse(text.split('---')[1] ?? '')
}
