import { notFound } from '../../shared/app-error.ts'

const largest = 2_147_483_647

/** An id of a path: positive, 32 bit. A malformed one is an unknown one. @throws AppError NotFoundError. */
export function pathId(text: string, what: 'Project' | 'API key' | 'Provider key'): number {
  const id = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : Number.NaN
  if (!(id <= largest)) throw notFound(`${what} not found`)
  return id
}
