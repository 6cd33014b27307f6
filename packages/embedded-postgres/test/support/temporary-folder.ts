import { mkdtemp, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const ENOUGH_BYTES = 1024 ** 3

/** In memory if Linux has a gigabyte free there, because a disk takes a second for a database's thousand files. */
export async function temporaryRoot(): Promise<string> {
  const space = await statfs(MEMORY).catch(() => undefined)
  return space !== undefined && space.bavail * space.bsize > ENOUGH_BYTES ? MEMORY : tmpdir()
}

export async function temporaryFolder(): Promise<string> {
  return mkdtemp(join(await temporaryRoot(), 'embedded-postgres-test-'))
}
