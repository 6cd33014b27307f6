import { chmod, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { CliError } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { isJsonObject, parseJsonObject, readTextIfPresent } from './json-file.ts'
import { makeFolder, writeFileAtomically } from './write-file.ts'

export interface Credential {
  /** Includes the API prefix. The key is sent to this address only. */
  baseUrl: string
  apiKey: string
  keyName: string
}

export function credentialsFileOf(io: Io): string {
  const windows = io.platform === 'win32' ? io.env['APPDATA'] : undefined
  return join(io.env['XDG_CONFIG_HOME'] || windows || join(io.homeDir, '.config'), 'stet', 'credentials.json')
}

/**
 * Returns all logins by profile. If others have access to the file or its folder, warns and tries to restrict the mode.
 */
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
  // `chmod` fails on a read-only file system, such as a mounted secret. The mode then stays unchanged.
  const isCorrected = await chmod(path, mode).then(
    () => true,
    () => false,
  )
  warn(
    `${path} ${isCorrected ? `was readable by other users; its mode is now 0${mode.toString(8)}` : 'is readable by other users'}`,
  )
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
      hint: 'set XDG_CONFIG_HOME to another folder, or use STET_API_KEY, which needs no login',
    })
  }
}

/** Returns no logins if reading the file is not permitted, because keys from flags or the environment need no file. */
export async function readLogins(file: string, warn: (message: string) => void): Promise<Record<string, Credential>> {
  try {
    return await readCredentials(file, warn)
  } catch (error) {
    if (!isJsonObject(error) || (error['code'] !== 'EACCES' && error['code'] !== 'EPERM')) throw error
    warn(`Cannot read ${file}: continuing without a login`)
    return {}
  }
}

function isCredential(value: unknown): value is Credential {
  if (!isJsonObject(value)) return false
  return ['baseUrl', 'apiKey', 'keyName'].every((key) => typeof value[key] === 'string')
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const checksumLength = 6

/** A key is `stet_`, 30 characters, and a checksum: the CRC32 of all preceding characters, in 6 base62 digits. */
export function isWellFormedApiKey(key: string): boolean {
  return /^stet_[0-9A-Za-z]{36}$/.test(key) && key.endsWith(checksumOf(key.slice(0, -checksumLength)))
}

export function maskApiKey(key: string): string {
  return key.startsWith('stet_') ? `${key.slice(0, 9)}…` : '…'
}

function checksumOf(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let index = 0; index < checksumLength; index += 1) {
    digits = alphabet.charAt(rest % alphabet.length) + digits
    rest = Math.floor(rest / alphabet.length)
  }
  return digits
}
