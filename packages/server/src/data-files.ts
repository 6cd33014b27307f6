import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config } from './config.ts'
import type { NewTenant } from './features/access/first-start.ts'
import { OperatorError } from './shared/app-error.ts'
import { makeFolder } from './shared/make-folder.ts'

const ownerOnly = 0o600
const keyBytes = 32

/** Returns 32 random bytes in base64, the form of `STET_ENCRYPTION_KEY`. */
export function generateEncryptionKey(): string {
  return randomBytes(keyBytes).toString('base64')
}

/** In embedded mode, creates the data folder if it is missing, for the owner only. @throws OperatorError */
export function makeDataFolder(config: Config): void {
  if (config.databaseUrl !== undefined) return
  if (statSync(config.dataDir, { throwIfNoEntry: false })?.isDirectory()) return
  makeFolder(config.dataDir)
  // The folder contains keys and may be inside a git checkout, so git must ignore the folder.
  writeFileSync(join(config.dataDir, '.gitignore'), '*\n', { mode: ownerOnly })
}

/**
 * Returns the configured keys, otherwise the key in `encryption.key`. Creates that file for an unused database.
 * @param isUsed returns true if the database has a workspace and may contain sealed secrets.
 * @throws OperatorError if the file is invalid, or if it is missing for a used database.
 */
export async function encryptionKeysOf(config: Config, isUsed: () => Promise<boolean>): Promise<readonly string[]> {
  if (config.encryptionKeys !== undefined) return config.encryptionKeys
  const file = join(config.dataDir, 'encryption.key')
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
  if (kept && Buffer.from(kept, 'base64').length === keyBytes) return [kept]
  if (kept || (await isUsed())) throw new OperatorError(lostKey(file, kept))
  const key = generateEncryptionKey()
  keepDurably(file, key)
  return [key]
}

/** A key file is written after the database of a first start, so there was a database if there is a key. */
export function hasKeyFile({ dataDir }: Config): boolean {
  return ['encryption.key', 'admin.key'].some((name) => existsSync(join(dataDir, name)))
}

function lostKey(file: string, kept: string | undefined): string {
  const state = kept === undefined ? 'is missing' : kept === '' ? 'is empty' : 'does not contain 32 bytes in base64'
  return `${file} ${state}, and only the key from the first start decrypts stored provider tokens. Restore that file, or set STET_ENCRYPTION_KEY. If the key is lost, write the output of "stet-server generate-key encryption" to the file, start, and store the tokens again`
}

/** Writes `admin.key` in embedded mode. Returns the message for the operator, which includes a generated key. */
export function keepAdminKey(config: Config, tenant: NewTenant): string {
  const what = `workspace ${tenant.workspaceName}, project 1 default`
  const where = config.databaseUrl === undefined ? join(config.dataDir, 'admin.key') : undefined
  if (where !== undefined) keepDurably(where, tenant.key)
  if (!tenant.isGenerated)
    return `created ${what} with the admin key of STET_ADMIN_KEY${where ? `, also in ${where}` : ''}`
  return `created ${what}\nadmin API key: ${tenant.key} (shown once${where ? `; also in ${where}` : ''})`
}

/** Writes the file atomically and syncs it to disk. Otherwise a power cut could lose a key that is already in use. */
function keepDurably(file: string, key: string): void {
  const temporary = `${file}.new`
  rmSync(temporary, { force: true })
  writeFileSync(temporary, `${key}\n`, { mode: ownerOnly, flag: 'wx', flush: true })
  renameSync(temporary, file)
  // Windows cannot open a folder to sync it.
  if (process.platform === 'win32') return
  const folder = openSync(dirname(file), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
