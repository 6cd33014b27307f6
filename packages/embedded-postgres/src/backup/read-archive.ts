import { mkdir } from 'node:fs/promises'
import { extract } from 'tar/extract'
import { list } from 'tar/list'
import type { ReadEntry } from 'tar/read-entry'
import { EmbeddedPostgresError } from '../failure.ts'

const ACCEPTED = new Set(['File', 'Directory'])

/**
 * Unpacks an archive. Rejects truncated, damaged and hostile archives before writing anything.
 * @throws EmbeddedPostgresError
 */
export async function readArchive(file: string, directory: string): Promise<void> {
  await verifyArchive(file)
  await mkdir(directory, { mode: 0o700 })
  await extract({ file, cwd: directory, strict: true, preserveOwner: false })
}

async function verifyArchive(file: string): Promise<void> {
  let refused: string | undefined
  const onReadEntry = ({ path, type }: ReadEntry) => {
    if (!ACCEPTED.has(type)) refused ??= `${path} is a ${type}`
    else if (/^(?:[/\\]|[a-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)/i.test(path)) refused ??= `${path} is outside of it`
  }
  await list({ file, strict: true, onReadEntry }).catch((error: NodeJS.ErrnoException) => {
    if (error.syscall !== undefined) throw error
    throw new EmbeddedPostgresError(`${file} is truncated, damaged or not a backup (${error.message})`)
  })
  if (refused !== undefined) throw new EmbeddedPostgresError(`${file} is not a backup (${refused})`)
}
