/** The key files of the data folder (embedded mode): written once, readable by their owner alone. */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'
import type { NewTenant } from './features/access/first-start.ts'
import { makeFolder } from './shared/make-folder.ts'

const ownerOnly = 0o600

/** 32 random bytes in base64, the form of `STET_ENCRYPTION_KEY`. */
export function generateEncryptionKey(): string {
  return randomBytes(32).toString('base64')
}

/** Embedded: the data folder, readable by its owner alone. PostgreSQL needs none. @throws OperatorError */
export function makeDataFolder(config: Config): void {
  if (config.databaseUrl !== undefined) return
  if (statSync(config.dataDir, { throwIfNoEntry: false })?.isDirectory()) return
  makeFolder(config.dataDir)
  // The folder holds keys and often lies in a checkout: git must not offer to commit it.
  writeFileSync(join(config.dataDir, '.gitignore'), '*\n', { mode: ownerOnly })
}

/** The keys of the settings; embedded and not given: `encryption.key`, made at the first start. */
export function encryptionKeysOf(config: Config): readonly string[] {
  if (config.encryptionKeys !== undefined) return config.encryptionKeys
  const file = join(config.dataDir, 'encryption.key')
  if (!existsSync(file)) writeFileSync(file, `${generateEncryptionKey()}\n`, { mode: ownerOnly, flag: 'wx' })
  return [readFileSync(file, 'utf8').trim()]
}

/** Embedded: writes `admin.key`. Returns the line that tells the operator, with the key this one time if stet made it. */
export function keepAdminKey(config: Config, tenant: NewTenant): string {
  const what = `workspace ${tenant.workspaceName}, project 1 default`
  const where = config.databaseUrl === undefined ? join(config.dataDir, 'admin.key') : undefined
  if (where !== undefined) writeFileSync(where, `${tenant.key}\n`, { mode: ownerOnly })
  if (!tenant.isGenerated)
    return `created ${what} with the admin key of STET_ADMIN_KEY${where ? `, also in ${where}` : ''}`
  return `created ${what}\nadmin API key: ${tenant.key} (shown once${where ? `; also in ${where}` : ''})`
}
