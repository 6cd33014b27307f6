/** Ids of tool calls in the form that a service prescribes; a call and its result always get the same one. */
import { createHash } from 'node:crypto'

export interface ToolIdForm {
  fits: RegExp
  length: number
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** An id that fits stays; any other is derived from what it was, so no table has to be kept. */
export function toolIdIn(form: ToolIdForm | undefined, id: string): string {
  if (!form || form.fits.test(id)) return id
  const digest = createHash('sha256').update(id).digest()
  return Array.from(digest.subarray(0, form.length), (byte) => alphabet.charAt(byte % alphabet.length)).join('')
}
