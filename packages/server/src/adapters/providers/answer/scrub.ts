import { storableText } from '../../../shared/text-guards.ts'

const longestText = 2_000

/** Key formats of common vendors, and the text after `Bearer`. */
const secretForms = /\b(?:sk|pk|rk|gsk|xai|pplx|key)[-_][\w-]{8,}|\bAIza[\w-]{20,}|\bstet_\w{20,}|\bBearer\s+[^\s"']+/gi

/** @param token removed in plain and base64 form, even if only its start appears. */
export function scrubbed(text: string, token: string): string {
  // Truncates before the search, so that a page of megabytes is cheap.
  let part = text.slice(0, 4 * longestText)
  if (token.length >= 4) for (const form of [token, ...base64Forms(token)]) part = withoutSecret(part, form)
  return storableText(part.replace(secretForms, '***').slice(0, longestText))
}

// Services truncate keys in their messages ("sk-proj-abcdef..."), and 12 characters reveal much of a key.
const shortestPrefix = 12

function withoutSecret(text: string, secret: string): string {
  const start = secret.slice(0, shortestPrefix)
  let shown = ''
  let from = 0
  for (let at = text.indexOf(start); at !== -1; at = text.indexOf(start, from)) {
    let length = start.length
    while (length < secret.length && text[at + length] === secret[length]) length += 1
    shown += `${text.slice(from, at)}***`
    from = at + length
  }
  return shown + text.slice(from)
}

/**
 * The base64 characters that depend only on the token, for each of its three byte offsets (as in `Basic
 * <user>:<token>`), in both alphabets.
 */
function base64Forms(token: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(token)])
    const [first, end] = [Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6)]
    const form = bytes.toString('base64url').slice(first, end)
    return [form, form.replaceAll('-', '+').replaceAll('_', '/')]
  })
}
