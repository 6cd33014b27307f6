/** Tool-call ids in the format that a service requires. A call and its result always get the same id. */
import { createHash } from 'node:crypto'

export interface ToolIdForm {
  fits: RegExp
  length: number
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A matching id is kept. Any other id is derived from the original, so no table is needed. */
export function toolIdIn(form: ToolIdForm | undefined, id: string): string {
  if (!form || form.fits.test(id)) return id
  const digest = createHash('sha256').update(id).digest()
  return Array.from(digest.subarray(0, form.length), (byte) => alphabet.charAt(byte % alphabet.length)).join('')
}
