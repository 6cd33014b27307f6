import { storableText } from '../../../shared/text-guards.ts'

const longestText = 2_000

/** Matches the keys of common vendors, stet's own keys, and `Bearer` with the text after it. */
const secretForms = /\b(?:sk|pk|rk|gsk|xai|pplx|key)[-_][\w-]{8,}|\bAIza[\w-]{20,}|\bstet_\w{20,}|\bBearer\s+[^\s"']+/gi

/**
 * Removes the token in plain and base64 form, even if the text contains only the first 12 characters. Does not search
 * for tokens of fewer than 4 characters.
 */
export function scrubbed(text: string, token: string): string {
  // Truncates before the search, so that the search in a very long page costs little.
  let part = text.slice(0, 4 * longestText)
  if (token.length >= 4) for (const form of [token, ...base64Forms(token)]) part = withoutSecret(part, form)
  return storableText(part.replace(secretForms, '***').slice(0, longestText))
}

// Some services show only the start of a key ("sk-proj-abcdef..."). A start of this length is removed too.
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
 * Returns the base64 forms of the token in both alphabets. Each form contains only characters that depend on the token
 * alone. In `Basic <user>:<token>`, the length of the user selects one of three byte offsets.
 */
function base64Forms(token: string): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(token)])
    const [first, end] = [Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6)]
    const form = bytes.toString('base64url').slice(first, end)
    return [form, form.replaceAll('-', '+').replaceAll('_', '/')]
  })
}
