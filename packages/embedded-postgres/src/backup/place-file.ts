import { open, rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { syncParent } from '../durable/sync-tree.ts'

export function partOf(file: string): string {
  return `${file}.part`
}

/** Fills a temporary file, syncs it and renames it, so that `file` never exists incomplete. */
export async function placeFile<T>(file: string, fill: (temporary: string) => Promise<T>): Promise<T> {
  const temporary = partOf(file)
  try {
    const result = await fill(temporary)
    const handle = await open(temporary, 'r+')
    await handle.sync().finally(() => handle.close())
    await rename(temporary, file)
    await syncParent(resolve(file))
    return result
  } finally {
    await rm(temporary, { force: true })
  }
}
