import { chmod, mkdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Io } from '../io.ts'
import { isJsonObject, parseJsonObject, readTextIfPresent, writeFileAtomically } from './json-file.ts'

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
  const isShared = process.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0
  if (isShared) {
    await chmod(file, 0o600)
    warn(`${file} was readable by others; its mode is 0600 now`)
  }
  const found: Record<string, Credential> = {}
  for (const [profile, value] of Object.entries(parseJsonObject(text, file))) {
    if (isCredential(value)) found[profile] = value
  }
  return found
}

export async function writeCredentials(file: string, credentials: Record<string, Credential>): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFileAtomically(file, `${JSON.stringify(credentials, null, 2)}\n`, 0o600)
}

function isCredential(value: unknown): value is Credential {
  if (!isJsonObject(value)) return false
  return ['baseUrl', 'apiKey', 'keyName'].every((key) => typeof value[key] === 'string')
}
