import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { closedFiles } from '../src/backup/database-files.ts'
import { writeArchive } from '../src/backup/write-archive.ts'
import { prepareDirectory } from '../src/directory/first-start.ts'
import { openPglite } from '../src/open-pglite.ts'
import { programEnd, startProgram } from './support/child-program.ts'
import { folderOf, itemTemplate } from './support/database.ts'
import { seed, seededRandom } from './support/random.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

async function itemsIn(directory: string): Promise<number | undefined> {
  const pglite = await openPglite(folderOf(directory))
  const { rows } = await pglite.query<{ count: number }>('SELECT count(*)::int AS count FROM item')
  await pglite.close()
  return rows[0]?.count
}

describe('first start', () => {
  it('promise 1: a killed first start leaves no partial database', async () => {
    const random = seededRandom(seed)
    const dataDir = await temporaryFolder()
    const template = join(dataDir, 'template.tar.gz')
    await writeArchive(closedFiles(folderOf(await itemTemplate())), template)
    let killedEarly = 0
    const kills = process.env['STET_TEST_LONG'] === '1' ? 50 : 3
    // A fast machine may need more rounds until a kill interrupts a start.
    for (let round = 0; round < kills || killedEarly === 0; round++) {
      await rm(join(dataDir, 'db'), { recursive: true, force: true })
      const starter = startProgram(
        new URL('support/first-start-child.ts', import.meta.url),
        join(dataDir, 'db'),
        template,
        String(random() * 250),
      )
      const end = await programEnd(starter)
      if (end.signal === 'SIGKILL') killedEarly += 1
      else expect(end.code, end.stderr).toBe(0)
      await prepareDirectory(folderOf(join(dataDir, 'db')), { template })
      expect(await itemsIn(join(dataDir, 'db')), `seed ${seed}, round ${round}`).toBe(0)
      expect((await readdir(join(dataDir, 'db'))).filter((name) => name.startsWith('test-'))).toEqual([
        'test-log-position',
      ])
    }
    await rm(dataDir, { recursive: true })
  }, 600_000)

  it('creates a database without a prebuilt template', async () => {
    const dataDir = await temporaryFolder()
    await prepareDirectory(folderOf(join(dataDir, 'db')), { template: join(dataDir, 'no-template') })
    await (await openPglite(folderOf(join(dataDir, 'db')))).close()
    await rm(dataDir, { recursive: true })
  })

  it('refuses a directory that contains other files', async () => {
    await expect(prepareDirectory(folderOf(import.meta.dirname), { template: 'none' })).rejects.toThrow(
      'is not empty and holds no database',
    )
  })
})
