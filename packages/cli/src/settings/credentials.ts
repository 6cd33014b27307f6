import { chmod, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CliError } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { isJsonObject, parseJsonObject, readTextIfPresent } from './json-file.ts'
import { makeFolder, writeFileAtomically } from './write-file.ts'

/** One login. */
export interface Credential {
  /** With its API prefix: the only address that the key is ever sent to. */
  baseUrl: string
  apiKey: string
  keyName: string
}

/** Where the logins of this user are. */
export function credentialsFileOf(io: Io): string {
  const windows = io.platform === 'win32' ? io.env['APPDATA'] : undefined
  return join(io.env['XDG_CONFIG_HOME'] || windows || join(io.homeDir, '.config'), 'stet', 'credentials.json')
}

/** All logins by profile. A file that others may read is closed to them first, and the caller told. */
export async function readCredentials(
  file: string,
  warn: (message: string) => void,
): Promise<Record<string, Credential>> {
  const text = await readTextIfPresent(file)
  if (text === undefined) return {}
  if (process.platform !== 'win32') {
    await closeToOthers(file, 0o600, warn)
    await closeToOthers(dirname(file), 0o700, warn)
  }
  const found: Record<string, Credential> = {}
  for (const [profile, value] of Object.entries(parseJsonObject(text, file))) {
    if (isCredential(value)) found[profile] = value
  }
  return found
}

async function closeToOthers(path: string, mode: number, warn: (message: string) => void): Promise<void> {
  if (((await stat(path)).mode & 0o077) === 0) return
  // A read-only folder, such as a mounted secret, keeps its mode.
  const isCorrected = await chmod(path, mode).then(
    () => true,
    () => false,
  )
  warn(`${path} ${isCorrected ? `was open to others; its mode is 0${mode.toString(8)} now` : 'is open to others'}`)
}

export async function writeCredentials(file: string, credentials: Record<string, Credential>): Promise<void> {
  try {
    await makeFolder(dirname(file), 0o700)
    await writeFileAtomically(file, `${JSON.stringify(credentials, null, 2)}\n`, 0o600)
  } catch (error) {
    const reason =
      error instanceof CliError
        ? error.message
        : `Cannot write ${file}: ${error instanceof Error ? error.message : error}`
    throw new CliError('unexpected', reason, {
      hint: 'XDG_CONFIG_HOME names another folder; STET_API_KEY needs no login',
    })
  }
}

/** All logins by profile. A home that cannot be read has none: a key from a flag or the environment needs no home. */
export async function readLogins(file: string, warn: (message: string) => void): Promise<Record<string, Credential>> {
  try {
    return await readCredentials(file, warn)
  } catch (error) {
    if (!isJsonObject(error) || (error['code'] !== 'EACCES' && error['code'] !== 'EPERM')) throw error
    warn(`${file} cannot be read: no login is used`)
    return {}
  }
}

function isCredential(value: unknown): value is Credential {
  if (!isJsonObject(value)) return false
  return ['baseUrl', 'apiKey', 'keyName'].every((key) => typeof value[key] === 'string')
}
