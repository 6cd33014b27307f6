import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openFiles } from '../src/backup/database-files.ts'
import { prepareDirectory } from '../src/directory/first-start.ts'
import { requireWholeLog } from '../src/durable/log-position.ts'
import { isSegmentName } from '../src/durable/write-ahead-log.ts'
import { openEmbeddedPostgres } from '../src/open-embedded.ts'
import { openPglite } from '../src/open-pglite.ts'
import { copyDatabase } from './support/copy-database.ts'
import { folderOf, itemTemplate, silent, threadFile } from './support/database.ts'
import { seed, seededRandom } from './support/random.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const flips = process.env['STET_TEST_LONG'] === '1' ? 5_000 : 100
const rows = 200

const positionOf = (directory: string) =>
  Number.parseInt(readFileSync(join(directory, 'test-log-position'), 'utf8').slice(0, 16), 16)

async function numberOf(pglite: PGlite, position: string): Promise<number> {
  const { rows: found } = await pglite.query<{ at: number }>(`SELECT (${position} - '0/0')::float8 AS at`)
  return found[0]?.at ?? 0
}

describe('damage in the write-ahead log', () => {
  let folder: string
  /** The files of a killed process: `rows` acknowledged rows, in records of all sizes, after the last checkpoint. */
  let killed: string
  let redo: number
  let copy: string

  beforeAll(async () => {
    folder = await temporaryFolder()
    const source = join(folder, 'source')
    killed = join(folder, 'killed')
    await copyDatabase(await itemTemplate(), source)
    const pglite = await openPglite(folderOf(source))
    await pglite.exec('ALTER TABLE item ALTER COLUMN name SET STORAGE EXTERNAL; CHECKPOINT')
    // A backup makes PostgreSQL begin a new segment.
    for await (const { pieces } of openFiles(pglite, folderOf(source))) for (const _ of pieces ?? []);
    const random = seededRandom(seed)
    for (let row = 0; row < rows; row += 1) {
      const length = Math.floor(10 ** (1 + 4 * random()))
      await pglite.query('INSERT INTO item (name) VALUES ($1)', ['x'.repeat(length)])
      expect(positionOf(source), `seed ${seed}`).toBe(await numberOf(pglite, 'pg_current_wal_flush_lsn()'))
    }
    redo = await numberOf(pglite, '(SELECT redo_lsn FROM pg_control_checkpoint())')
    await copyDatabase(source, killed)
    await pglite.close()
    expect(() => requireWholeLog(folderOf(source))).not.toThrow()
  })
  afterAll(() => rm(folder, { recursive: true }))
  beforeEach(async () => {
    copy = join(folder, 'copy')
    await copyDatabase(killed, copy)
  })
  afterEach(() => rm(copy, { recursive: true, force: true }))

  const segmentOf = (position: number) => {
    const name = `00000001${'0'.repeat(8)}${Math.floor(position / 2 ** 20)
      .toString(16)
      .toUpperCase()
      .padStart(8, '0')}`
    return join(copy, 'pg_wal', name)
  }
  const damageAt = (position: number) => {
    const file = segmentOf(position)
    const bytes = readFileSync(file)
    bytes[position % 2 ** 20] = (bytes[position % 2 ** 20] ?? 0) ^ 0x10
    writeFileSync(file, bytes)
  }
  const open = (options: { acceptedLoss?: string; mustExist?: boolean } = {}) =>
    openEmbeddedPostgres({ folder: folderOf(copy), template: '', threadFile, log: silent, ...options })

  it('is refused before any file changes, until the operator accepts exactly this loss', async () => {
    const end = positionOf(copy)
    damageAt(Math.floor((redo + end) / 2))
    const files = () =>
      readdirSync(join(copy, 'pg_wal'))
        .filter(isSegmentName)
        .map((name) => readFileSync(join(copy, 'pg_wal', name), 'latin1'))
    const before = files()
    const error = await open().catch((refused: unknown) => refused)
    expect(error).toMatchObject({
      message: expect.stringMatching(
        /^The write-ahead log in \S+ is damaged at 0\/[0-9A-F]+, but writes up to 0\/[0-9A-F]+ were acknowledged$/,
      ),
      lostUpTo: `0/${end.toString(16).toUpperCase()}`,
    })
    await expect(open({ acceptedLoss: '0/1' })).rejects.toThrow('is damaged')
    expect(files()).toEqual(before)
    const { lostUpTo } = error as { lostUpTo: string }
    const { warn } = silent
    const warnings: unknown[] = []
    silent.warn = (event, fields) => warnings.push([event, fields])
    const database = await open({ acceptedLoss: lostUpTo })
    silent.warn = warn
    const after = expect.stringMatching(/^0\/[0-9A-F]+$/)
    expect(warnings).toEqual([['database.writes-lost', { after, upTo: lostUpTo }]])
    const left = await database.session.query('SELECT count(*)::int AS count FROM item')
    expect(left.rows[0]?.['count']).toBeLessThan(rows)
    await database.close()
    const again = await open()
    await again.close()
  })

  it('is noticed in every byte of every record, and only there', () => {
    const random = seededRandom(seed)
    const end = positionOf(copy)
    for (let flip = 0; flip < flips; flip += 1) {
      const position = redo + Math.floor(random() * (end - redo))
      damageAt(position)
      const wasRefused = refuses()
      damageAt(position)
      // Alignment and unused header fields are not checked by PostgreSQL either, and recovery does not end there.
      if (!wasRefused) expect(isUnused(position), `seed ${seed}, byte ${position}`).toBe(true)
    }
    expect(refuses()).toBe(false)
    damageAt(end + 8)
    expect(refuses()).toBe(false)
  }, 600_000)

  it('is a missing segment', async () => {
    await rm(segmentOf(positionOf(copy)))
    await expect(open()).rejects.toThrow('is damaged at')
  })

  it('is left to PostgreSQL if the control file is damaged', async () => {
    const file = join(copy, 'global', 'pg_control')
    const control = await readFile(file)
    control[44] = (control[44] ?? 0) ^ 1
    await writeFile(file, control)
    await expect(open()).rejects.toThrow(/does not open: .*checksum/)
  })

  it('is a damaged position', async () => {
    const file = join(copy, 'test-log-position')
    const line = await readFile(file, 'utf8')
    await writeFile(file, `${line.startsWith('f') ? '0' : 'f'}${line.slice(1)}`)
    await expect(open()).rejects.toThrow('test-log-position is damaged')
  })

  it('is an emptied folder that had a database', async () => {
    await rm(copy, { recursive: true })
    await expect(open({ mustExist: true })).rejects.toThrow(`There is no database in ${copy}, but there was one`)
    await expect(prepareDirectory(folderOf(copy), { template: '', mustExist: true })).rejects.toThrow()
  })

  function refuses(): boolean {
    try {
      requireWholeLog(folderOf(copy))
      return false
    } catch {
      return true
    }
  }

  /** True for bytes between records, and for fields of a page's header that this check does not use. */
  function isUnused(position: number): boolean {
    const offset = position % 8_192
    const page = readFileSync(segmentOf(position)).subarray((position - offset) % 2 ** 20)
    // The switch to a new segment leaves its rest empty: pages have not even a header.
    if (page.subarray(0, 8_192).every((byte) => byte === 0)) return true
    const header = page.readUInt16LE(2) & 2 ? 40 : 24
    // No record begins in the last page if the log ends with its header.
    const isEmpty = position - offset + header >= positionOf(copy)
    if (offset < header) return isEmpty || offset < 8 || offset >= 16
    // Records are padded with zeros to 8 bytes.
    return page[offset] === 0
  }
})
