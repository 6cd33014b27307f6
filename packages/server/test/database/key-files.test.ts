import { copyFile, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ext4Of, isSkippedWithoutLoop, loopOf } from '../support/private-mount.ts'
import { processTestMs, runServer, settingsFor, startServer } from '../support/server-process.ts'
import { type TestDatabase, testDatabase } from '../support/test-database.ts'

const files = ['encryption.key', 'admin.key']
const read = (folder: string) => Promise.all(files.map((file) => readFile(join(folder, file), 'utf8').catch(String)))
const skips = isSkippedWithoutLoop('the key files after a power cut')

it.skipIf(skips)(
  'loses no key in a power cut right after the first start',
  async () => {
    const disk = ext4Of(600)
    const cut = `${disk.image}.cut`
    const server = await startServer({ ...settingsFor({ dataDir: disk.path, close: () => Promise.resolve() }) })
    // Copies only what the file system has written to its disk so far.
    await copyFile(disk.image, cut)
    const kept = await read(disk.path)
    server.child.kill('SIGKILL')
    await server.ended
    const after = loopOf(cut)
    try {
      expect(await read(after.path)).toEqual(kept)
    } finally {
      after.close()
      disk.close()
    }
  },
  processTestMs,
)

describe('encryption key of a database in use', { timeout: processTestMs }, () => {
  let storage: TestDatabase

  beforeEach(async () => {
    storage = await testDatabase('')
  })
  afterEach(() => storage.close())

  it('is refused in one line if it is missing, empty or invalid, and is not overwritten', async () => {
    const settings = settingsFor(storage)
    const server = await startServer(settings)
    server.child.kill('SIGTERM')
    await server.ended
    const file = join(storage.dataDir, 'encryption.key')
    const key = await readFile(file, 'utf8')
    const refusal = async () => {
      const { code, stderr } = await runServer(settings)
      return { code, said: /^stet-server: \S+ (.*?), and only the key from the first start .*\n$/.exec(stderr)?.[1] }
    }
    await truncate(file)
    expect(await refusal()).toEqual({ code: 1, said: 'is empty' })
    await writeFile(file, 'c2hvcnQ=\n')
    expect(await refusal()).toEqual({ code: 1, said: 'does not contain 32 bytes in base64' })
    await rm(file)
    expect(await refusal()).toEqual({ code: 1, said: 'is missing' })
    await writeFile(file, key)
    const again = await startServer(settings)
    again.child.kill('SIGTERM')
    expect(await again.ended).toMatchObject({ code: 0 })
  })
})
