import { randomText } from '../../shared/text/random-text.ts'

const accepted = /^[A-Za-z0-9._-]{1,128}$/

/** The caller's own id when it is harmless in headers and logs, else a new one: `req_` and 22 base62 characters. */
export function requestIdFrom(header: string | undefined): string {
  return header !== undefined && accepted.test(header) ? header : newRequestId()
}

export function newRequestId(): string {
  return `req_${randomText(22)}`
}
