/**
 * Commands of `stet-server` besides `start`. While a server runs, only `backup` works on its embedded database, because
 * the server itself makes the backup.
 */
import { join } from 'node:path'
import type { Database } from './adapters/database/database.ts'
import { createJsonLogger } from './adapters/logging/json-logger.ts'
import { openStores } from './compose.ts'
import { type Config, readConfig, serverVersion } from './config.ts'
import { encryptionKeysOf, generateEncryptionKey, makeDataFolder } from './data-files.ts'
import { generateApiKey } from './features/access/api-key.ts'
import { createWorkspace, issueAdminKey, type NewTenant } from './features/access/first-start.ts'
import type { Stores } from './features/deps.ts'
import { addProject } from './features/projects/save-project.ts'
import { OperatorError } from './shared/app-error.ts'
import { systemClock } from './shared/clock.ts'

const usage = `stet-server [start]
stet-server backup <file>
stet-server restore <file>
stet-server generate-key admin|encryption
stet-server new-admin-key [workspace]
stet-server workspace create <name>`

/** @returns the exit code. Commands that need no settings also work with invalid settings. */
export async function runOperatorCommand(command: string, args: readonly string[]): Promise<number> {
  const [first, second] = args
  if (command === '--help' || command === 'help') return print(usage)
  if (command === '--version') return print(serverVersion())
  if (command === 'generate-key' && first === 'admin') return print(generateApiKey())
  if (command === 'generate-key' && first === 'encryption') return print(generateEncryptionKey())
  if (command === 'backup' && first !== undefined) {
    const { backupEmbedded } = await embeddedFiles()
    const directory = embeddedDirectory(readConfig(process.env))
    const counted = await withProgress((onProgress) => backupEmbedded(directory, first, onProgress))
    return print(`backed up to ${first} (${describeCount(counted)})`)
  }
  if (command === 'restore' && first !== undefined) {
    const config = readConfig(process.env)
    const directory = embeddedDirectory(config)
    makeDataFolder(config)
    const { restoreEmbedded } = await embeddedFiles()
    const counted = await restoreEmbedded(directory, first)
    return print(`restored from ${first} (${describeCount(counted)})`)
  }
  if (command === 'new-admin-key') return printTenant((database) => issueAdminKey(database, first))
  if (command === 'workspace' && first === 'create' && second !== undefined) {
    return printTenant(async (database, config) => {
      // Creates a missing encryption key, like the first start does. Fails instead if the database has a workspace.
      await encryptionKeysOf(config, async () => (await database.stores.workspaces.findFirst()) !== null)
      return createWorkspace({ ...database, clock: systemClock }, { name: second, createProject: addProject })
    })
  }
  process.stderr.write(`${usage}\n`)
  return 2
}

/** Imported lazily, because the import loads PGlite into this thread. A starting server does not need it there. */
function embeddedFiles() {
  return import('./adapters/database/embedded-files.ts')
}

const progressEveryMs = { terminal: 200, other: 5_000 }

/** Reports progress on standard error: in place on a terminal, otherwise as occasional lines. */
async function withProgress<T>(work: (onProgress: (read: number, total: number) => void) => Promise<T>): Promise<T> {
  const { isTTY } = process.stderr
  const everyMs = isTTY ? progressEveryMs.terminal : progressEveryMs.other
  let shownAt = Date.now()
  let isShown = false
  const result = work((read, total) => {
    if (Date.now() - shownAt < everyMs) return
    shownAt = Date.now()
    isShown = true
    const [done, all] = [read, Math.max(read, total)].map((bytes) => Math.round(bytes / 1024 / 1024))
    process.stderr.write(`${isTTY ? '\r' : ''}backing up: ${done} of ${all} MB${isTTY ? '  ' : '\n'}`)
  })
  return result.finally(() => {
    if (isTTY && isShown) process.stderr.write('\r\x1b[K')
  })
}

function describeCount({ tables, rows }: { tables: number; rows: number }): string {
  return `${tables} tables, ${rows} rows`
}

function print(line: string): number {
  process.stdout.write(`${line}\n`)
  return 0
}

/** Prints only the key on standard output, so that the key can be piped. Prints the description on standard error. */
async function printTenant(work: (database: Database<Stores>, config: Config) => Promise<NewTenant>): Promise<number> {
  const config = readConfig(process.env)
  makeDataFolder(config)
  const database = await openStores(config, createJsonLogger(process.stderr, config.logLevel))
  try {
    const tenant = await work(database, config)
    process.stderr.write(`admin API key of workspace ${tenant.workspaceName} (shown once):\n`)
    return print(tenant.key)
  } finally {
    await database.close()
  }
}

function embeddedDirectory(config: Config): string {
  if (config.databaseUrl === undefined) return join(config.dataDir, 'db')
  throw new OperatorError('backup and restore are for the embedded database; use pg_dump with DATABASE_URL')
}
