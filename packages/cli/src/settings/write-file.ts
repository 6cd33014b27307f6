import { randomUUID } from 'node:crypto'
import { lstat, mkdir, open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { CliError } from '../exit-code.ts'
import { isJsonObject, isMissing } from './json-file.ts'

/**
 * Writes a temporary file and renames it, so that a reader never sees partial text. Replaces a symbolic link instead of
 * following it: the link may belong to a checkout. Keeps an existing file's mode unless `mode` is given.
 */
export async function writeFileAtomically(file: string, text: string | Uint8Array, mode?: number): Promise<void> {
  try {
    await makeFolder(dirname(file))
    const wanted = mode ?? (await modeOf(file))
    // A random name, because the file's own name may already have the maximum length.
    const temporary = join(dirname(file), `.stet-${randomUUID().slice(0, 8)}.tmp`)
    try {
      const handle = await open(temporary, 'wx', wanted ?? 0o644)
      try {
        if (wanted !== undefined) await handle.chmod(wanted)
        await handle.writeFile(text)
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(temporary, file)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  } catch (error) {
    throw unwritable(file, error)
  }
}

/** Writes a file named on the command line. Follows links, and writes to devices and pipes without replacing them. */
export async function writeNamedFile(file: string, text: string): Promise<void> {
  const former = await stat(file).catch(() => undefined)
  if (former?.isFile()) return writeFileAtomically(await realpath(file), text)
  if (!former || former.isDirectory()) return writeFileAtomically(file, text)
  await writeFile(file, text).catch((error: unknown) => {
    throw unwritable(file, error)
  })
}

/** Returns undefined for missing files, devices and pipes. Reading a device or a pipe may never end. */
export async function readFormerText(file: string): Promise<string | undefined> {
  try {
    const former = await stat(file)
    return former.isFile() || former.isDirectory() ? await readFile(file, 'utf8') : undefined
  } catch (error) {
    if (isMissing(error)) return undefined
    throw unwritable(file, error)
  }
}

/**
 * Also creates the parents. Node's recursive mkdir loops forever below folders such as /proc, which cannot have
 * children.
 */
export async function makeFolder(folder: string, mode?: number): Promise<void> {
  const code = await tryFolder(folder, mode)
  if (code === 'ENOENT' && dirname(folder) !== folder) {
    await makeFolder(dirname(folder), mode)
    await mkdir(folder, { mode }).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error
    })
  }
}

/** @returns ENOENT if a parent is missing. Returns undefined if the folder was created or already exists. */
async function tryFolder(folder: string, mode: number | undefined): Promise<string | undefined> {
  try {
    await mkdir(folder, { mode })
    return undefined
  } catch (error) {
    const code = codeOf(error)
    // mkdir may fail although the folder exists, for example below a parent that is not writable. The write itself
    // reports any problem.
    const isThere = code !== 'ENOENT' && (await stat(folder).catch(() => undefined))?.isDirectory()
    if (!isThere && code !== 'ENOENT') throw error
    return isThere ? undefined : code
  }
}

const nameCodes: Readonly<Record<string, string>> = {
  EEXIST: 'has a file where a folder is needed',
  EISDIR: 'is a folder',
  ELOOP: 'is a link to itself',
  ENAMETOOLONG: 'is too long for a file name',
  ENOTDIR: 'has a file where a folder is needed',
  ENOTEMPTY: 'is a folder',
}

/** After a failed write, explains why the name is invalid. Returns undefined if the name is not the cause. */
export function problemOfName(error: unknown): string | undefined {
  return nameCodes[codeOf(error instanceof CliError ? error.cause : error) ?? '']
}

function unwritable(file: string, error: unknown): CliError {
  const text = error instanceof Error ? error.message : String(error)
  // Keeps only the reason: "ENOSPC: no space left on device, write" names a system call and perhaps the temporary file.
  const [, reason = text] = /^E[A-Z0-9]+: ([^,]+)/.exec(text) ?? []
  return new CliError('unexpected', `Cannot write ${file}: ${reason}`, { cause: error })
}

async function modeOf(file: string): Promise<number | undefined> {
  const former = await stat(file).catch(() => undefined)
  return former?.isFile() ? former.mode & 0o777 : undefined
}

function codeOf(error: unknown): string | undefined {
  return isJsonObject(error) && typeof error['code'] === 'string' ? error['code'] : undefined
}

/**
 * Returns whether `file` is inside `folder`, after resolving links. For a missing file, its nearest existing parent
 * decides. A `.git` folder does not count as inside, because git runs programs that its files name.
 */
export async function isWithin(folder: string, file: string): Promise<boolean> {
  const root = await realpathOfNearest(folder)
  const target = await realpathOfNearest(file)
  if (root === undefined || target === undefined) return false
  const way = relative(root, target)
  if (way.split(sep).some(isGitFolder)) return false
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
}

/** Some file systems ignore case. */
export function isGitFolder(name: string): boolean {
  return name.toLowerCase() === '.git'
}

// For a missing file, resolves its nearest existing parent. Returns undefined for a dangling link and for a cycle of
// links.
async function realpathOfNearest(file: string): Promise<string | undefined> {
  try {
    return await realpath(file)
  } catch (error) {
    if (isJsonObject(error) && error['code'] === 'ELOOP') return undefined
    if (!isMissing(error)) throw error
    const isDeadLink = await lstat(file).then(
      () => true,
      () => false,
    )
    if (isDeadLink || dirname(file) === file) return undefined
    const parent = await realpathOfNearest(dirname(file))
    return parent && join(parent, file.slice(dirname(file).length + (dirname(file).endsWith(sep) ? 0 : 1)))
  }
}
