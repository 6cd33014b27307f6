import { refuse } from '../../shared/app-error.ts'

const largest = 2_147_483_647

/** An id of a path: positive, 32 bit. A malformed id is refused as unknown. @throws AppError `unknown`. */
export function pathId(text: string, unknown: 'unknown-project' | 'unknown-api-key' | 'unknown-provider-key'): number {
  const id = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : Number.NaN
  if (!(id <= largest)) throw refuse(unknown)
  return id
}
