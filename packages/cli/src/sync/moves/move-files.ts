import { randomUUID } from 'node:crypto'
import { rename, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from '../../settings/write-file.ts'

export interface FileMove {
  from: string
  to: string
}

/**
 * Renames files, also those that swap their names. A file at a new name must be one of those that move. Deletes the
 * folders below `root` that become empty.
 */
export async function moveFiles(root: string, moves: readonly FileMove[]): Promise<void> {
  const open = moves.map((move) => ({ ...move }))
  while (open.length > 0) {
    const index = open.findIndex(({ to }) => !open.some(({ from }) => from === to))
    const [move] = open.slice(Math.max(index, 0))
    if (!move) return
    if (index < 0) {
      // Only circles are left: one file makes room.
      const aside = join(dirname(move.from), `.stet-${randomUUID().slice(0, 8)}.tmp`)
      await rename(move.from, aside)
      move.from = aside
    } else {
      await makeFolder(dirname(move.to))
      await rename(move.from, move.to)
      open.splice(index, 1)
    }
  }
  for (const { from } of moves) await removeEmptyFolders(root, dirname(from))
}

async function removeEmptyFolders(root: string, folder: string): Promise<void> {
  for (let path = folder; path.startsWith(root) && path !== root; path = dirname(path)) {
    const isRemoved = await rmdir(path).then(
      () => true,
      () => false,
    )
    if (!isRemoved) return
  }
}
