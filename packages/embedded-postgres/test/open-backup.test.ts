import { execFileSync } from 'node:child_process'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { PGlite } from '@electric-sql/pglite'
import { create } from 'tar/create'
import { Header } from 'tar/header'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { backUp } from '../src/backup/backup.ts'
import { openFiles } from '../src/backup/database-files.ts'
import { readArchive } from '../src/backup/read-archive.ts'
import { writeArchive } from '../src/backup/write-archive.ts'
import { openPglite } from '../src/open-pglite.ts'
import { copyDatabase } from './support/copy-database.ts'
import { folderOf, itemTemplate } from './support/database.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const ACCOUNTS = 2_000
const SUM = ACCOUNTS * 100

describe('backup of an open database', () => {
  let folder: string
  let directory: string
  let file: string
  let copy: string
  let pglite: PGlite
  let transfers = 0

  const transfer = async () => {
    const [from, to] = [(transfers * 7919) % ACCOUNTS, (transfers * 104_729 + 1) % ACCOUNTS]
    await pglite.transaction(async (transaction) => {
      await transaction.query('UPDATE account SET balance = balance - 1, note = note || $2 WHERE id = $1', [from, 'x'])
      await transaction.query('UPDATE account SET balance = balance + 1 WHERE id = $1', [to])
      await transaction.query('INSERT INTO ledger VALUES ($1, $2, $3)', [transfers, from, to])
    })
    transfers += 1
  }
  /** Opens the unpacked backup and returns its number of transfers. Fails if one is incomplete. */
  const transfersIn = async (unpacked: string) => {
    const opened = await openPglite(folderOf(unpacked))
    try {
      const { rows } = await opened.query<{ sum: number; count: number; last: number; wrong: number }>(`
        SELECT (SELECT sum(balance)::int FROM account) AS sum, (SELECT count(*)::int FROM ledger) AS count,
          (SELECT coalesce(max(id) + 1, 0)::int FROM ledger) AS last, (SELECT count(*)::int FROM account
            WHERE balance <> 100 - (SELECT count(*) FROM ledger WHERE sender = account.id)
              + (SELECT count(*) FROM ledger WHERE receiver = account.id)) AS wrong`)
      const [row] = rows
      expect(row).toEqual({ sum: SUM, count: row?.last, last: row?.last, wrong: 0 })
      await opened.query(`INSERT INTO ledger VALUES (-1, 0, 0)`)
      return row?.count ?? 0
    } finally {
      await opened.close()
    }
  }

  // The tests share the database. `transfers` counts on.
  beforeAll(async () => {
    folder = await temporaryFolder()
    ;[directory, file, copy] = [join(folder, 'db'), join(folder, 'copy.tar.gz'), join(folder, 'copy')]
    await copyDatabase(await itemTemplate(), directory)
    pglite = await openPglite(folderOf(directory))
    await pglite.exec(`
      CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL, note text NOT NULL DEFAULT '');
      CREATE TABLE ledger (id int PRIMARY KEY, sender int NOT NULL, receiver int NOT NULL);
      INSERT INTO account SELECT id, 100 FROM generate_series(0, ${ACCOUNTS - 1}) AS id;`)
  })
  afterEach(() => rm(copy, { recursive: true, force: true }))
  afterAll(async () => {
    await pglite.close()
    await rm(folder, { recursive: true })
  })

  it('is consistent and contains every commit made while its files were read', async () => {
    let files = 0
    async function* filesUnderLoad() {
      for await (const entry of openFiles(pglite, folderOf(directory))) {
        // Each statement runs between two files.
        const isData = !entry.path.startsWith('pg_wal/') && entry.path !== 'backup_label'
        if (isData && files % 5 === 0) await transfer()
        if (files === 500) await pglite.exec('VACUUM FULL account')
        files += 1
        yield entry
      }
    }
    await writeArchive(filesUnderLoad(), file)
    expect(transfers).toBeGreaterThan(100)
    const during = transfers
    await transfer()
    await readArchive(file, copy)
    expect(await transfersIn(copy)).toBe(during)
  })

  it('does not block statements, and contains every commit made before it began', async () => {
    await transfer()
    const before = transfers
    let isWritten = false
    const writing = backUp(pglite, folderOf(directory), file).finally(() => {
      isWritten = true
    })
    while (!isWritten) {
      await transfer()
      await setImmediate()
    }
    await writing
    expect(transfers).toBeGreaterThan(before)
    await readArchive(file, copy)
    const restored = await transfersIn(copy)
    expect(restored).toBeGreaterThanOrEqual(before)
    expect(restored).toBeLessThanOrEqual(transfers)
  })

  it('fails if its disk fails; the next backup succeeds, and is a tar.gz that unpacks to a database', async () => {
    await expect(backUp(pglite, folderOf(directory), join(folder, 'absent', 'copy.tar.gz'))).rejects.toThrow('ENOENT')
    await backUp(pglite, folderOf(directory), file)
    await mkdir(copy, { mode: 0o700 })
    execFileSync('tar', ['xzf', file, '-C', copy])
    expect(await transfersIn(copy)).toBe(transfers)
  })

  it('fails if a checkpoint has deleted the write-ahead log that it needs', async () => {
    const files = openFiles(pglite, folderOf(directory))
    await files.next()
    for (let round = 0; round < 3; round++) {
      await pglite.exec(`SELECT pg_switch_wal(); INSERT INTO ledger SELECT id, 0, 0 FROM
        generate_series(${(round + 1) * 1_000_000}, ${(round + 1) * 1_000_000 + 19_999}) AS id; CHECKPOINT`)
    }
    const readAll = async () => {
      while (!(await files.next()).done);
    }
    await expect(readAll()).rejects.toThrow('was deleted while the backup was made')
  })
})

describe('restoring a hostile archive', () => {
  let folder: string

  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(async () => {
    await rm(folder, { recursive: true })
  })

  const cases: { what: string; path: string; type?: 'SymbolicLink' | 'Link' }[] = [
    { what: 'an absolute path', path: '/tmp/hostile' },
    { what: 'a path out of the folder', path: 'base/../../outside' },
    { what: 'a symbolic link', path: 'base', type: 'SymbolicLink' },
    { what: 'a hard link', path: 'base', type: 'Link' },
  ]
  for (const { what, path, type = 'File' } of cases) {
    it(`refuses ${what}`, async () => {
      const header = new Header({
        path,
        type,
        mode: 0o600,
        size: 0,
        mtime: new Date(0),
        ...(type !== 'File' && { linkpath: '../outside' }),
      })
      header.encode()
      const file = join(folder, 'hostile.tar')
      await writeFile(file, Buffer.concat([header.block ?? Buffer.alloc(0), Buffer.alloc(1024)]))
      await expect(readArchive(file, join(folder, 'copy'))).rejects.toThrow(`not a backup (${path} is `)
      expect(await readdir(folder)).toEqual(['hostile.tar'])
    })
  }

  it('refuses a link written by tar itself', async () => {
    await mkdir(join(folder, 'in'))
    execFileSync('ln', ['-s', '/etc/passwd', join(folder, 'in', 'base')])
    await create({ file: join(folder, 'link.tar.gz'), gzip: true, cwd: join(folder, 'in') }, ['base'])
    await expect(readArchive(join(folder, 'link.tar.gz'), join(folder, 'copy'))).rejects.toThrow(
      'base is a SymbolicLink',
    )
  })
})
