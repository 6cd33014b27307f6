import { constants } from 'node:fs'
import { copyFile, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { tally } from '../../../../scripts/tally.ts'

/** Copies a database directory several times faster than Node's `cp`. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 })
  const entries = await readdir(from, { withFileTypes: true })
  if (entries.some(({ name }) => name === 'pg_wal')) tally('database')
  await Promise.all(
    entries.map((entry) =>
      entry.isDirectory()
        ? copyDatabase(join(from, entry.name), join(to, entry.name))
        : copyFile(join(from, entry.name), join(to, entry.name), constants.COPYFILE_FICLONE),
    ),
  )
}
