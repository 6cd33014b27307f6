import { createHash } from 'node:crypto'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { temporaryFolder } from './temporary-folder.ts'

const packageRoot = fileURLToPath(new URL('../..', import.meta.url))

/** Makes a copy of the server's package, of links, with these console files instead of the built ones. */
export async function packageWithConsole(files?: Readonly<Record<string, Buffer>>): Promise<string> {
  const root = await temporaryFolder()
  const dist = join(root, 'dist')
  await mkdir(dist)
  await linkAll(packageRoot, root, 'dist')
  await linkAll(join(packageRoot, 'dist'), dist, 'console')
  if (files) await writeConsole(join(dist, 'console'), files)
  return root
}

async function linkAll(source: string, target: string, except: string): Promise<void> {
  for (const name of await readdir(source)) if (name !== except) await symlink(join(source, name), join(target, name))
}

async function writeConsole(folder: string, contents: Readonly<Record<string, Buffer>>): Promise<void> {
  await mkdir(join(folder, 'assets'), { recursive: true })
  const files = []
  for (const [path, body] of Object.entries(contents)) {
    const isScript = path.endsWith('.js')
    const [br, gz] = isScript ? [brotliCompressSync(body), gzipSync(body)] : []
    await writeFile(join(folder, path), body)
    if (br) await writeFile(join(folder, `${path}.br`), br)
    if (gz) await writeFile(join(folder, `${path}.gz`), gz)
    const sha256 = createHash('sha256').update(body).digest('hex')
    const type = isScript ? 'text/javascript; charset=utf-8' : 'font/woff2'
    files.push({ path, type, bytes: body.length, sha256, br: br?.length ?? null, gz: gz?.length ?? null })
  }
  await writeFile(join(folder, 'console.json'), JSON.stringify({ routes: ['/', '/p/*'], files }))
}
