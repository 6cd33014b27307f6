import { randomUUID } from 'node:crypto'
import { lstat, mkdir, open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { CliError } from '../exit-code.ts'
import { isJsonObject, isMissing } from './json-file.ts'

/**
 * Writes through a temporary file and a rename: a reader sees the old text or the new one, never a part. A link in its place is
 * replaced, not followed: it may have come with a checkout. `mode` is that of the former file when nothing else is wanted.
 */
export async function writeFileAtomically(file: string, text: string, mode?: number): Promise<void> {
  try {
    await makeFolder(dirname(file))
    const wanted = mode ?? (await modeOf(file))
    // Not made from the file's own name, which may be as long as a name can be.
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

/** Writes a file that somebody named on the command line: a link is followed, a device or a pipe written to and not replaced. */
export async function writeNamedFile(file: string, text: string): Promise<void> {
  const former = await stat(file).catch(() => undefined)
  if (former?.isFile()) return writeFileAtomically(await realpath(file), text)
  if (!former || former.isDirectory()) return writeFileAtomically(file, text)
  await writeFile(file, text).catch((error: unknown) => {
    throw unwritable(file, error)
  })
}

/** What a file holds that is about to be written; undefined without one, and for a device or a pipe, which might never end. */
export async function readFormerText(file: string): Promise<string | undefined> {
  try {
    const former = await stat(file)
    return former.isFile() || former.isDirectory() ? await readFile(file, 'utf8') : undefined
  } catch (error) {
    if (isMissing(error)) return undefined
    throw unwritable(file, error)
  }
}

/** Makes a folder and those above it. By hand: the recursive form of Node never ends below folders that take none, as /proc. */
export async function makeFolder(folder: string, mode?: number): Promise<void> {
  const code = await tryFolder(folder, mode)
  if (code === 'ENOENT' && dirname(folder) !== folder) {
    await makeFolder(dirname(folder), mode)
    await mkdir(folder, { mode }).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error
    })
  }
}

/** @returns ENOENT when a folder above is missing. What is there already need not be made. */
async function tryFolder(folder: string, mode: number | undefined): Promise<string | undefined> {
  try {
    await mkdir(folder, { mode })
    return undefined
  } catch (error) {
    const code = codeOf(error)
    // Where the parent cannot be written the folder may still be there: what is written into it says so.
    const isThere = code !== 'ENOENT' && (await stat(folder).catch(() => undefined))?.isDirectory()
    if (!isThere && code !== 'ENOENT') throw error
    return isThere ? undefined : code
  }
}

const nameCodes: Readonly<Record<string, string>> = {
  EEXIST: 'lies below a file of that name',
  EISDIR: 'has the name of a folder here',
  ELOOP: 'is a link that leads to itself',
  ENAMETOOLONG: 'is too long for a file name',
  ENOTDIR: 'lies below a file of that name',
  ENOTEMPTY: 'has the name of a folder here',
}

/** Why a file cannot be written under its name, for a failed write; undefined where the name is not to blame. */
export function problemOfName(error: unknown): string | undefined {
  return nameCodes[codeOf(error instanceof CliError ? error.cause : error) ?? '']
}

function unwritable(file: string, error: unknown): CliError {
  const text = error instanceof Error ? error.message : String(error)
  // "ENOSPC: no space left on device, write": the call says nothing, and its file may be the temporary one.
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

/** Whether a file, or its nearest existing parent, is inside the folder after resolving links. */
export async function isWithin(folder: string, file: string): Promise<boolean> {
  const root = await realpathOfNearest(folder)
  const target = await realpathOfNearest(file)
  if (root === undefined || target === undefined) return false
  const way = relative(root, target)
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
}

// A missing file cannot be a link, so its nearest existing parent decides. A dangling link counts as outside.
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
