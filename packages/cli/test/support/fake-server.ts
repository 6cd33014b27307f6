import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Person } from './stet.ts'

/** Installs a server package that only runs this CommonJS program. */
export async function installServer(person: Person, program: string): Promise<void> {
  const folder = join(person.folder, 'node_modules', '@stet', 'server')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), JSON.stringify({ bin: { 'stet-server': 'server.cjs' } }))
  await writeFile(join(folder, 'server.cjs'), program)
}
