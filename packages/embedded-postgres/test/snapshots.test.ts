import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { snapshotIfDue, snapshotLooks } from '../src/backup/snapshots.ts'
import { silent } from './support/database.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

describe('snapshot schedule', () => {
  let folder: string
  afterEach(() => rm(folder, { recursive: true }))
  const backup = (target: string) => writeFile(target, '')

  beforeEach(async () => {
    folder = await temporaryFolder()
  })

  it('doubles the wait after each failure, up to an hour, and resets it after a success', async () => {
    const failing = new Error('no room')
    let attempts: number[] = []
    let isBroken = true
    const look = snapshotLooks({
      directory: folder,
      everyHours: 1,
      keep: 1,
      owner: 'test',
      log: silent,
      async backup(target) {
        attempts.push(minute)
        if (isBroken) throw failing
        await backup(target)
      },
    })
    let minute = 0
    const lookUntil = async (end: number) => {
      for (; minute < end; minute++) await look(new Date(Date.UTC(2030, 0, 1, 0, minute)))
    }
    await lookUntil(200)
    expect(attempts).toEqual([0, 2, 6, 14, 30, 62, 122, 182])
    isBroken = false
    await lookUntil(250)
    isBroken = true
    attempts = []
    await lookUntil(310)
    expect(attempts).toEqual([302, 304, 308])
  })

  it('writes and keeps snapshots after the clock has jumped back', async () => {
    const at = (hour: number) =>
      snapshotIfDue({
        directory: folder,
        backup,
        everyHours: 2,
        keep: 2,
        owner: 'test',
        now: new Date(Date.UTC(2030, 0, 1, hour)),
        log: silent,
      })
    const future = ['test-20400101-000000.tar.gz', 'test-20400102-000000.tar.gz']
    for (const name of future) await writeFile(join(folder, name), '')
    const written = [await at(0), await at(1)]
    expect(written).toEqual(['test-20300101-000000.tar.gz', undefined])
    expect((await readdir(folder)).sort()).toEqual([written[0], future[1]])
    await at(2)
    expect((await readdir(folder)).sort()).toEqual(['test-20300101-000000.tar.gz', 'test-20300101-020000.tar.gz'])
  })
})
