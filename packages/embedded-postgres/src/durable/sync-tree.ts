import { open, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

export async function syncTree(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await syncTree(path)
    else if (entry.isFile()) await syncPath(path)
  }
  await syncPath(directory)
}

/** Makes a name durable after a rename, a link or a new file. */
export function syncParent(path: string): Promise<void> {
  return syncPath(dirname(path))
}

export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
