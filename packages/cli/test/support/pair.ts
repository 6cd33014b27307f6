import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { loggedIn } from './shared-server.ts'
import type { Person } from './stet.ts'

export const fileOf = (person: Person, path: string): string => join(person.folder, 'prompts', `${path}.promptl`)
export const read = (person: Person, path: string): Promise<string> => readFile(fileOf(person, path), 'utf8')

export async function write(person: Person, path: string, text: string): Promise<void> {
  await mkdir(dirname(fileOf(person, path)), { recursive: true })
  await writeFile(fileOf(person, path), text)
}

export async function succeed(person: Person, ...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await person.stet(argv)
  if (code !== 0) throw new Error(`${argv.join(' ')}: ${code} ${stderr}`)
  return stdout
}

const twoPrompts = { a: 'first a\n', b: 'first b\n' }

export async function pairOf(name: string, prompts: Record<string, string> = twoPrompts): Promise<[Person, Person]> {
  const ana = await loggedIn()
  for (const [path, text] of Object.entries(prompts)) await write(ana, path, text)
  const created = JSON.parse(await succeed(ana, 'init', '--create', name, '--json'))
  await succeed(ana, 'push', '--publish', '--yes')
  const ben = await loggedIn()
  await succeed(ben, 'init', '--project', String(created.project.id))
  return [ana, ben]
}
