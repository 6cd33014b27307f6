import { mkdir, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from './temporary-folder.ts'

const packageRoot = fileURLToPath(new URL('../..', import.meta.url))

/** Makes a copy of the server's package, of links, without the console. */
export async function packageWithoutConsole(): Promise<string> {
  const root = await temporaryFolder()
  const dist = join(root, 'dist')
  await mkdir(dist)
  await linkAll(packageRoot, root, 'dist')
  await linkAll(join(packageRoot, 'dist'), dist, 'console')
  return root
}

async function linkAll(source: string, target: string, except: string): Promise<void> {
  for (const name of await readdir(source)) if (name !== except) await symlink(join(source, name), join(target, name))
}
