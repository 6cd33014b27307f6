import { copyFile, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { encryptionKeysOf, keepAdminKey } from '../../src/data-files.ts'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import { ext4Of, isSkippedWithoutLoop, loopOf } from '../support/private-mount.ts'
import { processTestMs, runServer, settingsFor, startServer } from '../support/server-process.ts'
import { testDatabase } from '../support/test-database.ts'

const files = ['encryption.key', 'admin.key']
const read = (folder: string) => Promise.all(files.map((file) => readFile(join(folder, file), 'utf8').catch(String)))
const skips = isSkippedWithoutLoop('the key files after a power cut')

it.skipIf(skips)('loses no key in a power cut right after it was made', async () => {
  const disk = ext4Of(16)
  const cut = `${disk.image}.cut`
  const config = readConfig({ STET_DATA_DIR: disk.path })
  const [key] = await encryptionKeysOf(config, async () => false)
  const admin = { workspaceId: 1, workspaceName: 'default', apiKeyId: 1, key: generateApiKey(), isGenerated: true }
  keepAdminKey(config, admin)
  // Copies only what the file system has written to its disk so far.
  await copyFile(disk.image, cut)
  const after = loopOf(cut)
  try {
    expect(await read(after.path)).toEqual([`${key}\n`, `${admin.key}\n`])
  } finally {
    after.close()
    disk.close()
  }
})

it(
  'refuses a used database whose encryption key is missing, empty or invalid, and overwrites no key',
  async () => {
    const storage = await testDatabase('')
    onTestFinished(() => storage.close())
    const settings = settingsFor(storage)
    const server = await startServer(settings)
    server.child.kill('SIGTERM')
    await server.ended
    const file = join(storage.dataDir, 'encryption.key')
    const key = await readFile(file, 'utf8')
    const config = readConfig(settings)
    await truncate(file)
    await expect(encryptionKeysOf(config, async () => true)).rejects.toThrow('encryption.key is empty, and only')
    await writeFile(file, 'c2hvcnQ=\n')
    const invalid = 'encryption.key does not contain 32 bytes in base64, and only'
    await expect(encryptionKeysOf(config, async () => false)).rejects.toThrow(invalid)
    await rm(file)
    const { code, stderr } = await runServer(settings)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^stet-server: \S+ is missing, and only the key from the first start .*\n$/),
    })
    await writeFile(file, key)
    expect(await encryptionKeysOf(config, async () => true)).toEqual([key.trim()])
  },
  processTestMs,
)
