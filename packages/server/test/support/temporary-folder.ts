import { mkdtemp, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Linux's in-memory folder. On a disk, the thousand files of a database take a second. */
const MEMORY = '/dev/shm'
const ENOUGH_BYTES = 1024 ** 3

/** The folder for temporary databases: in memory if a gigabyte is free there. */
export async function temporaryRoot(): Promise<string> {
  const space = await statfs(MEMORY).catch(() => undefined)
  return space !== undefined && space.bavail * space.bsize > ENOUGH_BYTES ? MEMORY : tmpdir()
}

export async function temporaryFolder(): Promise<string> {
  return mkdtemp(join(await temporaryRoot(), 'stet-test-'))
}
