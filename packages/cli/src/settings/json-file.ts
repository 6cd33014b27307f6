import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CliError } from '../exit-code.ts'

/** A file's text, or undefined when there is none. */
export async function readTextIfPresent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** A file's JSON object. */
export function parseJsonObject(text: string, file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    if (isJsonObject(value)) return value
  } catch (error) {
    throw new CliError('usage', `${file} is not JSON: ${error instanceof Error ? error.message : error}`)
  }
  throw new CliError('usage', `${file} does not hold a JSON object`)
}

/** Writes through a temporary file and a rename: a reader sees the old text or the new one, never a part. */
export async function writeFileAtomically(file: string, text: string, mode = 0o644): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const temporary = `${file}.${randomUUID().slice(0, 8)}.tmp`
  try {
    const handle = await open(temporary, 'wx', mode)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isMissing(error: unknown): boolean {
  return isJsonObject(error) && (error['code'] === 'ENOENT' || error['code'] === 'ENOTDIR')
}
