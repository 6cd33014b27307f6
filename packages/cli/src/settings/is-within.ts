import { lstat, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { isJsonObject, isMissing } from './json-file.ts'

/** Whether a file, or the nearest folder of it that exists, really lies within the folder, links followed. */
export async function isWithin(folder: string, file: string): Promise<boolean> {
  const root = await realpathOfNearest(folder)
  const target = await realpathOfNearest(file)
  if (root === undefined || target === undefined) return false
  const way = relative(root, target)
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
}

// What does not exist yet cannot be a link: its nearest parent decides. A link to nowhere counts as outside.
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
