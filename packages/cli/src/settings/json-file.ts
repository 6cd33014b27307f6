import { readFile } from 'node:fs/promises'
import { CliError } from '../exit-code.ts'

export async function readTextIfPresent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

export function parseJsonObject(text: string, file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    if (isJsonObject(value)) return value
  } catch (error) {
    throw new CliError('usage', `${file} is not JSON: ${error instanceof Error ? error.message : error}`)
  }
  throw new CliError('usage', `${file} is not a JSON object`)
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isMissing(error: unknown): boolean {
  return isJsonObject(error) && (error['code'] === 'ENOENT' || error['code'] === 'ENOTDIR')
}
